"""Rules of whoever runs memlake: what they add, and which are refused, with the place and the remedy."""

import re
from pathlib import Path

import pytest

from schemas.errors import Misconfigured
from streams.masking import Masker

RULES = """
version: 1
classes:
  badge: {what: Numbers of badges}
  room: {on: no}
parts:
  number: '\\d{6}'
  kinds: [red card, blue]
tokens:
  - {secret: badge, start: [BDG-], of: '0-9', least: 6, most: 6}
  - {secret: badge, start: [OLD-], like: '{{number}}'}
rules:
  - {secret: badge, hints: [Badge], pattern: 'Badge (?P<secret>{{number}})'}
  - {secret: badge, hints: ["{{kinds}}"], fold: yes, check: made, pattern: '(?i)(?:{{kinds}}) (?P<secret>\\w{4,40})'}
  - {secret: room, pattern: 'Room \\d{1,3}'}
  - {secret: cloud_key, pattern: 'OURS-[a-z]{8}'}
"""
WRONG = [
    ("version: 2", "version: must be 1"),
    ("[1]", "must hold"),
    ("- - :\n  x: [", "is not YAML"),
    ("version: 1\nrulez: []", "rulez: only"),
    ("version: 1\nrules: {a: b}", "rules: must be a list"),
    ("version: 1\nclasses: [a]", "classes: must be a mapping"),
    ("version: 1\nclasses: {Badge: {}}", "classes.Badge: small letters"),
    ("version: 1\nclasses: {badge: {on: perhaps}}", "classes.badge: must be"),
    ("version: 1\nclasses: {badge: on}", "classes.badge: must be"),
    ("version: 1\nparts: {a: {b: c}}", "parts.a: must be"),
    ("version: 1\nparts: {a: [[b]]}", "parts.a: must be"),
    ("version: 1\nrules: [x]", "rules.0.must be a mapping"),
    ("version: 1\nrules: [{pattern: x}]", "rules.0.secret: needed"),
    ("version: 1\nrules: [{secret: 'A b', pattern: x}]", "rules.0.secret: must be the name"),
    ("version: 1\nrules: [{secret: a}]", "rules.0.pattern: needed"),
    ("version: 1\nrules: [{secret: a, pattern: b}, {secret: a, patern: b}]", "rules.1.patern: only"),
    ("version: 1\nrules: [{secret: a, pattern: '(b'}]", "rules.0.pattern: is no regular expression"),
    ("version: 1\nrules: [{secret: a, pattern: '{{c}}'}]", "there is no part 'c'"),
    ("version: 1\nrules: [{secret: a, pattern: b, hints: c}]", "rules.0.hints: must be a list"),
    ("version: 1\nrules: [{secret: a, pattern: b, hints: ['']}]", "rules.0.hints: must be a list"),
    ("version: 1\nrules: [{secret: a, pattern: b, check: c}]", "rules.0.check: must be one of"),
    ("version: 1\nrules: [{secret: a, pattern: b, fold: c}]", "rules.0.fold: must be yes or no"),
    ("version: 1\nrules: [{secret: a, pattern: b, begins: x}]", "rules.0.begins: only"),
    ("version: 1\ntokens: [{secret: a, of: b}]", "tokens.0.start: needed"),
    ("version: 1\ntokens: [{secret: a, start: [b]}]", "tokens.0.of or like: needed"),
    ("version: 1\ntokens: [{secret: a, start: [b], of: c, least: 0}]", "tokens.0.least: must be a number"),
    ("version: 1\ntokens: [{secret: a, start: [b], of: c, most: 5000}]", "tokens.0.most: must be a number"),
    ("version: 1\nrules: [{secret: a, pattern: 'b?'}]", "matches nothing at all"),
    ("version: 1\nrules: [{secret: a, pattern: '\\w{3,9}'}]", "what is masked already"),
    ("version: 1\nrules: [{secret: a, pattern: 'X-\\d+'}]", "each repetition needs an upper bound"),
    ("version: 1\nrules: [{secret: a, pattern: 'X(a{1,9}){1,9}!'}]", "in too many ways"),
    ("version: 1\nrules: [{secret: a, pattern: 'X\\d{1,99}\\d{1,99}\\d{1,99}!'}]", "in too many ways"),
    ("version: 1\nrules: [{secret: a, pattern: 'X(?:(?:ab?|\\w){1,40}b){1,40}+!'}]", "in too many ways"),
    ("version: 1\nrules: [{secret: a, pattern: 'X(?>(?:ab?|\\w){1,40})!'}]", "in too many ways"),
    ("version: 1\nrules: [{secret: a, pattern: 'X(?=(?:ab?|\\w){1,40})!'}]", "in too many ways"),
]
RIGHT = [
    r"X-\d{1,200}",
    r"X-[a-z]{1,200}-\d{1,200}",
    r"X(?:a|b){1,9}c",
    r"X(?:\d{1,9}+-){1,40}+",
    r"X(?>\d{1,99})(?>\d{1,99})(?>\d{1,99})!",
    r"(a)?X(?(1)b|c)",
    r"X(?=\d{1,99})(?!\d{1,9}a)\d{1,99}",
]


