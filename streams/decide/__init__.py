"""What a fact does to what is known: ADD, UPDATE, DELETE or NONE.

Rule of this package: pure functions of a fact and its neighbours. Likeness finds candidates; values, polarity, subject
and attribute give the verdict.
"""

from streams.decide.decide import decide
from streams.decide.types import Decision, DecisionOptions, Neighbour

__all__ = ["Decision", "DecisionOptions", "Neighbour", "decide"]
