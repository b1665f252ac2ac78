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
_ENDS: Final = " .!\u3002\uff01"
_QUOTES: Final = "\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d`"


@dataclass(frozen=True)
class Reported:
    """A change.

    Attributes:
        actor: What stands ahead of the verb: "Ada" in "Ada changed her desk from …", "the limit" in "the limit went …".
        thing: What stands between the verb and the values, "her desk"; often empty.
        old: The value that was.
        new: The value that is.
        statement: The sentence as if the old value had not been named, "my boss is Lucy"; None where it has to be made
            of the other parts.
    """

    actor: str
    thing: str
    old: str
    new: str
    statement: str | None = None


@dataclass(frozen=True)
class _Wording:
    change: re.Pattern[str]
    before: bool
    values: re.Pattern[str]
    replaced: tuple[re.Pattern[str], ...]


def _value(name: str, end: str) -> str:
    quoted = rf"[{_QUOTES}](?P<{name}_quoted>[^{_QUOTES}]{{1,{MAX_VALUE}}})[{_QUOTES}]"
    return rf"(?:{quoted}|(?P<{name}>[^{_QUOTES},;]{{1,{MAX_VALUE}}}?)){end}"


def _sentence(row: str) -> re.Pattern[str]:
    pattern = row.replace("{old}", rf"(?P<old>[^,;]{{1,{MAX_VALUE}}}?)").replace(
        "{new}", rf"(?P<new>[^,;]{{1,{MAX_VALUE}}}?)"
    )
    return re.compile(pattern, re.IGNORECASE)


def _wordings() -> dict[str, _Wording]:
    return {
        language: _Wording(
            re.compile(spec["change"], re.IGNORECASE),
            spec["where"] == "before",
            re.compile(
                f"(?:{spec['of']}){_value('old', '')}(?:{spec['to']}){_value('new', '')}(?=$|\\s*(?:{spec['end']}))",
                re.IGNORECASE,
            ),
            tuple(_sentence(row) for row in spec["replaced"]),
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
    if wording is None:
        return None
    return _replaced(wording, sentence) or _changed(wording, sentence)


def _replaced(wording: _Wording, sentence: str) -> Reported | None:
    """Both values are named, one of them as what it is no longer."""
    bare = sentence.rstrip(_ENDS)
    for pattern in wording.replaced:
        found = pattern.match(bare)
        if found is not None:
            old, new, lead = found["old"].strip(), found["new"].strip(), found["lead"].strip()
            verb = found.groupdict().get("verb") or ""
            gap = " " if bare.isascii() or " " in bare else ""
            return Reported(lead, "", old, new, gap.join(part for part in (lead, verb, new) if part))
    return None


def _changed(wording: _Wording, sentence: str) -> Reported | None:
    """A verb of change, with what was and what is."""
    if (found := wording.values.search(sentence)) is None:
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
