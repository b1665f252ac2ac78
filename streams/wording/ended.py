"""That something of the speaker's has ended: "I sold my bike", "we shut down the old cluster".

Rule of this file: it finds what ended, in the sentence's own words; whether anything known is meant, others decide.
"""

import re
from functools import lru_cache
from typing import Final

from streams.ruledata import load

MAX_READ: Final = 200
"""Characters of a sentence in which it is looked for."""
_FORMS: Final = {
    language: (
        re.compile(spec["cut"], re.IGNORECASE),
        tuple(re.compile(form.replace("{what}", "(?P<what>.+)"), re.IGNORECASE) for form in spec["forms"]),
    )
    for language, spec in load("wording", "ended")["languages"].items()
}


@lru_cache(maxsize=4096)
def ended(text: str, language: str) -> str | None:
    """What has ended, or None.

    Args:
        text: One sentence.
        language: ISO 639-1; "und" is read as English.
    """
    cut, forms = _FORMS.get("en" if language == "und" else language, (None, ()))
    if cut is None:
        return None
    for form in forms:
        found = form.match(text[:MAX_READ].strip())
        if found is not None:
            return cut.split(found["what"], maxsplit=1)[0].strip() or None
    return None
