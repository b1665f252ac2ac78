"""Our own conversations, turn by turn, with what a careful person would keep: in several languages, beside the code.

Rule of this file: it reads the conversations and counts; what is right is said in ``golden/*.yaml`` alone, and was
written before any answer of the product was looked at.

A turn's ``expect`` lists each fact that should come of it: one event (or several that are right, as "ADD|UPDATE") with
the words that the fact or the memory must hold, and ``of``, words of the memory that is changed, retired or agreed
with. A turn without ``expect`` should leave nothing. ``current`` is the number of memories in the end, ``holds`` and
``gone`` are words that some or none of them holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import yaml

from schemas.conversation import Role
from schemas.memory import Event, MemoryEvent
from streams.bench.figures import Figure
from streams.bench.quality.deciders import PLAIN
from streams.bench.quality.memory import Memory, Weighed
from streams.bench.quality.minds import RULES, Mind
from streams.bench.quality.run import TURNS, Run
from streams.bench.quality.scores import mean, share

START: Final = datetime(2026, 3, 2, 9, tzinfo=UTC)
"""A Monday."""
EVENTS: Final[tuple[Event, ...]] = ("ADD", "UPDATE", "DELETE", "NONE")


@dataclass(frozen=True)
class Expected:
    """One fact that should come of a turn.

    Attributes:
        events: Which of them are right.
        words: All in the fact or in the memory that it ends in.
        of: Words of the memory that it is about; empty for a new one.
    """

    events: tuple[str, ...]
    words: tuple[str, ...]
    of: tuple[str, ...]

    def fits(self, weighed: Weighed, event: MemoryEvent) -> bool:
        """Whether an outcome is about this fact, whatever was decided."""
        return any(all(holds(word, text) for word in self.words) for text in (weighed.fact.text, event.text))


@dataclass(frozen=True)
class Said:
    """A turn of a case."""

    text: str
    role: Role
    at: datetime | None
    expect: tuple[Expected, ...]


@dataclass(frozen=True)
class Case:
    """A conversation; see the module."""

    id: str
    language: str
    turns: tuple[Said, ...]
    current: int | None
    holds: tuple[str, ...]
    gone: tuple[str, ...]


@dataclass
class Judged:
    """All cases of one language.

    Attributes:
        found: Whether an expected fact came.
        event: Whether it came with the right event.
        target: Whether it is about the right memory, of those that are about one.
        invented: Whether a fact that came was expected by nobody.
        silent: Whether a turn that should leave nothing left nothing.
        surplus: Whether a current memory is one too many.
        state: Whether a case ended as it should.
    """

    found: list[bool] = field(default_factory=list)
    event: list[bool] = field(default_factory=list)
    target: list[bool] = field(default_factory=list)
    invented: list[bool] = field(default_factory=list)
    silent: list[bool] = field(default_factory=list)
    surplus: list[bool] = field(default_factory=list)
    state: list[bool] = field(default_factory=list)


async def measure(run: Run, paths: tuple[Path, ...]) -> list[Figure]:  # noqa: ARG001 - ours lie beside the code
    """Shares over all cases, the least and the greatest of a single language; plain deciders beside."""
    cases = [case for case in all_cases() if run.judges(case.id)][: run.limit]
    ours = await judged_by(run, cases, run.mind, notes=True)
    # What a model reads is paid for: plain deciders get what the rules read.
    deciders = PLAIN if run.mind is RULES else {"rules": RULES.decide} | PLAIN
    plain = {name: await judged_by(run, cases, Mind(RULES.extract, decider)) for name, decider in deciders.items()}
    figures: list[Figure] = []
    for name in ("event", "target", "surplus", "state"):
        metric = f"golden_{_METRICS.get(name, name)}"
        by_plain = {other: [getattr(one, name) for one in judged.values()] for other, judged in plain.items()}
        beside = mean(yes for answers in by_plain["cipher"] for yes in answers)
        figures += share(metric, [getattr(one, name) for one in ours.values()], beside)
        for other, answers in by_plain.items():
            figures += share(f"{metric}.{other}", answers)
    for name in ("found", "invented", "silent"):
        figures += share(f"golden_{_METRICS.get(name, name)}", [getattr(one, name) for one in ours.values()])
    for language, one in sorted(ours.items()):
        figures += share(f"golden_event_right/{language}", [one.event])
    return figures


_METRICS: Final = {
    "event": "event_right",
    "target": "target_right",
    "surplus": "duplicates",
    "state": "state_right",
    "found": "facts_found",
    "invented": "facts_invented",
    "silent": "nothing_kept",
}


async def judged_by(run: Run, cases: Sequence[Case], mind: Mind, *, notes: bool = False) -> dict[str, Judged]:
    """What a mind makes of the cases, by language.

    Args:
        run: For vectors, and to note wrong cases.
        cases: Each in a scope of its own.
        mind: Who reads and decides.
        notes: Whether wrong cases are noted.
    """
    judged: dict[str, Judged] = {}
    for case in cases:
        memory = Memory(run.vectors, mind, TURNS, case.id)
        one = judged.setdefault(case.language, Judged())
        wrong: list[str] = []
        for number, said in enumerate(case.turns):
            at = said.at or START + timedelta(minutes=number)
            record = await memory.hear(said.text, at, role=said.role)
            outcomes = await memory.tell(record)
            right = _judge(one, said, outcomes)
            told = f"{'ok   ' if right else 'WRONG'} {said.role}: {said.text}"
            wrong += [told, *(_outcome(weighed, event) for weighed, event in outcomes)]
            wrong += [
                f"      expected: {'|'.join(each.events)} {each.words} of {each.of}"
                for each in said.expect
                if not right
            ]
        right = _judge_state(one, case, [row.text for row in memory.current])
        if notes and (not right or any(line.startswith("WRONG") for line in wrong)):
            state = "" if right else f"\n  ends as: {[row.text for row in memory.current]}"
            run.note("golden", f"{case.id}\n  " + "\n  ".join(wrong) + state)
    return judged


def _judge(judged: Judged, said: Said, outcomes: list[tuple[Weighed, MemoryEvent]]) -> bool:
    """Count a turn; True where all of it is as expected."""
    left = list(outcomes)
    right = True
    for expected in said.expect:
        match = next((one for one in left if expected.fits(*one) and one[1].event in expected.events), None)
        match = match or next((one for one in left if expected.fits(*one)), None)
        judged.found.append(match is not None)
        event_right = match is not None and match[1].event in expected.events
        judged.event.append(event_right)
        right = right and event_right
        if expected.of:
            target = match[0].target if match else None
            target_right = target is not None and all(holds(word, target.text) for word in expected.of)
            judged.target.append(target_right)
            right = right and target_right
        if match is not None:
            left.remove(match)
    judged.invented += [False] * (len(outcomes) - len(left)) + [True] * len(left)
    if not said.expect:
        judged.silent.append(not outcomes)
    return right and not left


def _judge_state(judged: Judged, case: Case, texts: list[str]) -> bool:
    right = all(any(holds(word, text) for text in texts) for word in case.holds)
    right = right and not any(holds(word, text) for word in case.gone for text in texts)
    if case.current is not None:
        surplus = max(0, len(texts) - case.current)
        judged.surplus += [True] * surplus + [False] * (len(texts) - surplus)
        right = right and len(texts) == case.current
    judged.state.append(right)
    return right


def _outcome(weighed: Weighed, event: MemoryEvent) -> str:
    fact = weighed.fact
    of = f" of {weighed.target.text!r}" if weighed.target else ""
    claim = f"[{fact.subject} | {fact.attribute} | {fact.value} | {fact.polarity}]"
    return f"      {event.event}{of}: {fact.text!r} {claim} ({event.reasoning})"


def holds(word: str, text: str) -> bool:
    """Whether a text has a word, as the conversations name words."""
    return word.casefold() in text.casefold()


@cache
def all_cases() -> tuple[Case, ...]:
    """Every case of ``golden/*.yaml``, in the order of the files.

    Raises:
        ValueError: A file says something that is not known, or two cases have one id.
    """
    folder = resources.files("streams.bench").joinpath("golden")
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".yaml")), key=lambda entry: entry.name)
    cases = [case for entry in files for case in cases_of(yaml.safe_load(entry.read_text(encoding="utf-8")))]
    if len({case.id for case in cases}) < len(cases):
        raise ValueError("golden: two cases have one id")
    return tuple(cases)


def cases_of(told: dict[str, Any]) -> Iterator[Case]:
    """The cases of one file.

    Raises:
        ValueError: It says something that is not known.
    """
    for row in told["cases"]:
        _known(row, {"id", "turns", "current", "holds", "gone"})
        yield Case(
            row["id"],
            told["language"],
            tuple(_said(turn) for turn in row["turns"]),
            row.get("current"),
            _words(row.get("holds", [])),
            _words(row.get("gone", [])),
        )


def _said(row: dict[str, Any]) -> Said:
    _known(row, {"say", "role", "at", "expect"})
    at = datetime.fromisoformat(row["at"]) if "at" in row else None
    return Said(row["say"], row.get("role", "user"), at, tuple(_expected(one) for one in row.get("expect") or ()))


def _expected(row: dict[str, Any]) -> Expected:
    told, of = ((key, value) for key, value in row.items() if key != "of"), row.get("of", [])
    (events, words), *more = told
    if more:
        raise ValueError(f"golden: {row} names too many events")
    names = tuple(events.split("|"))
    if not set(names) <= set(EVENTS):
        raise ValueError(f"golden: {events} is no event")
    return Expected(names, _words(words), _words(of))


def _words(told: Any) -> tuple[str, ...]:
    words = told if isinstance(told, list) else [told]
    if not all(isinstance(word, str) for word in words):
        raise ValueError(f"golden: {told!r} is no text: quote it")
    return tuple(words)


def _known(row: dict[str, Any], keys: set[str]) -> None:
    unknown = sorted(set(row) - keys)
    if unknown:
        raise ValueError(f"golden: {unknown[0]!r} is not known")
