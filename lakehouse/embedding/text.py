"""The text that is embedded [pure]: one recipe, for what is stored and for what is asked.

Rule of this file: nothing is added (no tags, no names, no prompts), or a question could not meet its fact. Whatever
changes the outcome for any text is a new ``RECIPE``, which makes the old vectors another embedder's.
"""

import unicodedata

RECIPE = "t1"

MAX_CHARS = 65_536
"""What lies beyond is not read. Far more than a model's tokens hold; it bounds the work of one text."""


def embedding_text(text: str) -> str:
    """Make the text to embed: NFC, whitespace collapsed, trimmed, at most ``MAX_CHARS`` characters.

    Half a surrogate pair becomes U+FFFD, as no encoder takes it. Idempotent.
    """
    whole = text.strip()[:MAX_CHARS].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(unicodedata.normalize("NFC", whole).split())[:MAX_CHARS].rstrip()
