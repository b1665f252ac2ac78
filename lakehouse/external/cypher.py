"""The text of what a graph database is asked.

Rule of this file: pure, and no value ever stands in a text: values travel beside it, as parameters. What cannot be a
parameter, the name of a label or of a relation, comes from the two lists here and from nowhere else.
"""

from typing import Final, Literal, get_args

Label = Literal[
    "ExternalDoc",
    "APIReference",
    "BestPractice",
    "CodeExample",
    "Source",
    "Language",
    "Framework",
    "KnowledgeUsage",
]
Relation = Literal[
    "EXPLAINS",
    "USED_IN",
    "APPLIED_IN",
    "SIMILAR_TO",
    "DOCUMENTED_IN",
    "REFERENCES",
    "DEMONSTRATES",
    "IMPLEMENTS",
    "RELATED_TO",
    "ALTERNATIVE_TO",
    "CONFLICTS_WITH",
    "VERSION_OF",
    "SUPERSEDES",
    "COMPATIBLE_WITH",
    "DEPRECATED_IN",
    "REPLACED_BY",
    "SOURCED_FROM",
    "INFORMED_DECISION",
]
LABELS: Final = frozenset(get_args(Label))
RELATIONS: Final = frozenset(get_args(Relation))
LONGEST_CHAIN: Final = 8
"""Replacements that are followed, one after the other."""


def unique_nodes(label: Label) -> str:
    """Declares that nodes of a label are told apart by ``id``; declared already, it changes nothing.

    Raises:
        ValueError: There is no such label, as in all functions here.
    """
    known = _label(label)
    return f"CREATE CONSTRAINT {known}_id IF NOT EXISTS FOR (one:{known}) REQUIRE one.id IS UNIQUE"


def unique_relations(relation: Relation) -> str:
    """Declares that relations of a type are told apart by ``id``; declared already, it changes nothing.

    Raises:
        ValueError: There is no such type of relation, as in all functions here.
    """
    known = _relation(relation)
    return f"CREATE CONSTRAINT {known}_id IF NOT EXISTS FOR ()-[one:{known}]-() REQUIRE one.id IS UNIQUE"


def merge_nodes(label: Label) -> str:
    """Makes nodes, or changes those that are there.

    Its parameter ``rows`` is a list of ``{id, properties}``; a property that is null is taken away.
    """
    return f"UNWIND $rows AS row MERGE (one:{_label(label)} {{id: row.id}}) SET one += row.properties"


def merge_relations(relation: Relation, start: Label, end: Label, *, told_apart: bool = False) -> str:
    """Relates nodes that are there, once each; a row that names a node that is not there does nothing.

    Its parameter ``rows`` is a list of ``{start, end, properties}`` with ids of nodes.

    Args:
        relation: Its type.
        start: Label of the nodes that it leads from.
        end: Label of the nodes that it leads to.
        told_apart: Whether two nodes may have several of this type; each row then has an ``id``.
    """
    key = " {id: row.id}" if told_apart else ""
    return (
        f"UNWIND $rows AS row MATCH (start:{_label(start)} {{id: row.start}}) MATCH (end:{_label(end)} {{id: row.end}})"
        f" MERGE (start)-[one:{_relation(relation)}{key}]->(end) SET one += row.properties"
    )


def find_nodes(label: Label) -> str:
    """The nodes of ``ids`` that are there, one ``node`` a record."""
    return f"UNWIND $ids AS id MATCH (one:{_label(label)} {{id: id}}) RETURN properties(one) AS node"


def count_nodes(label: Label) -> str:
    """How many nodes a label has, as ``number``."""
    return f"MATCH (one:{_label(label)}) RETURN count(one) AS number"


def find_relations(relation: Relation) -> str:
    """The ``id`` of those relations of ``ids`` that are there."""
    return f"UNWIND $ids AS id MATCH ()-[one:{_relation(relation)} {{id: id}}]->() RETURN one.id AS id"


def count_relations(relation: Relation) -> str:
    """How many relations a type has, as ``number``."""
    return f"MATCH ()-[one:{_relation(relation)}]->() RETURN count(one) AS number"


def find_linked(label: Label, arriving: Relation, leaving: Relation) -> str:
    """As ``find_nodes``, with ``linked``: whether a relation of the one type arrives and of the other leaves."""
    return (
        f"UNWIND $ids AS id MATCH (one:{_label(label)} {{id: id}}) RETURN properties(one) AS node,"
        f" EXISTS {{ ()-[:{_relation(arriving)}]->(one) }} AND EXISTS {{ (one)-[:{_relation(leaving)}]->() }} AS linked"
    )


def follow(relation: Relation, label: Label) -> str:
    """The nodes that a chain of relations leads to from the node ``id``, nearest first: ``node`` and ``steps``."""
    known = _label(label)
    return (
        f"MATCH path = (one:{known} {{id: $id}})-[:{_relation(relation)}*1..{LONGEST_CHAIN}]->(next:{known})"
        " WHERE next <> one"
        " RETURN properties(next) AS node, min(length(path)) AS steps ORDER BY steps, node.name"
    )


def _label(name: str) -> str:
    if name not in LABELS:
        raise ValueError(f"there is no label {name!r}")
    return name


def _relation(name: str) -> str:
    if name not in RELATIONS:
        raise ValueError(f"there is no relation {name!r}")
    return name
