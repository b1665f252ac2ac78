"""A person's dialogues with an assistant: what is found of them, and whether the assistant's false variants are kept.

Rule of this file: every turn of both roles is read, decided on and folded in as in the product, so what is judged is
the memory that comes out. Figures compare texts, the person's name in gold being read as the first person ("I", "my").

A false variant counts as stored when a memory is about as much (cosine), is nearer to the variant than to anything true
that was told so far, denies it no more than the variant does, and holds at least half of the words in which the variant
differs from the truth and more of them than of the true ones. A variant that differs in no word of content cannot be
judged and is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from schemas.conversation import is_blank
from streams.bench.figures import Figure
from streams.bench.folder import lines_of
from streams.bench.quality import baselines
from streams.bench.quality.halumem_points import MOMENT
from streams.bench.quality.memory import Memory
from streams.bench.quality.run import TURNS, Run
from streams.bench.quality.scores import mean, share
from streams.decide.words import words_of
from streams.extract.sentences import sentences_of

CLOSE: Final = (0.6, 0.7)
"""Cosines from which a memory covers a gold fact, if it holds all its numbers."""
SAME: Final = 0.7
"""Cosine from which a memory is about what a false variant is about."""
_NAME = re.compile(r"\bName: ([^;]+);")


@dataclass
class Judged:
    """All cases of one person.

    Attributes:
        interference: Whether a false variant was stored, in the dialogue in which it was told.
        stated: Whether anything was stored of it, told by the assistant alone.
        ours: What became a memory or a version, held against gold.
        plain: The user's sentences in the first person, held against gold.
    """

    interference: list[bool] = field(default_factory=list)
    stated: list[bool] = field(default_factory=list)
    ours: dict[float, "Matches"] = field(default_factory=lambda: {close: Matches() for close in CLOSE})
    plain: dict[float, "Matches"] = field(default_factory=lambda: {close: Matches() for close in CLOSE})


@dataclass
class Matches:
    """Texts held against gold.

    Attributes:
        found: Whether a text says a gold fact, by gold fact.
        meant: Whether a text says any gold fact, by text.
    """

    found: list[bool] = field(default_factory=list)
    meant: list[bool] = field(default_factory=list)


@dataclass(frozen=True)
class Variant:
    """What the assistant says falsely, and what is true; both in the first person."""

    text: str
    truth: str

    @property
    def false_words(self) -> set[str]:
        """Words of content that only the variant has."""
        return set(words_of(self.text).content) - set(words_of(self.truth).content)

    @property
    def true_words(self) -> set[str]:
        """Words of content that only the truth has."""
        return set(words_of(self.truth).content) - set(words_of(self.text).content)


@dataclass(frozen=True)
class Variants:
    """The false variants of one session, and all that was truly told up to its end."""

    told: Sequence[Variant]
    gold: Sequence[str]


async def measure(run: Run, paths: tuple[Path, ...]) -> list[Figure]:
    """Facts found and false variants stored; a plain rule beside."""
    people = [person for path in paths for person in lines_of(path)][: run.limit]
    judged = [await _judged(run, person) for person in people]
    figures = [
        *share("halumem_interference_stored", [one.interference for one in judged]),
        *share("halumem_interference_stated", [one.stated for one in judged]),
    ]
    for close in CLOSE:
        metric = f"halumem_facts_{round(close * 100)}"
        ours, plain = (
            [one[close] for one in each] for each in zip(*((one.ours, one.plain) for one in judged), strict=True)
        )
        figures += share(
            f"{metric}_recall", [one.found for one in ours], mean(yes for one in plain for yes in one.found)
        )
        figures += share(
            f"{metric}_precision", [one.meant for one in ours], mean(yes for one in plain for yes in one.meant)
        )
    return figures


async def _judged(run: Run, person: dict[str, Any]) -> Judged:
    judged = Judged()
    memory = Memory(run.vectors, run.mind, TURNS)
    first_person = voice_of(person.get("persona_info") or "")
    gold: list[str] = []
    kept: list[str] = []
    said: list[str] = []
    for number, session in enumerate(person["sessions"]):
        new, sentences = await _lived(memory, session)
        fresh = [first_person(row["memory_content"]) for row in session["memory_points"] if _is_true(row)]
        gold += fresh
        kept += new
        said += sentences
        if run.judges(f"{person['uuid']}/{number}"):
            for judge, texts, up_to_now in ((judged.ours, new, kept), (judged.plain, sentences, said)):
                await _compare(run, judge, Compared(texts, up_to_now, fresh, gold))
            await _interference(run, judged, memory, Variants(list(_variants(session, first_person)), gold))
    return judged


def _is_true(row: dict[str, Any]) -> bool:
    return bool(row["memory_source"] != "interference")


def _variants(session: dict[str, Any], first_person: "Voice") -> Iterator[Variant]:
    for row in session["memory_points"]:
        if not _is_true(row) and row.get("reference_memory_content"):
            variant = Variant(first_person(row["memory_content"]), first_person(row["reference_memory_content"]))
            if variant.false_words:
                yield variant


async def _lived(memory: Memory, session: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Tell a session's dialogue.

    Returns:
        Texts that became memories or versions, and the user's sentences in the first person.
    """
    kept: list[str] = []
    plain: list[str] = []
    memory.begin_session()
    for said in session["dialogue"]:
        if is_blank(said["content"]):
            continue
        at = datetime.strptime(said["timestamp"], MOMENT).replace(tzinfo=UTC)
        record = await memory.hear(said["content"], at, role=said["role"])
        kept += [event.text for _, event in await memory.tell(record) if event.event in {"ADD", "UPDATE"}]
        if said["role"] == "user":
            plain += [part for part in sentences_of(said["content"], "en") if baselines.tells_of_self(part)]
    return kept, plain


