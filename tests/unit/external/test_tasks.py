"""What a task names, by the form of its words alone."""

import pytest

from lakehouse.external.tasks import MAX_SYMBOLS, Symbol, asked_of


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("How do I use asyncio.run here?", ["asyncio.run"]),
        ("Why does `Series.mean` warn, and `gather()`?", ["Series.mean", "gather"]),
        ("call gather() twice", ["gather"]),
        ("from os.path import join, split\n>>> import json.tool", ["os.path.join", "os.path.split", "json.tool"]),
        ("asyncio.run and `run`", ["asyncio.run"]),
        ("remove the item from the list", []),
        ("import goods from China", []),
        ("see docs.python.org, config.yaml, `setup.py` and e.g. that", []),
        ("", []),
    ],
)
def test_a_word_is_a_symbol_by_its_form(task: str, names: list[str]) -> None:
    assert [symbol.name for symbol in asked_of(task).symbols if symbol.name != "os.path"] == names


def test_a_version_belongs_to_the_name_beside_it() -> None:
    assert asked_of("asyncio.run in Python 3.11", {"python"}).symbols == (Symbol("asyncio.run", "python", "3.11"),)
    assert asked_of("flask 3.0: what is flask.url_for?").symbols == (Symbol("flask.url_for", None, "3.0"),)
    assert asked_of("Redis 7.2 beside asyncio.run", {"python"}).symbols == (Symbol("asyncio.run"),)


def test_errors_wishes_and_changes_of_form_are_seen_in_several_languages() -> None:
    assert asked_of("I get a ModuleNotFoundError").errors == ("ModuleNotFoundError",)
    for task in ("Is it deprecated?", "Wo ist die Dokumentation?", "¿Está obsoleto?", "Est-ce déprécié ?", "看文档"):
        assert asked_of(task).wants_documentation, task
    for task in ("Please rename it", "refaktorieren", "renombrar x", "nettoyer le code", "重构这个"):
        assert asked_of(task).is_refactoring, task
    assert not asked_of("What does Ben like?").wants_documentation


def test_no_more_than_eight_are_taken() -> None:
    assert len(asked_of(" ".join(f"a.f{number}" for number in range(20))).symbols) == MAX_SYMBOLS