def test_further_rules_mask_what_they_say_and_ours_go_on() -> None:
    masker = Masker.made(more=RULES)

    text = "BDG-123456, OLD-123456, Badge 123456, red_card ab12cd34ef56 and RED card abcdef, Room 12, OURS-abcdefgh"
    assert masker.text(text) == (
        "[masked:badge], [masked:badge], Badge [masked:badge], red_card [masked:badge] and RED card abcdef, Room 12, "
        "[masked:cloud_key]"
    )
    assert masker.text("My password is Hunter2xx") == "My password is [masked:password]"


def test_a_class_of_theirs_is_told_and_can_be_switched() -> None:
    told = {one.name: (one.on, one.what) for one in Masker.made(more=RULES, on=["room"], off=["badge"]).classes}

    assert told["badge"] == (False, "Numbers of badges")
    assert told["room"][0]
    assert told["cloud_key"] == next((c.on, c.what) for c in Masker.made().classes if c.name == "cloud_key")
    assert Masker.made(more=RULES, on=["room"]).text("Room 12") == "[masked:room]"


def test_the_file_in_the_documentation_is_one() -> None:
    told = (Path(__file__).parents[3] / "docs" / "operations.md").read_text("utf-8")
    (example,) = re.findall(r"```yaml\n(version: 1\n.*?)```", told, re.DOTALL)

    assert Masker.made(more=example).text("BDG-1234567 and Badge 123456") == "[masked:badge] and Badge [masked:badge]"


def test_an_empty_file_adds_nothing() -> None:
    assert Masker.made(more="version: 1") == Masker.made()


@pytest.mark.parametrize(("text", "told"), WRONG, ids=[told for _, told in WRONG])
def test_a_wrong_file_is_refused_with_its_place_and_what_would_be_right(text: str, told: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        Masker.made(more=text)

    assert str(refused.value).startswith("MASK_RULES: ")
    assert told in str(refused.value)


@pytest.mark.parametrize("pattern", RIGHT)
def test_a_pattern_that_no_text_can_hold_up_is_taken(pattern: str) -> None:
    rules = f"version: 1\nrules: [{{secret: a, pattern: '{pattern}'}}]"

    Masker.made(more=rules).text("X-1 " + "Xa1-" * 10_000)


def test_a_rule_that_never_comes_to_an_end_is_ended() -> None:
    rules = "version: 1\nrules: [{secret: a, pattern: go}, {secret: a, pattern: '(?<=\\[masked:a\\])\\d'}]"

    masked = Masker.made(more=rules).text("go" + "1" * 50)

    assert masked.startswith("[masked:a][masked:a]")
    assert masked.endswith("1")
