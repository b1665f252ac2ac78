"""Changes that a sentence itself reports: "the limit went from 5 to 7".

Rule of this file: it finds what was and what is, in the sentence's own words; whose value it is, and whether anything
known is meant, others decide. How each language says it is data (``reported.yaml``).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from streams.ruledata import load

MAX_VALUE: Final = 80
"""Characters of a value; what is longer is a clause and no value."""
MAX_READ: Final = 400
"""Characters of a sentence in which a change is looked for."""
_QUOTES: Final = "\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d`"


@dataclass(frozen=True)
class Reported:
    """A change.

    Attributes:
        actor: What stands ahead of the verb: "Ada" in "Ada changed her desk from …", "the limit" in "the limit went …".
        thing: What stands between the verb and the values, "her desk"; often empty.
        old: The value that was.
        new: The value that is.
    """

    actor: str
    thing: str
    old: str
    new: str


@dataclass(frozen=True)
class _Wording:
    change: re.Pattern[str]
    before: bool
    values: re.Pattern[str]


def _value(name: str, end: str) -> str:
    quoted = rf"[{_QUOTES}](?P<{name}_quoted>[^{_QUOTES}]{{1,{MAX_VALUE}}})[{_QUOTES}]"
    return rf"(?:{quoted}|(?P<{name}>[^{_QUOTES},;]{{1,{MAX_VALUE}}}?)){end}"


def _wordings() -> dict[str, _Wording]:
    return {
        language: _Wording(
            re.compile(spec["change"], re.IGNORECASE),
            spec["where"] == "before",
            re.compile(
                f"(?:{spec['of']}){_value('old', '')}(?:{spec['to']}){_value('new', '')}(?=$|\\s*(?:{spec['end']}))",
                re.IGNORECASE,
            ),
        )
        for language, spec in load("wording", "reported")["languages"].items()
    }


_WORDINGS = _wordings()


@lru_cache(maxsize=4096)
def reported_change(text: str, language: str) -> Reported | None:
    """The change that a sentence reports, or None.

    Args:
        text: One sentence.
        language: ISO 639-1; "und" is read as English.
    """
    wording = _WORDINGS.get("en" if language == "und" else language)
    sentence = text[:MAX_READ].strip()
    if wording is None or (found := wording.values.search(sentence)) is None:
        return None
    verbs = list(wording.change.finditer(sentence, 0, found.start() if wording.before else len(sentence)))
    if not verbs:
        return None
    old = (found["old_quoted"] or found["old"] or "").strip()
    new = (found["new_quoted"] or found["new"] or "").strip()
    if not old or not new or old.casefold() == new.casefold():
        return None
    ahead = [verb for verb in verbs if verb.end() <= found.start()]
    actor, thing = ahead[-1].span() if ahead else (found.start(), found.start())
    return Reported(sentence[:actor].strip(), sentence[thing : found.start()].strip(), old, new)
