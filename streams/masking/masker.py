"""The masker: made once of the settings, then used wherever a text comes in or is told.

Rule of this file: it works by shape alone, and masking twice is masking once: what is masked is never looked into.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, TypeVar, cast

from schemas.errors import Misconfigured
from schemas.facts import Masked
from schemas.message import Part
from streams.masking.foreign import read_book
from streams.masking.rules import MASK, RuleBook, SecretClass, SecretRule, book_of
from streams.masking.sight import Index, Sight, Span
from streams.ruledata import load

MAX_ROUNDS: Final = 8
"""Masking may bring two texts together that only then look like a secret; each round leaves fewer to be found."""
ROUND_A_MASK: Final = " .,;:?!)]}\"'`*"
MAX_DEPTH: Final = 50
"""Metadata nested deeper than this is replaced as a whole."""
IDS: Final = frozenset(
    {"turn_id", "command_id", "session_id", "agent_id", "project_id", "user_id", "fact_id", "id", "scope", "op", "role",
     "used", "mode", "kinds", "format"}
)  # fmt: skip
"""Fields that name things, or choose one of a few words: they stay as they are."""
LIMITS: Final = {"name": 256, "environment": 256, "conversation_topic": 1024, "text": 20_000, "query": 10_000}
"""Characters that a field may have, by its name: a mask can be longer than what it hides."""
Model = TypeVar("Model", bound=Part)


@cache
def _ours() -> RuleBook:
    return book_of(load("masking", "secrets"))


def classes_of(names: str) -> tuple[str, ...]:
    """Names of classes out of a setting: separated by commas or blanks."""
    return tuple(dict.fromkeys(names.replace(",", " ").split()))


@dataclass(frozen=True)
class Masker:
    """Replaces secrets by the names of their classes.

    Attributes:
        classes: All there are, with whether this masker masks them.
        rules: Those of the classes that are on, in the order in which they are tried.
        names: The same for names of data whose values are secrets.
    """

    classes: tuple[SecretClass, ...]
    rules: tuple[SecretRule, ...]
    names: tuple[SecretRule, ...]

    @classmethod
    def made(cls, *, off: Iterable[str] = (), on: Iterable[str] = (), more: str | None = None) -> "Masker":
        """Make a masker.

        Args:
            off: Classes that are not masked.
            on: Classes that are masked though by default they are not.
            more: Text of a file of further rules.

        Raises:
            Misconfigured: A class is unknown, or both on and off; or something is wrong with the file.
        """
        book, theirs = _ours(), RuleBook((), (), ())
        if more is not None:
            try:
                theirs = read_book(more, load("masking", "secrets")["parts"])
            except Misconfigured as error:
                raise Misconfigured(f"MASK_RULES: {error}") from error
        known = {one.name: one for one in (*theirs.classes, *book.classes)}  # a class of ours is told as ours
        off, on = set(off), set(on)
        for name in sorted(off | on):
            if name not in known:
                setting = "MASK_OFF" if name in off else "MASK_ON"
                raise Misconfigured(f"{setting}: there is no class {name!r}: there are {', '.join(known)}")
            if name in off and name in on:
                raise Misconfigured(f"MASK_OFF, MASK_ON: {name!r} is told both on and off")
        classes = tuple(
            SecretClass(one.name, (one.on or one.name in on) and one.name not in off, one.what)
            for one in known.values()
        )
        masked = {one.name for one in classes if one.on}
        rules = tuple(rule for rule in (*theirs.rules, *book.rules) if rule.secret in masked)
        return cls(classes, rules, tuple(rule for rule in book.names if rule.secret in masked))

    def mask(self, text: str) -> tuple[str, tuple[Masked, ...]]:
        """Replace each secret by its class.

        Returns:
            The text, and how many secrets of which class were found, by class name.
        """
        counts: Counter[str] = Counter()
        masked = self._mask(text, counts)
        return masked, _told(counts)

    def text(self, text: str) -> str:
        """Replace each secret by its class, and tell nobody."""
        return self._mask(text, Counter())

    def message(self, message: Model) -> tuple[Model, tuple[Masked, ...]]:
        """Mask all that a message says: every text in it, names and values of metadata too. Ids stay as they are."""
        counts: Counter[str] = Counter()
        return self._part(message, counts), _told(counts)

    def data(self, value: Any) -> tuple[Any, tuple[Masked, ...]]:
        """Mask every text in JSON data; the value of a name such as ``password`` is masked whatever it looks like."""
        counts: Counter[str] = Counter()
        return self._json(value, counts), _told(counts)

    def _mask(self, text: str, counts: Counter[str]) -> str:
        for _ in range(MAX_ROUNDS):
            masked = self._once(text, counts)
            if masked == text:
                break
            text = masked
        return text

    @cached_property
    def _index(self) -> Index:
        return Index(self.rules)

    def _once(self, text: str, counts: Counter[str]) -> str:
        seen = Sight(text)
        for place in self._index.candidates(seen):
            rule = self.rules[place]
            if seen.may_hold(rule):
                masked = _apply(rule, seen, counts)
                if masked != seen.text:
                    seen = Sight(masked)
        return seen.text

    def _part(self, part: Model, counts: Counter[str]) -> Model:
        changed = {
            name: self._field(name, value, counts)
            for name in type(part).model_fields
            if name not in IDS and (value := getattr(part, name)) is not None
        }
        if not part.model_extra:
            return part.model_copy(update=changed)
        own = self._json(part.model_extra, counts)  # fields of the sender's own, whose names may change, too
        told = {name: getattr(part, name) for name in type(part).model_fields}
        return cast("Model", type(part).model_construct(part.model_fields_set, **{**told, **changed, **own}))

    def _field(self, name: str, value: Any, counts: Counter[str]) -> Any:
        if isinstance(value, str):
            return self._mask(value, counts)[: LIMITS.get(name)]
        if isinstance(value, tuple):
            return tuple(self._field(name, item, counts) for item in value)
        if isinstance(value, Part):
            return self._part(value, counts)
        return self._json(value, counts) if isinstance(value, dict) else value

    def _json(self, value: Any, counts: Counter[str], depth: int = 0, named: SecretRule | None = None) -> Any:
        """Mask JSON data; ``named`` is what its name says that a value is."""
        if depth > MAX_DEPTH and isinstance(value, (dict, list, tuple)):
            return "[masked:nested]"
        if isinstance(value, dict):
            return {
                self._mask(str(name), counts): self._json(
                    item, counts, depth + 1, self._said_by(str(name), value) or named
                )
                for name, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._json(item, counts, depth + 1, named) for item in value]
        if named is not None and _is_told(value) and not MASK.fullmatch(str(value)) and named.check(str(value)):
            counts[named.secret] += 1
            return f"[masked:{named.secret}]"
        return self._mask(value, counts) if isinstance(value, str) else value

    def _said_by(self, name: str, data: Mapping[str, Any]) -> SecretRule | None:
        """What a name says that its value is; ``value`` is named by the ``name`` or ``key`` beside it."""
        if name.casefold() == "value":
            name = next((told for other in ("name", "key") if isinstance(told := data.get(other), str)), name)
        return next((rule for rule in self.names if rule.pattern.search(name)), None)


def _is_told(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _apply(rule: SecretRule, seen: Sight, counts: Counter[str]) -> str:
    text = seen.text
    masks = [mask.span() for mask in MASK.finditer(text)] if "[masked:" in text else []
    pieces: list[str] = []
    told = 0
    for start, end in seen.spans(rule, lambda match: _secret_in(rule, match, masks)):
        pieces += [text[told:start], f"[masked:{rule.secret}]"]
        told = end
        counts[rule.secret] += 1
    return "".join([*pieces, text[told:]])


def _secret_in(rule: SecretRule, match: re.Match[str], masks: Sequence[Span]) -> Span:
    """From where to where a match is a secret; nowhere where it is none."""
    part: str | int = "secret" if "secret" in rule.pattern.groupindex else 0
    found, start = match.group(part), match.start(part)
    if found is None or _is_within(masks, match.start()):
        return start, start
    if "[masked:" not in found:
        return start, start + rule.check(found)
    rest = MASK.sub("", found).strip(ROUND_A_MASK)
    return start, match.end(part) if rest and rule.check(rest) else start


def _is_within(masks: Sequence[Span], place: int) -> bool:
    """Whether a place lies in what is masked already."""
    before = bisect_right(masks, place, key=lambda mask: mask[0]) - 1
    return before >= 0 and place < masks[before][1]


def _told(counts: Counter[str]) -> tuple[Masked, ...]:
    return tuple(Masked(secret=secret, count=counts[secret]) for secret in sorted(counts))
