"""Where somebody who keeps a project says of a symbol that it is deprecated: a hint, and never more.

Rule of this file: pure. The symbol must be marked as code or written with its dots, in the same sentence as the word,
and the sentence must neither deny nor ask.
"""

import re
from typing import Final

from lakehouse.external.changelog_lines import DATA
from lakehouse.external.changelog_words import SENTENCE

_HINT: Final = re.compile(r"\bdeprecat(?:e|es|ed|ing|ion)\b", re.IGNORECASE)
_DENIED: Final = re.compile(
    "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in (*DATA["negations"], *DATA["denials"])), re.IGNORECASE
)
_QUOTED: Final = re.compile(r"^\s*>.*$", re.MULTILINE)
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)


def hint_of(text: str, symbol: str) -> str | None:
    """The sentence that says so; None where none does. What is quoted from others, and boxes of code, are not read.

    Args:
        text: Markdown.
        symbol: Whole; its last two segments are enough, and the last one where it is marked as code.
    """
    ends = symbol.split(".")
    dotted = re.escape(".".join(ends[-2:]))
    last = re.escape(ends[-1])
    named = re.compile(rf"`[^`]*?(?<!\w){last}(?:\([^`]*)?`" + (rf"|(?<!\w){dotted}(?!\w)" if len(ends) > 1 else ""))
    for paragraph in re.split(r"\n\s*(?:\n|[-*+]\s)", _QUOTED.sub("", _FENCED.sub("", text))):
        for sentence in SENTENCE.split(" ".join(paragraph.split())):
            said = _HINT.search(sentence) and named.search(sentence)
            if said and not _DENIED.search(sentence) and not sentence.endswith("?"):
                return sentence
    return None
