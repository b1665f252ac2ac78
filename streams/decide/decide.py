"""From a fact and what is known to one decision.

Rule of this file: it weighs findings and words them; it compares nothing itself. What a known memory already says is
NONE, more of the same is UPDATE, a contradiction is UPDATE and never a bare DELETE, everything else is ADD: nothing
that was told may be lost.
"""

from collections.abc import Sequence

from schemas.facts import Fact
from streams.decide.corrections import bare_correction
from streams.decide.findings import find
from streams.decide.forgetting import forget
from streams.decide.overlap import overlap, relevance
from streams.decide.types import Decision, DecisionOptions, Finding, Neighbour

_ORDER = {"agrees": 0, "contradicts": 1, "refines": 2}
DEFAULT_OPTIONS = DecisionOptions()


def decide(fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions = DEFAULT_OPTIONS) -> Decision:
    """What a fact does to what is known.

    Args:
        fact: The new fact.
        neighbours: The nearest memories of the scope at any similarity, and all with the fact's subject and attribute.
        options: Thresholds and permissions.

    Returns:
        One decision with at most one target, which is one of the neighbours.
    """
    ranked = sorted(neighbours, key=lambda known: (-round(known.similarity, 4), known.id))
    if fact.mood == "retraction":
        return forget(fact, ranked, options)
    findings = [found for known in ranked if (found := find(fact, known, options.similarity_threshold)) is not None]
    if not findings:
        corrected = bare_correction(fact, ranked, options)
        if corrected is not None:
            return corrected
    candidates = _candidates(fact, ranked, findings, options)
    if not findings:
        return _add(fact, ranked, options, candidates)
    best = min(findings, key=lambda found: _rank(fact, found))
    return _settle(fact, best, candidates)


def _rank(fact: Fact, found: Finding) -> tuple[int, bool, float, float]:
    """What comes first: agreement, our own memories, the surest finding, and the memory that says nothing besides."""
    known = found.neighbour
    common = overlap(fact.text, known.text, fact.language)
    return _ORDER[found.verdict], known.id < 0, -found.strength, -round(common.of_old, 4)


def _candidates(
    fact: Fact, ranked: Sequence[Neighbour], findings: Sequence[Finding], options: DecisionOptions
) -> tuple[tuple[int, float], ...]:
    """What was considered: what something was found about, and what is alike enough; the likeliest target first."""
    found = {finding.neighbour.id for finding in findings}
    considered = [
        known for known in ranked if known.id in found or round(known.similarity, 4) >= options.similarity_threshold
    ]
    if len(considered) > 1:
        considered.sort(key=lambda known: (known.id not in found, -relevance(fact, known)))
    return tuple((known.id, round(known.similarity, 4)) for known in considered[: options.max_similar_results])


def _settle(fact: Fact, best: Finding, candidates: tuple[tuple[int, float], ...]) -> Decision:
    known = best.neighbour
    confidence = round(best.strength * (0.6 + 0.4 * fact.confidence), 2)
    if best.verdict == "agrees":
        return Decision(
            "NONE", known.id, known.text, confidence, f"Known already: {best.reason}.", best.source, candidates
        )
    if known.id < 0:
        reason = f"Kept beside a memory that only the caller holds: {best.reason}."
        return Decision("ADD", None, fact.text, confidence, reason, best.source, candidates)
    if best.verdict == "refines":
        text = best.text or fact.text
        return Decision("UPDATE", known.id, text, confidence, f"{best.reason}.", best.source, candidates)
    return Decision("UPDATE", known.id, fact.text, confidence, f"Replaced: {best.reason}.", best.source, candidates)


def _add(
    fact: Fact, ranked: Sequence[Neighbour], options: DecisionOptions, candidates: tuple[tuple[int, float], ...]
) -> Decision:
    nearest = round(ranked[0].similarity, 4) if ranked else 0.0
    if nearest < options.similarity_threshold:
        reason = f"Nothing like it is known (nearest {nearest:.2f})." if ranked else "Nothing is known yet."
        confidence = round(fact.confidence * (1 - 0.2 * nearest), 2)
        return Decision("ADD", None, fact.text, confidence, reason, "similarity", candidates)
    reason = f"Alike (nearest {nearest:.2f}) but about something else, or another value beside it."
    return Decision("ADD", None, fact.text, round(fact.confidence * 0.75, 2), reason, "heuristic", candidates)
