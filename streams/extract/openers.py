"""What stands before the claim of a sentence: "as I said", "sorry, I was wrong", "don't forget that".

Rule of this file: an opener is taken off only where something is left behind it.
"""

from dataclasses import dataclass

from streams.extract.cues import CUES
from streams.extract.remembered import remembered

MAX_OPENERS = 4


@dataclass(frozen=True)
class Opened:
    """A sentence without its openers.

    Attributes:
        text: What is left.
        correction: The words by which it corrects what was said before; empty where it does not.
        forget: Whether it asks to forget what is left.
        remember: Whether it asks to remember what is left.
    """

    text: str
    correction: str = ""
    forget: bool = False
    remember: bool = False


@remembered
def opened(sentence: str) -> Opened:
    """Take the openers off a sentence."""
    text, correction, remember = sentence, "", False
    for _ in range(MAX_OPENERS):
        for name in ("remember", "correction", "lead_in"):
            match = CUES[name].opens(text)
            if match is not None and match.end() and text[match.end() :].strip(" .!?,"):
                correction += text[: match.end()] if name == "correction" else ""
                remember = remember or name == "remember"
                text = text[match.end() :].lstrip()
                break
        else:
            break
    if not correction and "`" not in text:
        forget = CUES["forget"].opens(text)
        if forget is not None and text[forget.end() :].strip(" .!?,"):
            return Opened(text[forget.end() :].lstrip(), forget=True, remember=remember)
        ending = CUES["forget"].within(text)
        if ending is not None and ending.start():
            return Opened(text[: ending.start()], forget=True, remember=remember)
    return Opened(text, correction=correction, remember=remember)
