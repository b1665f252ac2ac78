"""Prose cut into sentences, so that nothing is lost and no address, version or inline code is cut.

Rule of this file: the sentences of a text, joined, hold every character of it that is not blank.
"""

import re

import sentencex

_BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)]|#{1,6})\s+(?=\S)")
_PROTECTED = re.compile(r"`[^`\n]{1,300}`|https?://[^\s<>\"]{1,2000}|\b\d+(?:\.\d+)+\b|\b[\w-]+\.[a-z]{1,5}\b(?=[^\s])")
_HOLD = "\ue000"
"""A private-use letter stands for a full stop that ends nothing."""
_ENDS = ".!?;"
_UNDIVIDED = re.compile(r"[\w ,'\u2019-]+[.!?]?")
"""Nothing in it can end a sentence before its last character."""
_LABEL = re.compile(r"^\s*[^\W\d][\w '-]{1,30}:\s+\S")
"""A line such as "Name: Ruta"; two of them in a row are two sentences."""
_ONLY_MARKS = re.compile(r"^[\W_]*$")
_CUTS = re.compile(
    r"(?<=[^\s;]);\s+(?=\S)(?!(?:it|it's|its|they|their|that|this|these|those|which|he|she)\b)"
    r"|(?<=[a-z]{2}[.!?])\s+(?=(?:I|I'[a-z]+|My|We|It|He|She|They|You|Your|The|This|That|But|And|So)\b)"
)
"""Where a sentence ends for certain: at a semicolon, unless what follows leans on what stands before, and where a
pronoun begins behind a word and its stop."""


def sentences_of(text: str, language: str) -> list[str]:
    """The sentences of a text, in order, each stripped of blanks and of list marks.

    Args:
        text: Prose, lines as told: a line that is a list item or ends a paragraph ends a sentence.
        language: ISO 639-1, or "und".
    """
    found: list[str] = []
    for paragraph in _paragraphs(text):
        held = _PROTECTED.sub(_hold, paragraph)
        undivided = _UNDIVIDED.fullmatch(held)
        parts = [held] if undivided else sentencex.segment(language if language != "und" else "en", held)
        for sentence in filter(None, (_release(part).strip() for part in parts)):
            if found and _ONLY_MARKS.match(sentence) and not any(letter.isalnum() for letter in sentence):
                found[-1] += sentence if sentence[0] in _ENDS else f" {sentence}"
            else:
                found.extend(piece.strip() for piece in _CUTS.split(sentence) if piece.strip())
    return found


def _paragraphs(text: str) -> list[str]:
    """Lines joined where a sentence runs on, and apart at list items, headings and blank lines."""
    paragraphs: list[str] = []
    open_end = labelled = False
    for line in text.split("\n"):
        if not line.strip():
            open_end = False
            continue
        bullet = _BULLET.match(line)
        content = line[bullet.end() :] if bullet else line.strip()
        labelled, label_before = bool(_LABEL.match(line)), labelled
        if open_end and not bullet and not (labelled and label_before):
            paragraphs[-1] += f" {content.strip()}"
        else:
            paragraphs.append(content.strip())
        open_end = bullet is None or not line.lstrip().startswith("#")
    return paragraphs


def _hold(match: re.Match[str]) -> str:
    return match.group().replace(".", _HOLD).replace("?", "\ue001").replace("!", "\ue002").replace(";", "\ue003")


def _release(text: str) -> str:
    return text.replace(_HOLD, ".").replace("\ue001", "?").replace("\ue002", "!").replace("\ue003", ";")
