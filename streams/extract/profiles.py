"""Profiles: what is worth remembering for whom.

Rule of this file: a profile weighs signs of a draft and tells why it leaves one out; signs and weights are data.
"""

from collections.abc import Sequence
from typing import Final, Literal

from schemas.facts import PREVIEW_CHARACTERS, Skip
from streams.extract.code import commands_in, has_form_of_code
from streams.extract.drafts import Draft
from streams.extract.stance import speaks_of_self
from streams.extract.vocabulary import GENERAL, PRIVATE, domains_of, tags_of
from streams.ruledata import load

Profile = Literal["all", "technical", "personal"]
ALL: Final = "all"
_DATA = load("extract", "profiles")
_WEIGHTS: dict[str, dict[str, float]] = {
    name: {sign: float(weight) for sign, weight in spec["weights"].items()} for name, spec in _DATA["profiles"].items()
}
_ENOUGH: dict[str, float] = {name: float(spec["enough"]) for name, spec in _DATA["profiles"].items()}
_REASONS: dict[str, str] = {name: spec["reason"] for name, spec in _DATA["profiles"].items()}
_IDENTITY = frozenset(_DATA["identity"])
_MIN_CHARACTERS = int(_DATA["short"])


def sorted_by(profile: Profile, drafts: Sequence[Draft]) -> tuple[list[Draft], list[Skip]]:
    """What of the drafts a profile wants, in order, and what it leaves out with the reason.

    What asks to forget something is always wanted.
    """
    if profile == ALL:
        return list(drafts), []
    wanted: list[Draft] = []
    unfit: list[Skip] = []
    for draft in drafts:
        if draft.mood == "retraction" or _score(profile, draft) >= _ENOUGH[profile]:
            wanted.append(draft)
        else:
            unfit.append(Skip(text=draft.text[:PREVIEW_CHARACTERS], reason=_REASONS[profile]))
    return wanted, unfit


def _score(profile: Profile, draft: Draft) -> float:
    weights = _WEIGHTS[profile]
    return sum(weights.get(sign, 0.0) for sign in _signs(draft))


def _signs(draft: Draft) -> list[str]:
    """What can be seen of a draft, by the names that profiles weigh."""
    tags = tags_of(draft.text, draft.code)
    domains = domains_of(tags)
    subject, attribute = draft.claim.subject or "", draft.claim.attribute or ""
    seen = {
        "code": draft.code is not None and not draft.code.is_shell,
        "command": bool(commands_in(draft.text)) or (draft.code is not None and draft.code.is_shell),
        "trade": bool(domains - {PRIVATE}),
        "private": PRIVATE in domains,
        "untagged": tags == (GENERAL,),
        "identifier": has_form_of_code(draft.text),
        "identity": attribute in _IDENTITY and subject in {"user", ""},
        "person": speaks_of_self(draft.text, draft.language) or subject.split("'s ")[0] in {"user", "we"},
        "preference": draft.mood == "preference",
        "intention": draft.mood in {"plan", "decision"},
        "instruction": draft.mood == "instruction",
        "short": len(draft.text) < _MIN_CHARACTERS,
    }
    return [sign for sign, is_seen in seen.items() if is_seen]
