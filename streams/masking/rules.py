"""Rules of masking: a row of data becomes a pattern that is looked for only where one of its hints occurs.

Rule of this file: it knows how a row is read and nothing of what a row says. Rows are trusted here; those of somebody
else are examined in ``foreign``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from streams.masking.checks import CHECKS, Check

MASK: Final = re.compile(r"\[masked:[a-z][a-z0-9_]{0,31}\]")
"""What stands for a secret."""
_WRAPPERS = {"private_key", "webhook", "jwt"}
"""Classes whose secrets may hold what looks like a token: they are looked for first."""
_PART = re.compile(r"\{\{([a-z0-9_]+)\}\}")
_STEM = re.compile(r"[^\\\[( .*+?{|]+")


@dataclass(frozen=True, eq=False)
class Hints:
    """Literals one of which every match of a rule holds; none: it must always be looked for.

    Attributes:
        folded: Whether they are compared without regard to case; they are in small letters then.
        openings: The first two characters of each; None where there are none, or one has but one.
    """

    texts: tuple[str, ...]
    folded: bool
    openings: frozenset[tuple[str, str]] | None


@cache
def hints_of(texts: tuple[str, ...], folded: bool = False) -> Hints:
    """Hints that are the same object for all rules that have the same."""
    told = tuple(dict.fromkeys(text.lower() if folded else text for text in texts))
    is_long = bool(told) and all(len(text) > 1 for text in told)
    return Hints(told, folded, frozenset((text[0], text[1]) for text in told) if is_long else None)


@dataclass(frozen=True)
class SecretRule:
    """One shape.

    Attributes:
        secret: The class.
        begins: Characters before a hint at which a match begins at most; None: anywhere.
        check: How many characters of what was found are the secret.
    """

    secret: str
    pattern: re.Pattern[str]
    hints: Hints
    begins: int | None = None
    check: Check = len


@dataclass(frozen=True)
class SecretClass:
    """What is masked under one name.

    Attributes:
        on: Whether it is masked unless somebody says otherwise.
    """

    name: str
    on: bool
    what: str


@dataclass(frozen=True)
class RuleBook:
    """Classes and their rules, in the order in which they are tried.

    Attributes:
        names: Rules for names in data: ``check`` is then what the value must be.
    """

    classes: tuple[SecretClass, ...]
    rules: tuple[SecretRule, ...]
    names: tuple[SecretRule, ...] = ()


def book_of(data: Mapping[str, Any]) -> RuleBook:
    """Our own data as rules: what is wrapped round tokens, tokens, then all that is told by name."""
    parts: dict[str, Any] = data["parts"]
    tokens = [token_rule(row, parts) for row in data["tokens"]]
    rules = [pattern_rule(row, parts) for row in data["rules"]]
    classes = [SecretClass(name, row["on"] == "yes", row["what"]) for name, row in data["classes"].items()]
    names = [pattern_rule(row, parts) for row in data["names"]]
    return RuleBook(tuple(classes), tuple(_in_order(tokens, rules)), tuple(names))


def _in_order(tokens: Sequence[SecretRule], rules: Sequence[SecretRule]) -> Iterator[SecretRule]:
    last = max(place for place, rule in enumerate(rules) if rule.secret in _WRAPPERS)
    yield from rules[: last + 1]
    yield from tokens
    yield from rules[last + 1 :]


def pattern_rule(row: Mapping[str, Any], parts: Mapping[str, Any]) -> SecretRule:
    """A rule with a pattern of its own.

    Raises:
        ValueError: The pattern names a part that there is not.
        re.error: It is no regular expression.
    """
    hints = [stem for hint in row.get("hints", ()) for stem in _hints(hint, parts)]
    return SecretRule(
        secret=row["secret"],
        pattern=re.compile(_filled(row["pattern"], parts)),
        hints=hints_of(tuple(hints), row.get("fold") == "yes"),
        begins=int(row["begins"]) if "begins" in row else None,
        check=CHECKS[row["check"]] if "check" in row else len,
    )


def token_rule(row: Mapping[str, Any], parts: Mapping[str, Any]) -> SecretRule:
    """A secret that begins in a way of its own and goes on with characters of one kind; see ``pattern_rule``."""
    least, most = row.get("least", "1"), row.get("most", "")
    body = row.get("like") or f"[{row['of']}]{{{least},{most}}}{'' if most == least else '+'}"
    edge, end = ("", "") if row.get("edge") == "no" else ("{{edge}}", f"(?![{row['of']}])" if most else "")
    starts = "|".join(map(re.escape, row["start"]))
    return SecretRule(
        secret=row["secret"],
        pattern=re.compile(_filled(f"{edge}(?:{starts}){body}{end}", parts)),
        hints=hints_of(tuple(row["start"])),
        begins=0,
        check=CHECKS[row["check"]] if "check" in row else len,
    )


def _filled(pattern: str, parts: Mapping[str, Any]) -> str:
    """A pattern with its parts put in.

    Raises:
        ValueError: It names a part that there is not.
    """

    def put(match: re.Match[str]) -> str:
        if match[1] not in parts:
            raise ValueError(f"pattern: there is no part {match[1]!r}, only {', '.join(parts)}")
        part = parts[match[1]]
        return _filled(part if isinstance(part, str) else "|".join(map(_spaced, part)), parts)

    return _PART.sub(put, pattern)


def _spaced(word: str) -> str:
    return word.replace(" ", r"[ _.\-]?")


def _hints(hint: str, parts: Mapping[str, Any]) -> list[str]:
    """A hint, or how each word of the list that it names begins."""
    named = _PART.fullmatch(hint)
    if named is None:
        return [hint]
    return [stem[0] for word in parts[named[1]] if (stem := _STEM.match(word))]
