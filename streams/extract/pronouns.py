"""What a pronoun stands for in languages other than English, by the gender that articles tell.

Rule of this file: pronouns and articles are data (``dialogue.yaml``); only the nearest sentence that has a thing of
that gender is asked, and where none has, the words stay as told. Articles are matched in small letters, so that what
was matched is a key of their table.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from streams.extract.antecedents import LOOK_BACK, Resolved, Said
from streams.extract.lowered import lowered
from streams.extract.reading import read_claim
from streams.ruledata import load


@dataclass(frozen=True)
class _Tongue:
    pronoun: re.Pattern[str]
    article: re.Pattern[str]
    thing: re.Pattern[str]
    articles: dict[str, tuple[str, frozenset[str]]]
    """Article → the definite one to tell the thing with, and the pronouns that can stand for it."""


def _tongue(spec: dict[str, str]) -> _Tongue:
    articles = {}
    for row in spec["articles"].split("|"):
        article, definite, *pronouns = row.split()
        articles[article] = (definite.replace("_", ""), frozenset(pronouns))
    names = "|".join(map(re.escape, sorted(articles, key=len, reverse=True)))
    return _Tongue(
        re.compile(spec["pronoun"], re.IGNORECASE | re.DOTALL),
        re.compile(spec["article"].replace("{articles}", names)),
        re.compile(spec["thing"]),
        articles,
    )


_TONGUES: Final = {language: _tongue(spec) for language, spec in load("extract", "dialogue")["genders"].items()}


def leading_pronoun(text: str, language: str) -> re.Match[str] | None:
    """The pronoun that a sentence begins with; the rest is matched too."""
    tongue = _TONGUES.get(language)
    return tongue.pronoun.match(text) if tongue is not None else None


def told_in_full(pronoun: re.Match[str], language: str, before: Sequence[Said], speaker: str) -> Resolved | None:
    """The sentence with its leading pronoun replaced, or None where nothing fits.

    Args:
        pronoun: As ``leading_pronoun`` gives it.
        language: ISO 639-1, one that has pronouns here.
        before: What was said before, oldest first.
        speaker: Who "I" is.
    """
    tongue = _TONGUES[language]
    for said in reversed(before[-LOOK_BACK:]):
        name = _thing(tongue, said, pronoun["it"].casefold()) if said.language == language else None
        if name is not None:
            replaced = f"{name}{pronoun['rest']}"
            return Resolved(replaced, read_claim(replaced, language, speaker), said.source)
    return None


def _thing(tongue: _Tongue, said: Said, pronoun: str) -> str | None:
    place = 0
    for article in tongue.article.finditer(lowered(said.text)):
        thing = tongue.thing.match(said.text, article.end()) if article.start() >= place else None
        if thing is None:
            continue
        place = thing.end()
        definite, pronouns = tongue.articles[article.group()]
        if pronoun in pronouns:
            return f"{definite}{thing['name']}" if definite.endswith("'") else f"{definite} {thing['name']}".strip()
    return None
