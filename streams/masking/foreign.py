"""A file of further rules, of whoever runs memlake.

Rule of this file: what is wrong with a row is told with its place and its remedy. A pattern of somebody else's must be
one that no text can hold up: each repetition has an upper bound, and there are few ways to match at one place.
"""

import importlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import yaml

from schemas.errors import Misconfigured
from streams.masking.checks import CHECKS
from streams.masking.rules import RuleBook, SecretClass, SecretRule, pattern_rule, token_rule
from streams.ruledata import VERSION

MAX_REPEAT: Final = 1000
MAX_WAYS: Final = 100_000
"""Ways in which a pattern may match at one place."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_TOKEN_KEYS = {"secret", "start", "of", "least", "most", "like", "edge", "check"}
_RULE_KEYS = {"secret", "pattern", "hints", "fold", "check"}
_SECTIONS = {"version", "classes", "parts", "tokens", "rules"}
_PARSER: Any = importlib.import_module("re._parser")  # the standard library's own, which has no public name


def read_book(text: str, parts: Mapping[str, Any]) -> RuleBook:
    """Read a file of further rules.

    Args:
        text: YAML of the shape of ``secrets.yaml``.
        parts: Pieces of patterns that it may use beside its own.

    Raises:
        Misconfigured: Something is wrong with it: what, where and what would be right.
    """
    data = _parsed(text)
    if str(data.get("version")) != VERSION:
        raise Misconfigured(f"version: must be {VERSION}, is {data.get('version')!r}")
    own = _checked_parts(_section(data, "parts", dict))
    known = {**parts, **own}
    rules = [
        *(_theirs(f"tokens.{n}", row, known, _TOKEN_KEYS) for n, row in enumerate(_section(data, "tokens", list))),
        *(_theirs(f"rules.{n}", row, known, _RULE_KEYS) for n, row in enumerate(_section(data, "rules", list))),
    ]
    told = _section(data, "classes", dict)
    names = list(dict.fromkeys([*told, *(rule.secret for rule in rules)]))
    return RuleBook(tuple(_their_class(name, told.get(name) or {}) for name in names), tuple(rules))


def _parsed(text: str) -> dict[str, Any]:
    try:
        data = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - it makes strings only
    except yaml.YAMLError as error:
        raise Misconfigured(f"is not YAML: {str(error).splitlines()[0]}") from error
    if not isinstance(data, dict):
        raise Misconfigured(f"must hold {', '.join(sorted(_SECTIONS))}")
    unknown = sorted(set(map(str, data)) - _SECTIONS)
    if unknown:
        raise Misconfigured(f"{unknown[0]}: only {', '.join(sorted(_SECTIONS))} can stand here")
    return data


def _section(data: Mapping[str, Any], name: str, kind: type[Any]) -> Any:
    found = data.get(name) or kind()
    if not isinstance(found, kind):
        raise Misconfigured(f"{name}: must be a {'list' if kind is list else 'mapping'}")
    return found


def _checked_parts(parts: dict[str, Any]) -> dict[str, Any]:
    for name, part in parts.items():
        if not isinstance(part, str) and not (isinstance(part, list) and all(isinstance(one, str) for one in part)):
            raise Misconfigured(f"parts.{name}: must be a pattern or a list of words")
    return parts


def _their_class(name: str, row: Any) -> SecretClass:
    if not _NAME.fullmatch(name):
        raise Misconfigured(f"classes.{name}: small letters, digits and _, at most 32, a letter first")
    if not isinstance(row, dict) or set(row) - {"on", "what"} or row.get("on", "yes") not in {"yes", "no"}:
        raise Misconfigured(f"classes.{name}: must be {{on: yes|no, what: text}}")
    return SecretClass(name, row.get("on", "yes") == "yes", str(row.get("what", "As told in MEMLAKE_MASK_RULES")))


def _theirs(place: str, row: Any, parts: Mapping[str, Any], keys: set[str]) -> SecretRule:
    """A rule of somebody else's.

    Raises:
        Misconfigured: With its place in the file.
    """
    try:
        _require_row(row, keys)
        rule = pattern_rule(row, parts) if "pattern" in keys else token_rule(row, parts)
        if "of" not in row:  # a run of characters behind a literal is read once, however long it is
            _require_bounded(rule.pattern.pattern)
        _require_sense(rule)
    except re.error as error:
        raise Misconfigured(f"{place}.pattern: is no regular expression: {error}") from error
    except ValueError as error:
        raise Misconfigured(f"{place}.{error}") from error
    return rule


def _require_row(row: Any, keys: set[str]) -> None:
    """Refuse a row with a field that is missing, unknown or of another kind.

    Raises:
        ValueError: With the field and what it must be.
    """
    if not isinstance(row, dict):
        raise ValueError("must be a mapping")  # noqa: TRY004 - all faults of a file are told alike
    unknown = sorted(set(row) - keys)
    if unknown:
        raise ValueError(f"{unknown[0]}: only {', '.join(sorted(keys))} can stand here")
    needed = [("secret",), ("pattern",)] if "pattern" in keys else [("secret",), ("start",), ("of", "like")]
    missing = next((names for names in needed if not any(row.get(name) for name in names)), None)
    if missing is not None:
        raise ValueError(f"{' or '.join(missing)}: needed")
    for name, value in row.items():
        is_right, told = _FIELDS[name]
        if not is_right(value):
            raise ValueError(f"{name}: must be {told}")


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


def _is_count(value: Any) -> bool:
    return isinstance(value, str) and value.isdecimal() and 0 < int(value) <= MAX_REPEAT


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_TEXTS = (_is_texts, "a list of texts, none of them empty")
_COUNT = (_is_count, f"a number from 1 to {MAX_REPEAT}")
_SWITCH = (lambda value: value in {"yes", "no"}, "yes or no")
_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "secret": (
        lambda value: _is_text(value) and _NAME.fullmatch(value) is not None,
        "the name of a class: small letters, digits and _, a letter first",
    ),
    "pattern": (_is_text, "a regular expression"),
    "like": (_is_text, "a regular expression"),
    "of": (_is_text, "what stands between [ and ] in a regular expression"),
    "hints": _TEXTS,
    "start": _TEXTS,
    "least": _COUNT,
    "most": _COUNT,
    "check": (lambda value: value in CHECKS, f"one of {', '.join(CHECKS)}"),
    "fold": _SWITCH,
    "edge": _SWITCH,
}
"""What each field of a row must be."""


def _require_bounded(pattern: str) -> None:
    """Refuse a pattern that some text could hold up.

    Raises:
        ValueError: With what to write instead.
    """
    if _ways(_PARSER.parse(pattern)) > MAX_WAYS:
        raise ValueError(
            f"pattern: can match in too many ways at one place: write repetitions within repetitions as possessive "
            f"ones, such as (?:ab{{1,20}}+){{1,20}}+, and at most {MAX_WAYS} ways in all"
        )


def _require_sense(rule: SecretRule) -> None:
    """Refuse a pattern that finds nothing, or what is masked already.

    Raises:
        ValueError: It does.
    """
    if rule.pattern.match("") or rule.pattern.search(f"[masked:{rule.secret}]"):
        raise ValueError("pattern: matches nothing at all, or what is masked already")


def _ways(nodes: Any) -> int:
    """In how many ways a sequence can match at one place, at most."""
    ways = 1
    for kind, told in nodes:
        ways = min(ways * _ways_of(str(kind), told), MAX_WAYS + 1)
    return ways


def _ways_of(kind: str, told: Any) -> int:
    if kind in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        least, most, inner = told
        if most > MAX_REPEAT:
            raise ValueError(f"pattern: each repetition needs an upper bound, at most {MAX_REPEAT}: {{1,200}} for +")
        return _once(_ways(inner)) if kind == "POSSESSIVE_REPEAT" else _repeated(_ways(inner), least, most)
    if kind in {"BRANCH", "GROUPREF_EXISTS"}:
        branches = told[1] if kind == "BRANCH" else told[1:]
        return sum(_ways(branch) for branch in branches if branch)
    if kind == "SUBPATTERN":
        return _ways(told[-1])
    if kind in _NO_WAY_BACK:
        return _once(_ways(told if kind == "ATOMIC_GROUP" else told[1]))
    return 1


_NO_WAY_BACK = {"ATOMIC_GROUP", "ASSERT", "ASSERT_NOT"}


def _once(ways: int) -> int:
    """What has matched is not tried again; yet each of its ways may be gone once."""
    return 1 if ways <= MAX_WAYS else ways


def _repeated(ways: int, least: int, most: int) -> int:
    if ways == 1:
        return most - least + 1
    total = 1
    for _ in range(most):
        total = min(total * ways, MAX_WAYS + 1)
    return total