@dataclass(frozen=True)
class Compared:
    """Texts of one session and of all up to it, found and gold."""

    found: Sequence[str]
    found_so_far: Sequence[str]
    gold: Sequence[str]
    gold_so_far: Sequence[str]


async def _compare(run: Run, judge: dict[float, Matches], texts: Compared) -> None:
    await run.vectors.prepare([*texts.found_so_far, *texts.gold_so_far])
    for close, matches in judge.items():
        matches.found += [_is_covered(run, one, texts.found_so_far, close) for one in texts.gold]
        matches.meant += [_covers_any(run, one, texts.gold_so_far, close) for one in texts.found]


def _is_covered(run: Run, gold: str, found: Sequence[str], close: float) -> bool:
    return any(_covers(run, one, gold, close) for one in found)


def _covers_any(run: Run, found: str, gold: Sequence[str], close: float) -> bool:
    return any(_covers(run, found, one, close) for one in gold)


def _covers(run: Run, found: str, gold: str, close: float) -> bool:
    """Whether a text says a gold fact: alike, and with all its numbers."""
    return run.vectors.between(found, gold) >= close and words_of(gold).numbers <= words_of(found).numbers


async def _interference(run: Run, judged: Judged, memory: Memory, variants: "Variants") -> None:
    memories = [row.text for row in memory.current]
    texts = [text for one in variants.told for text in (one.text, one.truth)]
    await run.vectors.prepare([*memories, *variants.gold, *texts])
    for variant in variants.told:
        held = [text for text in memories if _says(run, text, variant, variants.gold)]
        judged.interference.append(bool(held))
        if held:
            case = [f"STORED | {variant.text}", f"    true: {variant.truth}", *(f"    memory: {text}" for text in held)]
            run.note("halumem_interference_stored", "\n".join(case))
        alone = Memory(run.vectors, run.mind, TURNS)
        before = await alone.read(variant.truth, _NOON)
        told = await alone.read(variant.text, _NOON, role="assistant", context=[before.turn])
        judged.stated.append(bool(told.extraction.facts))


def _says(run: Run, text: str, variant: Variant, gold: Sequence[str]) -> bool:
    """Whether a memory says the false variant; see the module."""
    similarity = run.vectors.between(text, variant.text)
    if similarity < SAME or similarity <= max(run.vectors.between(text, true) for true in (variant.truth, *gold)):
        return False
    words = words_of(text)
    if words.negative and not words_of(variant.text).negative:
        return False
    false = len(variant.false_words & set(words.content))
    return 2 * false >= len(variant.false_words) and false > len(variant.true_words & set(words.content))


class Voice:
    """Reads texts about a named person as that person's own."""

    def __init__(self, name: str) -> None:
        full = " ".join(name.split())
        first = full.split(" ")[0] if full else ""
        names = "|".join(re.escape(one) for one in dict.fromkeys((full, first)) if one)
        self._owned = re.compile(rf"\b(?:{names})['\u2019]s?\b") if names else None
        self._named = re.compile(rf"\b(?:{names})\b") if names else None

    def __call__(self, text: str) -> str:
        """The text in the first person."""
        if self._owned is None or self._named is None:
            return text
        return self._named.sub("I", self._owned.sub("my", text))


def voice_of(persona: str) -> Voice:
    """A reader of texts about the person whom a persona describes; one without a name changes nothing."""
    match = _NAME.search(persona)
    return Voice(match[1] if match else "")


_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
