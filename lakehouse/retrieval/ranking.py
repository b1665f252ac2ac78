"""Which candidates answer, and in what order.

Rule of this file: pure. Similarity is an absolute score (cosine, 0 … 1); fusion only orders; thresholds compare with
absolute scores, so that a higher threshold never adds a hit. The constants were chosen on the tuning parts of
``memlake bench retrieval`` and are reported on its other parts in ``docs/quality.md``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from lakehouse.retrieval.items import Item
from lakehouse.retrieval.moments import Stretch
from lakehouse.retrieval.scope_index import ScopeIndex
from lakehouse.similarity import DIGITS
from schemas.retrieval import Kind, Mode

CLOSENESS: Final = 0.5
WORDS: Final = 0.5
NAMED: Final = 0.2
"""Weights of what every hybrid score is made of; see ``score``."""
CLOSE_RANGE: Final = 0.5
WORD_RANGE: Final = 0.2
"""Cosines that differ by less than .5, and word scores by less than .2 of what a text could have, are spread over less
than 0 … 1: among few memories small differences would count as much as large ones."""
DURING: Final = 0.3
"""Weight of the time, where the question names one."""
TOLD: Final = 0.15
AROUND: Final = 0.2
SUBSTANCE: Final = 0.1
"""Weights of what joins them for a turn."""
WORDY: Final = 20
"""Terms of a turn that is no short reply."""
BESIDE_TURNS: Final = 0.9
"""Factor of a memory's hybrid score where turns are ranked beside it: it is short, and so close sooner."""
ALIKE: Final = 0.6
"""Share of a turn's words that a memory must have to stand for it."""
CANDIDATES: Final = 60
"""Of an index that are looked at one by one."""
RECENT: Final = 20
STEP: Final = 0.0001
"""What puts one score above another: the last digit of a rounded one."""
SAME_THING: Final = 0.5
SAME_RANGE: Final = 0.7
ASKED_SHARE: Final = 1 / 3
"""Of the 20 best memories, two are about the same thing when their cosine is 0.5, the newer has 0.7 of the older's
hybrid score, and each holds a third of the words that say what is asked for."""
CHANGE_SHARE: Final = 0.5
"""Of the asked words that the older holds, the share that the newer holds at least, where it says that something has
changed and is not about somebody or something else; otherwise it holds more of them: a blue kiln is no newer state of
the red one."""


@dataclass(frozen=True)
class Question:
    """A question as it is searched.

    Attributes:
        vectors: Unit vectors of its text; none where they could not be had.
        terms: Its words, each once, as ``keywords.query_terms`` gives them.
        words: Words to weigh texts by, with weights 0 … 1.
        content: Those of its terms that say what it is about.
        names: Whom it names, case and accents aside.
        during: The stretch of time that it names.
    """

    vectors: Sequence[Any]
    terms: tuple[str, ...]
    words: Mapping[str, float]
    content: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    during: Stretch | None = None


@dataclass(frozen=True)
class Hit:
    """An item that may answer.

    Attributes:
        item: What was found.
        semantic: Cosine to the question, 0 … 1, rounded; None where the question had no vector.
        coverage: Share of the question's terms that the text holds, 0 … 1.
        hybrid: What hybrid results are ordered by, 0 … 1.
        rerank: Score of the reranker, 0 … 1; None where none ran.
    """

    item: Item
    semantic: float | None
    coverage: float
    hybrid: float
    rerank: float | None = None

    @property
    def similarity(self) -> float:
        """The cosine; 0 where it could not be had."""
        return self.semantic or 0.0

    @property
    def score(self) -> float:
        """What thresholds compare with: the rerank score where a reranker ran, else the similarity.

        Where the question had no vector it is the share of its words that are held: an answer by words alone is one.
        """
        if self.rerank is not None:
            return self.rerank
        return self.coverage if self.semantic is None else self.semantic


@dataclass(frozen=True)
class Scores:
    """How well each place of an index answers; arrays with one number a place, those of empty places mean nothing.

    Attributes:
        similarity: Cosine, 0 … 1, rounded.
        coverage: Share of the question's terms that are held, 0 … 1.
        hybrid: Fused, 0 … 1, rounded; it only orders.
    """

    similarity: Any
    coverage: Any
    hybrid: Any

    def scaled(self, factor: float) -> "Scores":
        """The same with every hybrid score multiplied."""
        return replace(self, hybrid=np.round(factor * self.hybrid, DIGITS))


