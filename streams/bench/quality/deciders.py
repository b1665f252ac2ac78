"""Plain ways to decide, as deciders: the same facts, the same candidates, no rules of ours.

Rule of this file: each looks at the nearest memory alone.
"""

from collections.abc import Sequence
from typing import Final

from schemas.facts import Fact
from schemas.memory import Event
from streams.bench.quality import baselines
from streams.bench.quality.minds import Decider
from streams.decide import Decision, DecisionOptions, Neighbour


async def always_add(fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions) -> Decision:  # noqa: ARG001
    """Everything is new."""
    return _decision("ADD", fact, None)


async def by_cosine(fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions) -> Decision:
    """What is alike enough is replaced; the same text is known."""
    nearest = neighbours[0] if neighbours else None
    if nearest is None or nearest.similarity < options.similarity_threshold:
        return _decision("ADD", fact, None)
    return _decision("NONE" if nearest.text == fact.text else "UPDATE", fact, nearest)


async def by_cipher(fact: Fact, neighbours: Sequence[Neighbour], options: DecisionOptions) -> Decision:  # noqa: ARG001
    """See ``baselines.cipher``."""
    nearest = neighbours[0] if neighbours else None
    event = baselines.cipher(fact.text, nearest.text if nearest else None, nearest.similarity if nearest else 0.0)
    return _decision(event, fact, None if event == "ADD" else nearest)


def _decision(event: Event, fact: Fact, target: Neighbour | None) -> Decision:
    text = target.text if target is not None and event in {"NONE", "DELETE"} else fact.text
    return Decision(event, target.id if target else None, text, 0.5, "plain", "similarity")


PLAIN: Final[dict[str, Decider]] = {"cipher": by_cipher, "cosine_80": by_cosine, "always_add": always_add}
