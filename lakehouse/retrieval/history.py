"""A question with what it leaves to the conversation before it: pronouns, "and in Berlin?", "tell me more".

Rule of this file: pure. The asker's own words stand first and stay as they are; a few words of what was said before
join them in parentheses, and a question that stands by itself is never touched. What an assistant said is data: only
names are taken from it. Cue words are data (``words.yaml``).
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lakehouse.keywords import fold_text
from lakehouse.retrieval.names import NOBODY, KnownNames
from lakehouse.retrieval.tokens import Read, Token, is_han, listed, phrases, read, says, spaced
from lakehouse.ruledata import load_data
from schemas.retrieval import HistoryTurn

LOOK_BACK: Final = 10
"""Turns before, of those that were said by a user or an assistant."""
MAX_ADDED: Final = 6
"""Words that join a question."""
MAX_WORD: Final = 60
"""Characters of such a word."""
MAX_NAMES: Final = 3
"""Names that a pronoun is resolved with, where it cannot be told which is meant."""
MAX_FOLLOW_UP: Final = 40
"""Words of a question that can lean on others; a longer one stands by itself."""
MAX_PREVIOUS: Final = 500
"""Characters of the question that "tell me more" repeats."""
_FEW: Final = 3
_BRIEF: Final = 5
_LEAD: Final = 2
"""Words before "that" in a question that asks about it: "when was that again"."""
_DATA: Final = load_data("lakehouse.retrieval", "words")
_CONTINUE: Final = phrases(_DATA["continue"])
_OPENERS: Final = spaced(_DATA["openers"])
_LONGEST_OPENER: Final = 5
_EXPLETIVES: Final = spaced(_DATA["expletives"])
_PREPOSITIONS: Final = listed("prepositions")
_INTERROGATIVES: Final = listed("interrogatives")
_JOINERS: Final = listed("joiners")
_OTHERS: Final = listed("others")
_SECOND_PERSON: Final = listed("second_person")
_FIRST_PERSON: Final = listed("first_person")
_NOWHERE: Final = listed("points_nowhere")
_CLAUSE: Final = listed("clause_verbs")
_DETERMINERS: Final = listed("determiners")
_PRONOUNS: Final = {
    language: {kind: frozenset(words.split()) for kind, words in kinds.items()}
    for language, kinds in _DATA["pronouns"].items()
}
_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True)
class Resolved:
    """A question that stands by itself.

    Attributes:
        text: The question; never longer than it was by more than 6 words, or the one before if it was to go on.
        own: The same without the words that joined it.
        changed: Whether it leans on what was said before.
        because: Why, in a few words, for whoever asks how an answer came about.
    """

    text: str
    own: str
    changed: bool
    because: str


def resolved(query: str, history: Sequence[HistoryTurn], *, names: KnownNames = NOBODY) -> Resolved:
    """The question with what it leaves to the turns before it.

    Args:
        query: As asked.
        history: The turns before, newest last; if the last one is the question itself, it is passed over.
        names: Subjects and speakers that the scope knows: they are names however they are written.
    """
    told = read(query)
    turns = _recent(told, history)
    if not turns:
        return Resolved(query, query, changed=False, because="nothing was said before")
    if not told.tokens or len(told.tokens) > MAX_FOLLOW_UP or query.rstrip().endswith((")", "\uff09")):
        return Resolved(query, query, changed=False, because="it stands by itself")
    if _asks_to_go_on(told):
        return _previous(query, turns, history, names)
    pronoun, of_names = _pronoun(told, names)
    if pronoun is not None:
        words = _named(turns, names) if of_names else []
        return _with(told, words or _topic(None, turns, names), f"{pronoun.spoken!r} stands for")
    if _follows_up(told):
        return _with(told, _topic(told, turns, names), "it goes on from")
    return Resolved(query, query, changed=False, because="it stands by itself")


def _recent(query: Read, history: Sequence[HistoryTurn]) -> list[HistoryTurn]:
    turns = [turn for turn in history[-10 * LOOK_BACK :] if turn.role in {"user", "assistant"} and turn.content.strip()]
    if turns and turns[-1].role == "user" and turns[-1].content.strip() == query.text.strip():
        turns = turns[:-1]
    return turns[-LOOK_BACK:]


def _with(query: Read, words: Iterable[str], reason: str) -> Resolved:
    own = {token.key for token in query.tokens}
    added = list(dict.fromkeys(word[:MAX_WORD] for word in words if fold_text(word) not in own))[:MAX_ADDED]
    if not added:
        return Resolved(query.text, query.text, changed=False, because="nothing before tells what it stands for")
    told = " ".join(added)
    return Resolved(f"{query.text.rstrip()} ({told})", query.text, changed=True, because=f"{reason} {told!r}")


def _asks_to_go_on(query: Read) -> bool:
    joined = "".join(token.text for token in query.tokens)
    return query.spoken.strip() in _CONTINUE or (is_han(joined) and joined in _CONTINUE)


def _previous(query: str, turns: Sequence[HistoryTurn], history: Sequence[HistoryTurn], names: KnownNames) -> Resolved:
    """The last question that asked something, itself told in full."""
    for place in range(len(turns) - 1, -1, -1):
        content = turns[place].content.strip()[:MAX_PREVIOUS]
        told = read(content)
        if turns[place].role == "user" and told.content and not _asks_to_go_on(told):
            full = resolved(content, turns[:place], names=names)
            full = full if full.changed else resolved(content, history, names=names)
            return Resolved(full.text, full.own, changed=True, because="it asks to go on with the question before")
    return Resolved(query, query, changed=False, because="no question before to go on with")


def _pronoun(query: Read, names: KnownNames) -> tuple[Token | None, bool]:
    """The first pronoun that stands for something outside the question, and whether that has a name."""
    if says(query, _EXPLETIVES):
        return None, False
    for place, token in enumerate(query.tokens):
        kinds = _PRONOUNS.get("zh" if is_han(token.text) else query.language, {})
        word = token.spoken
        named = word in kinds.get("of_names", _NONE) or (token.text.islower() and word in kinds.get("lower", _NONE))
        points = word in kinds.get("pointers", _NONE) and _points(query.tokens, place)
        alone = word in kinds.get("final", _NONE) and _ends_clause(query.tokens, place)
        if (named or points or alone or word in kinds.get("things", _NONE)) and not (
            _is_told_before(query, place, named=named, names=names)
        ):
            return token, named
    return None, False


def _ends_clause(tokens: Sequence[Token], place: int) -> bool:
    return place + 1 == len(tokens) or tokens[place + 1].after_break


def _points(tokens: Sequence[Token], place: int) -> bool:
    """Whether "that" points at something: not at a clause that it begins, and not at the calendar."""
    if _ends_clause(tokens, place):
        return True
    before = tokens[place - 1] if place else None
    behind = tokens[place + 1]
    late = behind.little and place > _LEAD
    joins = before is not None and (late or not before.little or before.key in _CLAUSE)
    nowhere = behind.key[0] in _NOWHERE if is_han(behind.key) else behind.key in _NOWHERE
    return not joins and not nowhere


def _is_told_before(query: Read, place: int, *, named: bool, names: KnownNames) -> bool:
    """Whether the question itself tells before a pronoun what it stands for, or so much that it stands by itself."""
    token, before = query.tokens[place], query.tokens[:place]
    about = [word for word in before if not word.little]
    if not about:
        return False
    if not named and len(about) > _FEW:
        return True
    later = query.tokens[query.tokens.index(about[0]) + 1 : place + 1]
    if any(word.after_break or word.key in _JOINERS for word in later):
        return True
    own = any(first.key in _FIRST_PERSON and not then.little for first, then in itertools.pairwise(before))
    capital = any(word.is_name or (word.text[:1].isupper() and not word.is_day) for word in about)
    return named and (own or capital or any(told.end <= token.start for told in names.mentions(query)))


def _follows_up(query: Read) -> bool:
    """Whether a question without a pronoun leans on the one before: it only asks, goes on, or fills a slot anew."""
    keys, about = [token.key for token in query.tokens], len(query.content)
    opens = _opener(query)
    asks = not _INTERROGATIVES.isdisjoint(keys[opens:])
    if not about:
        spoken_to = not _SECOND_PERSON.isdisjoint(keys)
        return len(keys) <= _BRIEF and not spoken_to and (opens > 0 or asks or not _OTHERS.isdisjoint(keys))
    if opens:
        return about <= (1 if asks else _FEW)
    return query.tokens[0].little and keys[0] in _PREPOSITIONS and len(keys) <= _FEW


def _opener(query: Read) -> int:
    """How many words it goes on with that only go on: "and what about"."""
    told = [(token.key, token.text) for token in query.tokens[:_LONGEST_OPENER]]
    keys, texts = [key for key, _ in told], [text for _, text in told]
    counts = range(len(told), 0, -1)
    return next((n for n in counts if " ".join(keys[:n]) in _OPENERS or "".join(texts[:n]) in _OPENERS), 0)


def _named(turns: Sequence[HistoryTurn], names: KnownNames) -> list[str]:
    """Names told last: one that is known, else those of the newest turn that has some."""
    for turn in reversed(turns):
        if known := names.mentions(read(turn.content)):
            return [token.word for token in read(known[-1].name).tokens]
    for turn in reversed(turns):
        if told := _names_in(read(turn.content)):
            return told
    return []


def _names_in(text: Read) -> list[str]:
    return list(dict.fromkeys(token.word for token in text.tokens if token.is_name))[:MAX_NAMES]


def _topic(query: Read | None, turns: Sequence[HistoryTurn], names: KnownNames) -> list[str]:
    """What was spoken of last: the names in newer turns of the assistant, and the words of the user's last question."""
    told: list[str] = []
    for place in range(len(turns) - 1, -1, -1):
        if turns[place].role == "assistant":
            told.extend(_names_in(read(turns[place].content)) if query is None and not told else ())
        elif read(turns[place].content).content:
            full = resolved(turns[place].content, turns[:place], names=names)
            added = read(full.text[len(full.own.rstrip()) :]).tokens
            return [*told, *(token.word for token in _kept(query, [*_last_sentence(read(full.own)), *added]))]
    return told


def _last_sentence(text: Read) -> Sequence[Token]:
    """The tokens from the last sentence on that says what it is about."""
    last = max(place for place, token in enumerate(text.tokens) if not token.little)
    return text.tokens[max(place for place, token in enumerate(text.tokens[: last + 1]) if token.initial) :]


def _kept(query: Read | None, tokens: Sequence[Token]) -> Iterator[Token]:
    """The words that say what a question was about, without those in whose place another names others."""
    anew = query.tokens[_opener(query) :] if query is not None else ()
    slots = {token.key for token in anew if token.key in _PREPOSITIONS}
    named = [token for token in tokens if token.is_name]
    renamed = not slots and len(named) == 1 and any(token.is_name for token in anew)
    filled = False
    for token in tokens:
        if token.little:
            filled = token.key in slots or (filled and token.key in _DETERMINERS)
        elif not filled and not (renamed and token.is_name):
            yield token
