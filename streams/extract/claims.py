"""What a sentence claims: of whom or what, which property, with what value.

Rule of this file: it knows what a claim is and no grammar. Attributes are named so that one sees how many values a
thing can have:

* a noun ("name", "favourite colour", "port"): the thing has one;
* "is …" ("is", "is in", "is allergic to", "is a"): a property in that relation;
* "to …" ("to play", "can swim"): something it does;
* "did …" ("did sell"): something that happened, which no later happening undoes;
* "change": it was changed to the value, whatever the attribute is.
"""

from dataclasses import dataclass
from typing import Final

from schemas.facts import Polarity

MAX_CLAIM: Final = 400
"""Characters of a sentence in which a claim is looked for."""
MAX_PART: Final = 200
"""Characters of a subject, an attribute or a value."""
SPEAKER: Final = "user"


@dataclass(frozen=True)
class Claim:
    """A claim.

    Attributes:
        subject: Who or what, case-folded, without determiners: "user", "user's dog", "red kiln"; None where unread.
        attribute: Which property, see the module.
        value: As told, without a determiner.
        polarity: Whether it is said to be so or not to be so.
    """

    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    polarity: Polarity = "affirmative"

    @property
    def is_read(self) -> bool:
        """Whether the sentence fitted a form."""
        return self.attribute is not None

    @property
    def is_event(self) -> bool:
        """Whether it tells what happened rather than what is."""
        return self.attribute is not None and self.attribute.startswith("did ")


def bounded(claim: Claim) -> Claim:
    """The claim with no part longer than allowed; a longer one is no claim."""
    parts = (claim.subject, claim.attribute, claim.value)
    if any(part is not None and len(part) > MAX_PART for part in parts):
        return Claim(polarity=claim.polarity)
    return claim


_LEFT_EDGES = " \t\n!?;:,…\"'“”„«»()。\uff01\uff1f\uff0c"
"""But a full stop, which begins the names of some files."""
_EDGES = " \t\n.!?;:,…\"'“”„«»()。\uff01\uff1f\uff0c"


def tidy(text: str) -> str:
    """A phrase with single blanks and without punctuation at its edges."""
    words = " ".join(text.split()).rstrip(_EDGES).lstrip(_LEFT_EDGES)
    return words if words[:1] == "." and words[1:2].isalnum() else words.lstrip(_EDGES)
