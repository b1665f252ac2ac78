"""Secrets are replaced by ``[masked:<class>]`` before anything else sees a text.

Rule of this file: it works by shape alone, in time linear in the text, and masking twice is masking once. The shapes
are data (``secrets.yaml``). E-mail addresses are a class of their own that is off by default: people want to be asked
"what is my e-mail address?".
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.commands import CallMetadata, Command
from schemas.conversation import Turn
from schemas.facts import Masked
from streams.extract.checks import CHECKS, TRAILING
from streams.ruledata import load

MAX_ROUNDS = 4
"""Masking may bring two texts together that only then look like a secret; each round leaves fewer characters."""
MAX_NAME = 256
MAX_TOPIC = 1024
MAX_MEMORY = 20_000
MAX_DEPTH = 50
"""Metadata nested deeper than this is replaced as a whole."""


@dataclass(frozen=True)
class SecretRule:
    """One shape."""

    secret: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    folded: bool
    check: Callable[[str], bool] | None

    def may_occur(self, text: str, folded: str) -> bool:
        """Whether one of the literals that every match holds is there at all."""
        where = folded if self.folded else text
        return not self.hints or any(hint in where for hint in self.hints)


def _rules(rows: Sequence[Mapping[str, Any]]) -> tuple[SecretRule, ...]:
    return tuple(
        SecretRule(
            secret=row["secret"],
            pattern=re.compile(row["pattern"]),
            hints=tuple(row["hints"]),
            folded=row.get("fold") == "true",
            check=CHECKS[row["check"]] if "check" in row else None,
        )
        for row in rows
    )


_DATA = load("extract", "secrets")
DEFAULT_RULES = _rules(_DATA["rules"])
EMAIL_RULES = _rules(_DATA["optional"])


def mask(text: str, *, emails: bool = False) -> tuple[str, tuple[Masked, ...]]:
    """Replace each secret by its class.

    Args:
        text: Any text, of any length.
        emails: Mask e-mail addresses too.

    Returns:
        The text, and how many secrets of which class were found, by class name.
    """
    counts: Counter[str] = Counter()
    masked = _mask(text, (*DEFAULT_RULES, *EMAIL_RULES) if emails else DEFAULT_RULES, counts)
    return masked, _told(counts)


def mask_turn(turn: Turn, *, emails: bool = False) -> tuple[Turn, tuple[Masked, ...]]:
    """Mask what a turn says: content, name, topic and every string in its metadata. Ids stay as they are."""
    counts: Counter[str] = Counter()
    walk = _walker(counts, emails=emails)
    changed: dict[str, Any] = {"content": walk(turn.content)}
    if turn.name is not None:
        changed["name"] = walk(turn.name)[:MAX_NAME]
    if turn.conversation_topic is not None:
        changed["conversation_topic"] = walk(turn.conversation_topic)[:MAX_TOPIC]
    if turn.metadata is not None:
        changed["metadata"] = _mask_json(turn.metadata, walk)
    return turn.model_copy(update=changed), _told(counts)


def mask_command(command: Command, *, emails: bool = False) -> tuple[Command, tuple[Masked, ...]]:
    """Mask what a command says: its texts, the memories it tells of, its topic and all metadata."""
    counts: Counter[str] = Counter()
    walk = _walker(counts, emails=emails)
    changed: dict[str, Any] = {}
    if isinstance(command.interaction, str):
        changed["interaction"] = walk(command.interaction)
    elif command.interaction is not None:
        changed["interaction"] = tuple(walk(text) for text in command.interaction)
    if command.existing_memories:
        changed["existing_memories"] = tuple(
            memory.model_copy(
                update={
                    "text": walk(memory.text)[:MAX_MEMORY],
                    "metadata": None if memory.metadata is None else _mask_json(memory.metadata, walk),
                }
            )
            for memory in command.existing_memories
        )
    if command.context is not None and command.context.conversation_topic is not None:
        topic = walk(command.context.conversation_topic)[:MAX_TOPIC]
        changed["context"] = command.context.model_copy(update={"conversation_topic": topic})
    if command.memory_metadata is not None:
        changed["memory_metadata"] = _mask_call_metadata(command.memory_metadata, walk)
    return command.model_copy(update=changed), _told(counts)


def _mask_call_metadata(metadata: CallMetadata, walk: Callable[[str], str]) -> CallMetadata:
    dumped = metadata.model_dump(by_alias=True, exclude_unset=True)
    return CallMetadata.model_construct(
        _fields_set=metadata.model_fields_set,
        project_id=metadata.project_id,
        user_id=metadata.user_id,
        environment=None if metadata.environment is None else walk(metadata.environment)[:MAX_NAME],
        **{key: _mask_json(dumped[key], walk) for key in metadata.model_extra or {}},
    )


def _walker(counts: Counter[str], *, emails: bool) -> Callable[[str], str]:
    rules = (*DEFAULT_RULES, *EMAIL_RULES) if emails else DEFAULT_RULES
    return lambda text: _mask(text, rules, counts)


def _mask(text: str, rules: Sequence[SecretRule], counts: Counter[str], rounds: int = MAX_ROUNDS) -> str:
    masked, folded = text, text.casefold()
    for rule in rules:
        if rule.may_occur(masked, folded):
            masked = _apply(rule, masked, counts)
    return masked if masked == text or rounds == 1 else _mask(masked, rules, counts, rounds - 1)


def _apply(rule: SecretRule, text: str, counts: Counter[str]) -> str:
    part: str | int = "secret" if "secret" in rule.pattern.groupindex else 0
    replacement = f"[masked:{rule.secret}]"

    def replace(match: re.Match[str]) -> str:
        whole, found = match.group(), match.group(part)
        if found is None or (rule.check is not None and not rule.check(found)):
            return whole
        start = match.start(part) - match.start()
        kept = found.rstrip(TRAILING) if part else found
        counts[rule.secret] += 1
        return whole[:start] + replacement + whole[start + len(kept) :]

    return rule.pattern.sub(replace, text)


def _mask_json(value: Any, walk: Callable[[str], str], depth: int = 0) -> Any:
    if isinstance(value, str):
        return walk(value)
    if depth > MAX_DEPTH and isinstance(value, (dict, list)):
        return "[masked:nested]"
    if isinstance(value, dict):
        return {walk(key): _mask_json(item, walk, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_mask_json(item, walk, depth + 1) for item in value]
    return value


def _told(counts: Counter[str]) -> tuple[Masked, ...]:
    return tuple(Masked(secret=secret, count=counts[secret]) for secret in sorted(counts))
