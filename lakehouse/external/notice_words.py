"""What a notice says in words: of the whole or of a part, since when, until when, and what to use instead.

Rule of this file: pure. Words are data (``data/notices.yaml``); without any of them a notice still counts by where it
stands. A notice is about the whole unless its first sentence says otherwise.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from lakehouse.external.pages import sentences_of
from lakehouse.ruledata import load_data

About = Literal["whole", "part", "other"]
"""What a notice is about: the thing that it stands on, a part or use of it, or other things alone."""
_DATA: Final = load_data("lakehouse.external", "notices")


def _words(key: str) -> frozenset[str]:
    return frozenset(_DATA[key].split())


def _pattern(*told: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in told), re.IGNORECASE)


_PARTS: Final = _words("parts")
_MEMBERS: Final = _words("members")
_CONDITIONS: Final = _words("conditions")
_CONSEQUENCE: Final = _pattern(_DATA["consequence"])
_NOT_DOING: Final = _words("not_doing")
_OWN: Final = "|".join(sorted(_words("own")))
_THIS: Final = _pattern(
    rf"\b(?:this|these) (?:[\w-]+ ){{0,2}}(?:{_OWN})s?\b", rf"^the (?:[\w-]+ )?(?:{_OWN})\b(?! ?[`\w])"
)
_THIS_MODULE: Final = _pattern(rf"\bthis (?:[\w-]+ ){{0,2}}(?:{'|'.join(sorted(_words('modules')))})\b")
_RESTRICTING: Final = _pattern(rf"\b(?:{'|'.join(sorted(_words('restricting')))})\b")
_CASES: Final = _pattern(*_DATA["cases"])
_PREDICATES: Final = _pattern(_DATA["predicates"])
_EXCEPTING: Final = _pattern(_DATA["excepting"])
_NEGATIONS: Final = _pattern(*_DATA["negations"])
_ADVICE: Final = _pattern(_DATA["advice"])
_STOP: Final = _pattern(_DATA["stop"])
_REMOVED: Final = re.compile(_DATA["removed"])
_SINCE: Final = re.compile(_DATA["since"])
_VERSION: Final = re.compile(r"(?<![\w.])v?(\d+(?:\.\w+)*(?:[+-]\w[\w.]*)?)")
_CODE: Final = re.compile(r"`([^`]+)`")
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*(?:\(\))?")
_DOING: Final = re.compile(r"\w{2,}ing")
_BARE: Final = re.compile(
    r"(?:(?:^|[,;:] |\bplease )use|\bin favou?r of|\b(?:replaced|superseded) by|\brenamed to) "
    r"\.?([A-Za-z_]\w*(?:\.\w+)*)(?:\(\))?(?= instead\b|[,;]|\.?$)",
    re.IGNORECASE,
)
"""A name that is not marked as code, where nothing else can stand."""
_PHRASE: Final = _pattern(rf"^the (?:[`\w-]+ ){{1,5}}(?:{_OWN}|{'|'.join(sorted(_PARTS))})\.?$")
"""A notice that is no sentence but names what it is about."""
_ARTICLE: Final = _pattern(r"^(?:the|an?|any|optional|all|both)\s+")
FIRST_WORDS: Final = 3
"""Of a sentence without a verb of ours, in which a part is looked for."""


@dataclass(frozen=True)
class Own:
    """The thing that a notice stands on.

    Attributes:
        name: Whole, such as "ssl.SSLContext".
        parameters: Of its signature.
        is_module: Whether it is one: a notice in a module's text must say that it speaks of the module.
    """

    name: str
    parameters: Collection[str] = ()
    is_module: bool = False

    @property
    def last(self) -> str:
        """The name as it is called where its place is known."""
        return self.name.rpartition(".")[2]

    def is_named_by(self, told: str) -> bool:
        """Whether a name in a text is this one, whole or by its end."""
        name = told.strip().removesuffix("()").lstrip("@.")
        return bool(name) and (name == self.name or self.name.endswith(f".{name}"))


@dataclass(frozen=True)
class Reading:
    """What a notice says.

    Attributes:
        about: See ``About``.
        is_plain: Whether it says nothing but that the thing itself is deprecated, or what to use instead.
        parts: Parameters that it names, where it is about a part.
    """

    about: About
    is_plain: bool = True
    parts: tuple[str, ...] = ()


def is_taken_back(text: str) -> bool:
    """Whether it says that something is not, or no longer, deprecated."""
    return _NEGATIONS.search(text) is not None


def reading_of(text: str, own: Own) -> Reading:
    """What the words of a notice are about.

    Args:
        text: Without the label; code between backticks. Empty is about the whole.
        own: What it stands on.
    """
    first = next(sentences_of(text), "")
    if not first:
        return Reading("other" if own.is_module else "whole")
    found = _PREDICATES.search(first)
    subject = first[: found.start()] if found else first
    if own.is_module:
        return _of_module(first, subject, own)
    if found and (_EXCEPTING.search(subject) is not None):
        return Reading("other")
    if _is_use(first) or _is_part(subject, own, is_sentence=found is not None):
        return Reading("part", parts=_named(subject, own))
    is_own = _THIS.search(first) is not None or _names(subject, own)
    if found and not is_own and _CODE.search(subject):
        return Reading("other", is_plain=False)
    return Reading("whole", is_plain=is_own or not subject.strip() or _ADVICE.match(first) is not None)


def _of_module(first: str, subject: str, own: Own) -> Reading:
    if _is_part(subject, own, is_sentence=subject != first):
        return Reading("part")
    is_own = _THIS_MODULE.search(first) is not None or re.search(rf"(?<![\w.]){re.escape(own.name)}(?!\.?\w)", first)
    return Reading("whole" if is_own else "other")


def _is_use(first: str) -> bool:
    """Whether it is about a case, a condition, or about doing something in a certain way."""
    word = first.split(maxsplit=1)[0].strip(",").lower()
    is_doing = _DOING.fullmatch(word) is not None and word not in _NOT_DOING
    consequence = _CONSEQUENCE.search(first)
    is_condition = word in _CONDITIONS and (consequence is None or _ADVICE.search(first, consequence.end()) is None)
    return is_doing or is_condition or _CASES.search(first) is not None


def _is_part(subject: str, own: Own, *, is_sentence: bool) -> bool:
    """Whether a part, a parameter or a restricted use is what is spoken of."""
    if not is_sentence and _ADVICE.match(subject):
        return False
    plain = _ARTICLE.sub("", subject.strip()).replace("`", "")
    words = re.findall(r"[\w*]+(?:\.\w+)*", plain)
    looked_at = words if is_sentence else words[:FIRST_WORDS]
    if not words or (is_sentence and _THIS.match(subject)):
        return False
    if not is_sentence and _PHRASE.match(subject) and not _names(subject, own):
        return True
    parts = _PARTS if _names(subject, own) else _PARTS | _MEMBERS
    is_part = any(word.lower() in parts and not own.is_named_by(word) for word in looked_at)
    return words[0].lstrip("*") in own.parameters or is_part or _is_restricted(looked_at)


def _is_restricted(words: Sequence[str]) -> bool:
    return _RESTRICTING.search(" ".join(words[1:])) is not None


def _named(subject: str, own: Own) -> tuple[str, ...]:
    words = re.findall(r"\w+", subject)
    return tuple(dict.fromkeys(word for word in words if word in own.parameters))


def _names(subject: str, own: Own) -> bool:
    """Whether a text names the thing, be it as another class's; a plain word only where no language has it."""
    codes = [code.strip().removesuffix("()") for code in _CODE.findall(subject)]
    if any(code.rpartition(".")[2] == own.last for code in codes):
        return True
    is_word = own.last.isalpha() and own.last.islower()
    return not is_word and any(own.is_named_by(name.rstrip(".")) for name in _NAME.findall(subject))