def score(index: ScopeIndex, questions: Sequence[Question], kind: Kind) -> Scores:
    """Weigh every item of an index.

    Closeness c and words w (BM25) are each spread over 0 … 1, from the least to the most that this question finds in
    this scope, over less where that is not far; n is whether the item is about or by somebody named whom its text
    leaves out. A memory then has (.5 c + .5 w + .2 n) / 1.2. For a turn t, whether it told something, a, the words of
    the turns right before and after it, and s, its length up to 20 terms, join them:
    (.5 c + .5 w + .2 n + .15 t + .2 a + .1 s) / 1.65. Where the question names a time, that an item is of it adds .3 to
    both sides of the division.

    Args:
        index: What may answer.
        questions: The question, and after it the parts that it is made of: an item is as good as its best part.
        kind: What the index holds.
    """
    alive = index.alive()
    similarity, hybrid = np.zeros(len(alive)), np.zeros(len(alive))
    for question in questions:
        words = index.word_scores(question.words)
        told, length = index.marks()
        nearest = index.similarities(question.vectors[:1])
        total = (
            CLOSENESS * _spread(nearest, alive, CLOSE_RANGE)
            + WORDS * (spread := _spread(words, alive, WORD_RANGE * index.most_words(question.words)))
            + NAMED * index.named(question.names)
        )
        most = CLOSENESS + WORDS + NAMED
        if kind == "episode":
            before, after = index.beside()
            around = np.maximum(np.where(before >= 0, spread[before], 0.0), np.where(after >= 0, spread[after], 0.0))
            total += TOLD * told + AROUND * _spread(around, alive, 0.0) + SUBSTANCE * np.minimum(1.0, length / WORDY)
            most += TOLD + AROUND + SUBSTANCE
        closest = index.similarities(question.vectors) if len(question.vectors) > 1 else nearest
        similarity = np.maximum(similarity, closest)
        if question.during is not None:
            total += DURING * index.within(question.during)
            most += DURING
        hybrid = np.maximum(hybrid, total / most)
    return Scores(similarity, index.coverage(questions[0].terms), np.round(hybrid, DIGITS))


def newer_first(index: ScopeIndex, hybrid: Any, content: Sequence[str], turns: Mapping[str, float]) -> Any:
    """The hybrid scores of memories, with the newer of two about the same thing before the older.

    Similarity cannot tell what holds now: of two statements of one thing the older is as often the closer one. A memory
    also stands before the turns that told what it said before.

    Args:
        index: Of memories.
        hybrid: Their scores, by place.
        content: The words that say what is asked for.
        turns: Hybrid scores of the turns ranked beside them, by turn id: the newer stands before those of the older.
    """
    if not content or not len(index):
        return hybrid
    best = _best(index.alive(), (index.came(), index.times(), hybrid))[:RECENT]
    held = index.held(content)
    places = best[held[best] >= ASKED_SHARE * len(content)]
    vectors, at, before, held = index.vectors(places), index.times()[places], hybrid[places], held[places]
    alike = vectors @ vectors.T >= SAME_THING
    newer = (at[:, None] < at[None, :]) & (before[None, :] >= SAME_RANGE * before[:, None])
    changes = _changes([index.item(place) for place in places])
    answers = np.where(changes, held >= CHANGE_SHARE * held[:, None], held > held[:, None])
    raised = hybrid.copy()
    pairs = np.argwhere(alike & newer & answers)
    for older, later in pairs[np.argsort(at[pairs[:, 0]], kind="stable")]:  # so that the newest of three stands first
        told = _most(turns, index.item(places[older]).sources)
        raised[places[later]] = max(raised[places[later]], _above(max(raised[places[older]], told)))
    for place in best:
        told = _most(turns, index.outdated(index.item(place).id))
        if told >= raised[place]:
            raised[place] = _above(told)
    return np.round(raised, DIGITS)


def _changes(items: Sequence[Item]) -> Any:
    """Whether each of the items, by column, tells a change of what each other, by row, may be about."""
    same = [[older.who == newer.who or None in {older.who, newer.who} for newer in items] for older in items]
    told = np.array([item.tells_change for item in items], dtype=bool)
    return np.array(same, dtype=bool).reshape(len(items), len(items)) & told


def _most(turns: Mapping[str, float], of: Iterable[str]) -> float:
    """The greatest score of some turns; -1 where none of them is ranked."""
    return max((turns.get(turn, -1.0) for turn in of), default=-1.0)


def _above(score: float) -> float:
    return min(1.0, score + STEP)


def _spread(values: Any, alive: Any, least_range: float) -> Any:
    """The values over 0 … 1, or over less where they differ by less than a range; all 0 where they are all the same."""
    if not alive.any():
        return values
    least, most = values[alive].min(), values[alive].max()
    return np.zeros_like(values) if most <= least else (values - least) / max(most - least, least_range)


