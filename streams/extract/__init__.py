"""What was said, understood: sentences told apart, facts taken, the rest skipped with a reason.

Rule of this package: pure functions. Words, phrases and sentence forms are data (``data/*.yaml``), read once; code
knows forms of language, never particular sentences.
"""

from streams.extract.claims import Claim
from streams.extract.interaction import extract_interaction
from streams.extract.reading import read_claim
from streams.extract.turns import EXTRACTOR, extract

__all__ = [
    "EXTRACTOR",
    "Claim",
    "extract",
    "extract_interaction",
    "read_claim",
]
