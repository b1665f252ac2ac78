"""What a sentence of release notes says of which symbol: deprecated, removed, no longer deprecated, or nothing.

Rule of this file: pure. The word alone says nothing: there must be a predicate ("X is deprecated", "Remove X") whose
subject is a symbol that is marked as code. Names stay as they are written; who knows the project's symbols tells which
are meant. In doubt it says nothing.

Theory of operation: what is marked as code is replaced by one private character each, so that a sentence can be looked
at with regular expressions without what is inside the code. The words are data.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from lakehouse.external.changelog_code import SIGN, Marked, Subject, marked, name_of
from lakehouse.external.changelog_lines import DATA, Entry

Kind = Literal["deprecated", "removed", "undeprecated", "mention"]


@dataclass(frozen=True)
class Statement:
    """What an entry says.

    Attributes:
        kind: What becomes of the subjects; "mention" where that is not said.
        subjects: Of whom.
        replacements: What is to be used instead, as written.
        since: Version that the words themselves name.
        removed_in: Version in which it will be gone.
        direct: Whether the sentence says so itself, and not the heading or bullet above it.
    """

    kind: Kind
    subjects: tuple[Subject, ...] = ()
    replacements: tuple[str, ...] = ()
    since: str | None = None
    removed_in: str | None = None
    direct: bool = True


def _any(*names: str) -> str:
    words = sorted({word for name in names for word in DATA[name]}, key=len, reverse=True)
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in words) + ")"


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_PUNCTUATION: Final = r"[^\w\ue000-\uf8ff]"
SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])")
_BRACKETS: Final = re.compile(r"\([^()]*\)")
_CLAUSE: Final = re.compile(r";\s+|:\s+|\s[-\u2013\u2014]{1,2}\s|,?\s+but\s+")
_GROUPS: Final = re.compile(r",\s*(?:and\s+|or\s+)?|\s+as\s+well\s+as\s+")
_CONJUNCTION: Final = re.compile(r"\s+(?:and|or|&)\s+|/")
_WORD: Final = re.compile(r"[^\W\d_][\w'-]*")
_ADVERB: Final = rf"(?:{_any('adverbs')}|\w+ly)"
_PASSIVE: Final = _re(
    rf"\b(?P<aux>(?:{_any('modal')}\s+(?:not\s+)?(?:{_ADVERB}\s+)*be|(?:is|are|was|were|has|have|had|been|being|gets?|got)"
    rf"(?:\s+(?:{_ADVERB}|been|being))*))\s*(?P<negation>n't|not|never|no\s+longer)?\s+(?:{_ADVERB}\s+)*"
    rf"(?:being\s+)?(?P<verb>{_any('deprecating', 'removing', 'undoing')})\b"
)
_MODAL: Final = _re(_any("modal"))
_FUTURE: Final = _re(
    rf"\b{_any('modal')}\s+(?:{_ADVERB}\s+)*be\s+(?:{_ADVERB}\s+)*{_any('removing')}\b"
    r"(?:\s+(?:in|with|by|from)\s+(?:the\s+)?(?P<where>[A-Za-z]\w*\s+)?v?(?P<version>\d+(?:\.\w+)*))?"
)
_IN_VERSION: Final = _re(
    r"\s+(?:in|since|from|with|as\s+of)\s+(?:the\s+)?(?P<where>[A-Za-z]\w*\s+)?v?(?P<version>\d+(?:\.\w+)+)"
)
_ACTIVE: Final = _re(
    rf"^{_PUNCTUATION}*(?:{_any('leading_words')}\s+)*"
    rf"(?P<verb>{_any('active_deprecating', 'active_removing', 'active_undoing')})"
    r":?\s+(?P<object>.*)"
)
_REVERT: Final = _re(
    rf"^{_PUNCTUATION}*(?:{_any('leading_words')}\s+)*{_any('active_reverting')}\s+(?:the\s+)?{_any('undoing_nouns')}\s+(?P<object>.*)"
)
_BARE: Final = _re(
    rf"^(?P<subject>[^;:]*{SIGN}[^;:]*?):?\s+(?:{_ADVERB}\s+)*(?P<verb>deprecated|removed)\s*(?P<rest>$|[.,;(]|in\s+fav|use\b).*"
)
_DEPRECATING: Final = _re(rf"{_any('deprecating', 'active_deprecating')}")
_REMOVING: Final = _re(rf"{_any('removing', 'active_removing')}")
_UNDOING: Final = _re(_any("undoing"))
_FORMERLY: Final = _re(rf"\b{_any('formerly')}\b")
_PRONOUN: Final = _re(rf"^{_PUNCTUATION}*(?:{_any('pronouns')}(?:\s+\w+)?)?{_PUNCTUATION}*$")
_SUBORDINATE: Final = _re(rf"(?<![\w-]){_any('subordinate')}(?![\w-])")
_EXCEPTION: Final = _re(rf"(?<![\w-]){_any('exceptions', 'subordinate')}(?![\w-])")
_PREPOSITION: Final = _re(rf"(?<![\w-]){_any('prepositions')}(?![\w-])")
_OTHER_CLAUSE: Final = _re(rf",\s*(?:and\s+)?{_any('other_verbs')}(?![\w-])")
_NO_CODE: Final = _re(rf"\b{_any('no_code')}\b|__all__")
_BARE_GROUP: Final = re.compile(rf"\s*(?:{SIGN}\s*(?:and|or|&|/)?[\s.]*)+")
_PARAMETER: Final = _re(rf"\b{_any('parameter_nouns')}\b")
_USAGE: Final = _re(rf"\b(?P<how>.*?)\b{_any('usage_nouns')}\s*$")
_REPLACEMENT: Final = _re(rf"(?<![\w-]){_any('replacement')}(?![\w-])(?!\s+of\b)")
_REPLACEMENT_ENDS: Final = _re(rf"(?<![\w-]){_any('replacement_ends')}(?![\w-])")
_DEPRECATED_STILL: Final = _re(r"\bdeprecated\b")
_ALLOWED: Final = frozenset({*DATA["symbol_nouns"], *DATA["determiners"]})
_VERSION: Final = re.compile(r"v?(?P<version>\d+(?:\.\w+)*)[,:;]?")


def statements_of(entry: Entry, above: Kind = "mention", project: str = "") -> list[Statement]:
    """All that an entry says of symbols.

    Args:
        entry: As it was read.
        above: What the heading or the bullet above it says, for an entry that says nothing itself.
        project: Whose changelog it is: a version of another one is none of its own.
    """
    text = marked(entry.text)
    if entry.directive is not None:
        return [_directive(entry, text)]
    said: list[Statement] = []
    last: tuple[Subject, ...] = ()
    for sentence in SENTENCE.split(text.masked):
        one = _sentence(sentence, text, last, project)
        if one.subjects:
            last = one.subjects
        found = _replacements(sentence, text)
        if one.kind != "mention":
            said.append(replace(one, replacements=found))
        elif said:
            kept = said[-1]
            said[-1] = replace(
                kept,
                replacements=tuple(dict.fromkeys([*kept.replacements, *found])),
                removed_in=kept.removed_in or one.removed_in,
            )
        elif found and one.subjects:  # "X had been deprecated in favour of Y. It is gone."
            said.append(replace(one, replacements=found))
    if above != "mention" and all(one.kind == "mention" for one in said):
        return _inherited(text, above)
    return _joined(said)


def kind_of_group(titles: Sequence[str]) -> Kind:
    """What the innermost heading says of all that stands under it; "mention" where it says nothing, or both.

    Args:
        titles: Outermost first.
    """
    if not titles or _CONJUNCTION.search(titles[-1]) or "," in titles[-1]:
        return "mention"
    words = {word.casefold() for word in _WORD.findall(titles[-1])}
    removed, deprecated = words & set(DATA["removed_headings"]), words & set(DATA["deprecated_headings"])
    if not removed and not deprecated:
        return "mention"
    return "removed" if removed else "deprecated"


def kind_of_parent(text: str) -> Kind:
    """What a bullet says of those under it."""
    said = {one.kind for one in statements_of(Entry(text))} - {"mention"}
    return said.pop() if len(said) == 1 else "mention"


def _joined(said: Iterable[Statement]) -> list[Statement]:
    """Of one subject the last word counts, with the replacement that any of its sentences names."""
    by_subject: dict[tuple[Subject, ...], Statement] = {}
    for one in said:
        before = by_subject.pop(one.subjects, None)
        if before is not None:
            told = tuple(dict.fromkeys([*before.replacements, *one.replacements]))
            one = replace(one, replacements=told, removed_in=one.removed_in or before.removed_in)  # noqa: PLW2901
        by_subject[one.subjects] = one
    return list(by_subject.values())


def _sentence(sentence: str, text: Marked, last: tuple[Subject, ...], project: str) -> Statement:
    future = _FUTURE.search(sentence)
    removed_in = _own_version(future, project)
    reverted, passive, active = _REVERT.match(sentence), _predicate(sentence), _ACTIVE.match(sentence)
    if reverted is not None:
        return Statement("undeprecated", _subjects(_object(reverted["object"]), text))
    if passive is not None:
        match, phrase = passive
        kind = _passive_kind(match)
        subjects = last if _PRONOUN.match(phrase) else _subjects(phrase, text, kind, may_be_a_way=True)
        since = _own_version(_IN_VERSION.match(sentence, match.end()), project)
        return Statement(kind, subjects, since=since, removed_in=removed_in)
    if active is not None:
        kind, phrase = _active_kind(active["verb"]), _object(active["object"])
        if kind == "undeprecated" and _DEPRECATED_STILL.search(phrase):
            kind = "deprecated"  # it is there again, and still not to be used
        subjects = _subjects(phrase, text, kind, may_be_a_way=kind != "removed")
        return Statement(kind, subjects, removed_in=removed_in)
    bare = _BARE.match(sentence)
    if bare is not None:
        kind = _active_kind(bare["verb"])
        return Statement(kind, _subjects(bare["subject"], text, kind), removed_in=removed_in)
    if future is not None:
        phrase = _CLAUSE.split(sentence[: future.start()])[-1]
        subjects = () if _PRONOUN.match(phrase) else _subjects(phrase, text)
        return Statement("deprecated" if subjects else "mention", subjects, removed_in=removed_in)
    return Statement("mention")


def _own_version(told: re.Match[str] | None, project: str) -> str | None:
    """The version that a match names, if it is one of this project."""
    own = {"", "version", "release", project.casefold()}
    return None if told is None or (told["where"] or "").strip().casefold() not in own else told["version"]


def _predicate(sentence: str) -> tuple[re.Match[str], str] | None:
    """The first of a main clause that speaks of now, and its subject: what will be is so in another version."""
    start = 0
    for match in _PASSIVE.finditer(sentence):
        phrase = _CLAUSE.split(sentence[start : match.start()])[-1]
        start = match.end()
        if not _MODAL.match(match["aux"]) and not _SUBORDINATE.search(phrase.rpartition(",")[2]):
            return match, phrase
    return None


def _passive_kind(match: re.Match[str]) -> Kind:
    if _UNDOING.fullmatch(match["verb"]):
        return "mention" if match["negation"] else "undeprecated"
    is_deprecated = _DEPRECATING.fullmatch(match["verb"]) is not None
    if match["negation"]:
        return "undeprecated" if is_deprecated and "longer" in match["negation"].casefold() else "mention"
    if _FORMERLY.search(match[0][: match.start("verb") - match.start()]):
        return "mention"
    return "deprecated" if is_deprecated else "removed"


def _active_kind(verb: str) -> Kind:
    if _DEPRECATING.fullmatch(verb):
        return "deprecated"
    return "removed" if _REMOVING.fullmatch(verb) else "undeprecated"


def _object(phrase: str) -> str:
    """The object of a verb: up to where something else begins."""
    clause = _OTHER_CLAUSE.split(_CLAUSE.split(phrase, maxsplit=1)[0], maxsplit=1)[0]
    return _REPLACEMENT.split(clause, maxsplit=1)[0]


def _subjects(phrase: str, text: Marked, kind: Kind = "mention", *, may_be_a_way: bool = False) -> tuple[Subject, ...]:
    """The symbols that a noun phrase is about; none where it is about something of theirs that is no symbol.

    Args:
        phrase: Without the predicate.
        text: Where its code is.
        kind: What is said of it.
        may_be_a_way: Whether a first word in -ing is a way of doing something.
    """
    told = _BRACKETS.sub("", phrase).strip()
    if _SUBORDINATE.search(told.split(",")[0]):
        return ()
    told = _EXCEPTION.split(told, maxsplit=1)[0]
    first = _WORD.match(told)
    word = first[0].casefold() if first is not None else ""
    gerund = word if may_be_a_way and word.endswith("ing") and word not in DATA["not_gerunds"] else ""
    found: list[Subject] = []
    waiting: list[str] = []
    owning = False
    for group in _GROUPS.split(told):
        if _BARE_GROUP.fullmatch(group):  # it shares the noun of those after it, or the place of the one before it
            waiting += [] if owning else re.findall(SIGN, group)
            continue
        owning = _PREPOSITION.search(group) is not None
        if not re.search(SIGN, _PREPOSITION.split(group)[0]):
            found += _named(waiting, text)
            waiting = []
        found += _group(group, waiting, text, kind, gerund)
        waiting = []
    return tuple(dict.fromkeys([*found, *_named(waiting, text)]))


def _named(signs: Sequence[str], text: Marked) -> list[Subject]:
    return [one for one in map(name_of, text.codes_in("".join(signs))) if one is not None]


def _group(group: str, waiting: Sequence[str], text: Marked, kind: Kind, gerund: str) -> list[Subject]:
    """The symbols of one part of an enumeration; ``waiting`` are those before it that share its noun."""
    where = _PREPOSITION.search(group)
    head, tail = (group[: where.start()], group[where.end() :]) if where else (group, "")
    if _NO_CODE.search(tail) or any("__all__" in code for code in text.codes_in(tail)):
        return []
    heads, after = re.findall(SIGN, head), re.split(SIGN, head)[1:]
    is_parameter = _PARAMETER.search(head) is not None
    owners = [one.name for one in _named(re.findall(SIGN, _PREPOSITION.split(tail)[0]), text)]
    while (
        len(heads) > 1 and _ALLOWED.issuperset(_WORD.findall(after[0])) and not _CONJUNCTION.search(after[0])
    ):  # "the `f` `x` parameter", "`C` options `x`"
        owners = [one.name for one in _named(heads[:1], text)]
        heads, after = heads[1:], after[1:]
    if gerund:
        return _way([*waiting, *heads], owners, after, text, gerund)
    if not heads:
        used = _USAGE.search(head) if kind == "deprecated" else None
        as_whole = used is not None and set(used["how"].casefold().split()) <= set(DATA["determiners"])
        return [Subject(owner, is_parameter=not as_whole) for owner in owners] if is_parameter or used else []
    if any(word.casefold() not in _ALLOWED for part in after for word in _tail_words(part)):
        return []
    nouns = [set(map(str.casefold, _tail_words(part))) for part in after]
    shared = [is_parameter if not noun else bool(noun & set(DATA["parameter_nouns"])) for noun in nouns]
    marks = [*(shared[:1] * len(waiting)), *shared]
    found = []
    for sign, mark in zip([*waiting, *heads], marks, strict=True):
        for one in _named([sign], text):
            places = [""] if "." in one.name else owners or [""]
            found += [replace(one, owner=owner, is_parameter=one.is_parameter or mark) for owner in places]
    return found


def _tail_words(part: str) -> list[str]:
    """Words after a symbol that say what it is: those before the next symbol of an enumeration are no matter."""
    return _WORD.findall(_CONJUNCTION.split(f"{part} ", maxsplit=1)[0])


def _way(heads: Sequence[str], owners: Sequence[str], after: Sequence[str], text: Marked, verb: str) -> list[Subject]:
    """Of whom a way of doing something is: "Passing `x` to `f`" of ``f``; "Calling `f`" is ``f`` itself."""
    named = _named(heads, text)
    if verb in DATA["usage_gerunds"] and not any(_WORD.search(part) for part in after[-1:]):
        return [replace(one, owner=owner) for one in named for owner in owners or [""]]
    if owners:
        return [Subject(owner, is_parameter=True) for owner in owners]
    return [replace(one, is_parameter=True) for one in named]


def _inherited(text: Marked, above: Kind) -> list[Statement]:
    """What an entry is about that stands under "Removed" and begins with a symbol: that symbol."""
    sentence = SENTENCE.split(text.masked)[0]
    phrase = re.split(r"[.,;:]|\s[-\u2013\u2014]{1,2}\s|\s(?:is|are|was|were)\s", sentence, maxsplit=1)[0]
    if any(word.casefold() not in _ALLOWED for word in _WORD.findall(re.split(SIGN, phrase, maxsplit=1)[0])):
        return []
    subjects = _subjects(_object(phrase), text)
    found = [told for one in SENTENCE.split(text.masked) for told in _replacements(one, text)]
    return [Statement(above, subjects, tuple(dict.fromkeys(found)), direct=False)] if subjects else []


def _replacements(sentence: str, text: Marked) -> tuple[str, ...]:
    """What a sentence says is to be used instead: names without arguments, other code as it is written."""
    found: list[str] = []
    for cue in _REPLACEMENT.finditer(sentence):
        part = _REPLACEMENT_ENDS.split(_CLAUSE.split(sentence[cue.end() :], maxsplit=1)[0], maxsplit=1)[0]
        for code in text.codes_in(part):
            named = name_of(code)
            if not code.startswith("#"):  # the number of an issue
                found.append(code if named is None or named.is_parameter else named.name)
    return tuple(dict.fromkeys(found))


def replacements_in(told: str) -> tuple[str, ...]:
    """What a text in plain words says is to be used instead, names without arguments."""
    text = marked(told)
    found = [name for one in SENTENCE.split(text.masked) for name in _replacements(one, text)]
    return tuple(dict.fromkeys(found))


def _directive(entry: Entry, text: Marked) -> Statement:
    """``.. deprecated:: 2.1 Use open_all.``: the versions, then what to do."""
    versions: list[str] = []
    rest = text.masked.split()
    while rest and (match := _VERSION.fullmatch(rest[0])) is not None:
        versions.append(match["version"])
        rest = rest[1:]
    found = [told for one in SENTENCE.split(" ".join(rest)) for told in _replacements(one, text)]
    kind: Kind = "removed" if DATA["directives"][entry.directive] == "removed" else "deprecated"
    subjects = (Subject(entry.about),) if entry.about else ()
    since, removed_in = [*versions, None, None][:2]
    return Statement(kind, subjects, tuple(dict.fromkeys(found)), since, removed_in)