def hits_of(index: ScopeIndex, scores: Scores, *, mode: Mode, embedded: bool, threshold: float) -> list[Hit]:
    """The candidates of one index that may be shown: the best of all, and the best of those that pass; in no order."""
    by_words = mode == "keyword" or not embedded
    wanted = index.alive() & (scores.coverage > 0.0) if by_words else index.alive()
    passing = (scores.similarity if embedded else scores.coverage) >= threshold
    if mode != "semantic":
        passing |= scores.coverage == 1.0
    first = {"semantic": scores.similarity, "keyword": scores.coverage, "hybrid": scores.hybrid}[mode]
    keys = (index.came(), index.times(), scores.hybrid, first)
    places = {place for some in (wanted, wanted & passing) for place in _once(index, _best(some, keys), scores)}
    return [
        Hit(
            item=index.item(place),
            semantic=float(scores.similarity[place]) if embedded else None,
            coverage=float(scores.coverage[place]),
            hybrid=float(scores.hybrid[place]),
        )
        for place in sorted(places)
    ]


def _best(wanted: Any, keys: tuple[Any, ...]) -> Any:
    """The first places of those that are wanted, by the last key first, more of it before less."""
    places = np.nonzero(wanted)[0]
    return places[np.lexsort([-key[places] for key in keys])]


def _once(index: ScopeIndex, places: Iterable[int], scores: Scores) -> list[int]:
    """The first candidates of places in order; ``collapsed`` would leave out what is left out here already."""
    taken: list[int] = []
    said: dict[tuple[str, ...], int] = {}
    for place in places:
        item = index.item(place)
        same = said.setdefault(_words(item), place) if item.kind == "episode" else place
        if same == place or scores.similarity[same] < scores.similarity[place]:
            taken.append(place)
        if len(taken) == CANDIDATES:
            break
    return taken


def _words(turn: Item) -> tuple[str, ...]:
    """By which words it is one with another; without any it is itself alone."""
    return turn.terms or (turn.text,)


def ordered(hits: Iterable[Hit], mode: Mode) -> list[Hit]:
    """Candidates, best first.

    Returns:
        Equal scores by the newer event time, then by what came in later, so that the order never depends on chance.
    """
    return sorted(hits, key=lambda hit: (*_order(hit, mode), -hit.item.at.timestamp(), -hit.item.place, hit.item.kind))


def _order(hit: Hit, mode: Mode) -> tuple[float, float, float]:
    reranked = 0.0 if hit.rerank is None else -1.0 - hit.rerank
    if mode == "semantic":
        return reranked, -hit.similarity, 0.0
    if mode == "keyword":
        return reranked, -hit.coverage, -hit.hybrid  # more of the terms first
    return reranked, -hit.hybrid, 0.0


def passes(hit: Hit, mode: Mode, threshold: float) -> bool:
    """Whether a candidate reaches a threshold; one that holds all the question's words does, but for a semantic one."""
    return hit.score >= threshold or (mode != "semantic" and hit.coverage == 1.0)


def collapsed(hits: Sequence[Hit]) -> list[Hit]:
    """Candidates in order, each thing once: a turn beside its memory, or said before in the same words, is left out.

    The memory then stands where the better of both stood. A turn that has the higher score of both stays, and one that
    alone holds all the question's words: it may pass a threshold that the memory does not.
    """
    by_turn: dict[str, list[Hit]] = {}
    for hit in hits:
        if hit.item.kind == "knowledge":
            for turn in hit.item.sources:
                by_turn.setdefault(turn, []).append(hit)
    kept: dict[str, Hit] = {}
    said: dict[tuple[str, ...], Hit] = {}
    for hit in hits:
        if hit.item.kind == "episode":
            same = said.setdefault(_words(hit.item), hit)
            if same is not hit and same.score >= hit.score:
                continue
            memory = _same_as(hit, by_turn.get(hit.item.id, ()))
            if memory is not None:  # it stands here instead
                hit = replace(memory, hybrid=max(memory.hybrid, hit.hybrid))  # noqa: PLW2901
        kept.setdefault(f"{hit.item.kind}:{hit.item.key}", hit)
    return list(kept.values())


def _same_as(turn: Hit, memories: Sequence[Hit]) -> Hit | None:
    """The memory that says what the turn says, in nearly as many words, and passes whatever the turn passes."""
    words = len(turn.item.terms)
    alike = (hit for hit in memories if len(hit.item.terms) >= ALIKE * words)
    return next((hit for hit in alike if hit.score >= turn.score and hit.coverage >= (turn.coverage == 1.0)), None)
