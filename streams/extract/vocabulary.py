"""Tags and the domain of a text, by a vocabulary of its own (``vocabulary.yaml``).

Rule of this file: a tag is found as a word, never inside one; plain words that are also names count only as spelt.
"""

import re
from collections import Counter
from typing import Final

from streams.extract.code import Code
from streams.extract.lowered import lowered
from streams.ruledata import load

MAX_TAGS: Final = 12
GENERAL: Final = "general"
"""The tag of a text in which no other is found."""
PRIVATE: Final = "personal"
"""The domain of what people tell of themselves."""

_DATA = load("extract", "vocabulary")
_CODE_LANGUAGES: dict[str, str] = _DATA["code_languages"]
_ORDER: list[str] = _DATA["order"]
_NOT_BEFORE = r"(?<![\w@#])(?<![./-](?=\w))"
_NOT_AFTER = r"(?![\w#])(?!\+\+)(?!-?\w)"


def _index() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Spellings to tags (case-folded), exact spellings to tags, tags to domains."""
    exact: dict[str, str] = {}
    for tag, spellings in _DATA["exact"].items():
        exact.update(dict.fromkeys(spellings, tag))
    folded: dict[str, str] = {}
    domains: dict[str, str] = {}
    for domain, tags in _DATA["domains"].items():
        for tag, aliases in tags.items():
            domains.setdefault(tag, domain)
            own = [] if tag in _DATA["exact"] else [tag, tag.replace("-", " ")]
            for spelling in [*own, *aliases]:
                if spelling not in exact:
                    folded.setdefault(spelling.casefold(), tag)
    return folded, exact, domains


_FOLDED, _EXACT, _DOMAINS = _index()


def _finder(spellings: list[str]) -> re.Pattern[str]:
    longest_first = sorted(spellings, key=len, reverse=True)
    words = [word for word in longest_first if word[0].isascii()]
    signs = [word for word in longest_first if not word[0].isascii()]
    pattern = f"{_NOT_BEFORE}(?:{'|'.join(map(re.escape, words))}){_NOT_AFTER}"
    return re.compile("|".join([pattern, *map(re.escape, signs)]))


_FIND_FOLDED = _finder(list(_FOLDED))
_FIND_EXACT = _finder(list(_EXACT))
_PIECE = re.compile(r"[a-z0-9]+")
_FIRST_PIECES = frozenset(
    piece.group() for spelling in (*_FOLDED, *_EXACT) if (piece := _PIECE.search(spelling.casefold())) is not None
)


def _found(text: str) -> list[tuple[int, str, str]]:
    """Spellings of the vocabulary in a text: place, the spelling's tag, and the spelling."""
    if text.isascii() and _FIRST_PIECES.isdisjoint(_PIECE.findall(text.casefold())):
        return []
    found = [(m.start(), _FOLDED[m.group()], m.group()) for m in _FIND_FOLDED.finditer(lowered(text))]
    found += [(match.start(), _EXACT[match.group()], match.group()) for match in _FIND_EXACT.finditer(text)]
    return found


def tags_of(text: str, code: Code | None = None) -> tuple[str, ...]:
    """The tags of a text and its code, in the order found, without repeats.

    Args:
        text: The fact's text.
        code: Its code, whose language and well-known names become tags.
    """
    found = [(place, tag) for place, told, spelling in _found(text) for tag in _tags_in(spelling, told)]
    tags = [tag for _, tag in sorted(found)]
    if code is not None:
        tags += [name.casefold() for name in code.used() if name.casefold() in _DOMAINS]
        language = _CODE_LANGUAGES.get(code.language or "")
        if language:
            tags.append(language)
        tags += [_FOLDED[word] for word in ("async",) if re.search(rf"\b{word}\b", code.text)]
    return tuple(dict.fromkeys(tags))[:MAX_TAGS] or (GENERAL,)


def is_of_a_trade(text: str) -> bool:
    """Whether a word of a trade is in a text: one with a tag of another domain than private life."""
    return any(_DOMAINS.get(tag) not in {None, PRIVATE} for _, tag, _ in _found(text))


def domains_of(tags: tuple[str, ...]) -> frozenset[str]:
    """The domains of tags; those without one are left out."""
    return frozenset(_DOMAINS[tag] for tag in tags if tag in _DOMAINS)


def _tags_in(spelling: str, tag: str) -> list[str]:
    """The tag of a spelling and those of its words: "React Query" is about React too."""
    folded = spelling.casefold()
    return [*(_FOLDED[part] for part in folded.split() if part in _FOLDED and part != folded), tag]


def domain_of(tags: tuple[str, ...]) -> str | None:
    """The domain that most tags belong to; of equals the one that comes first in the vocabulary's order."""
    domains = [_DOMAINS[tag] for tag in tags if tag in _DOMAINS]
    if not domains:
        return None
    counts = Counter(domains)
    return min(counts, key=lambda domain: (-counts[domain], _ORDER.index(domain)))