def versions_of(label: str) -> tuple[str, ...]:
    """The versions in the label of a notice, in order, in any language: since when, and then when it is gone."""
    return tuple(_VERSION.findall(label))


def since_of(text: str) -> str | None:
    """Since when, as prose says it."""
    found = _SINCE.search(_REMOVED.sub("", text))
    return found[1] if found else None


def removed_in(text: str) -> str | None:
    """When it is gone, as prose says it; None where it says no version."""
    found = _REMOVED.search(text)
    return found[1] if found else None


def replacements_of(text: str, own: Own) -> tuple[str, ...]:
    """What is to be used instead, in the order in which it is named; the thing itself is none.

    Args:
        text: Of the notice, without the label.
        own: What it stands on.
    """
    found: dict[str, None] = {}
    for sentence in sentences_of(text):
        advice = _ADVICE.search(sentence)
        while advice is not None:
            rest = sentence[advice.end() :]
            stop = _STOP.search(rest)
            told = rest[: stop.start()] if stop else rest
            names = [code for code in _CODE.findall(told) if _NAME.fullmatch(code.strip())]
            bare = _BARE.search(sentence)
            for name in names or ([bare[1]] if bare and "`" not in told else []):
                if not own.is_named_by(name):
                    found.setdefault(name.strip().removesuffix("()"))
            advice = None if found else _ADVICE.search(sentence, advice.end())
    return tuple(found)


@lru_cache(maxsize=4096)
def _prose_of(name: str) -> re.Pattern[str]:
    own = r"`?(?:\w+\.)*" + re.escape(name) + r"(?:\(\))?`?"
    return _pattern(*(told.replace("{own}", _OWN).replace("{name}", own) for told in _DATA["prose"]))


def is_prose_notice(paragraph: str, own: Own) -> bool:
    """Whether a paragraph of a description says that the whole is deprecated, without being marked as a notice."""
    if is_taken_back(paragraph) or "deprecat" not in paragraph.lower():
        return False
    return _prose_of(own.last).search(paragraph) is not None
