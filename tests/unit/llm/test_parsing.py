"""JSON out of what a model wrote."""

import json
from typing import Any

import pytest

from streams.llm.parsing import MAX_CHARACTERS, MAX_VALUES, values_in

FOUND: list[tuple[str, list[Any]]] = [
    ('{"a": 1}', [{"a": 1}]),
    ("[1]", []),  # no array of objects, texts or arrays: prose has such brackets, too
    ('["a", "b"]', [["a", "b"]]),
    ("[]", [[]]),
    ("{}", [{}]),
    ("", []),
    ("null", []),
    ("It is {complicated} [sic].", []),
    ('```json\n{"a": {"b": [1, 2]}}\n```', [{"a": {"b": [1, 2]}}]),
    ('First {"a": 1}, then {"b": 2}.', [{"a": 1}, {"b": 2}]),
    ('<think>{"a": 1}</think>{"b": 2}', [{"b": 2}]),
    ('<thinking>{"a": 1}</thinking>\n<reasoning>x</reasoning>{"b": 2}', [{"b": 2}]),
    ('<think>{"a": 1}', []),
    ('{"a": "} \\" ]"}', [{"a": '} " ]'}]),
    ('{"a": "tab\there"}', [{"a": "tab\there"}]),
    ('\\ {"a": "\\\\"}', [{"a": "\\"}]),
    ('\ufeff{"a": 1}', [{"a": 1}]),
]


@pytest.mark.parametrize(("text", "values"), FOUND)
def test_what_is_json_is_found_whatever_stands_around_it(text: str, values: list[Any]) -> None:
    assert list(values_in(text).values) == values


REFUSED = [
    ('{"a": 1', "cut off"),
    ('{"a": {"b": 1}, "c', "cut off"),
    ('[{"a": 1}, {"b', "cut off"),
    ('{"a": NaN}', "NaN"),
    ('{"a": -Infinity}', "Infinity"),
    ('{"a": 1e999}', "too large"),
    ('{"a": 1, "a": 2}', "twice"),
    ('{"a": {"b": 1, "b": 1}}', "twice"),
    ('{"a": "\\ud800"}', "surrogate"),
    ('{"a": }', "no JSON"),
    ('{"a": 1,}', "no JSON"),
    ('[{"a": 1} {"b": 2}]', "no JSON"),
    ('{"a": ' + "9" * 5000 + "}", "digits"),
    ('{"a":' * 2000 + "1" + "}" * 2000, "too deep"),
    ('{"a": "' + "x" * MAX_CHARACTERS + '"}', "too long"),
]


@pytest.mark.parametrize(("text", "fault"), REFUSED, ids=[row[0][:30] for row in REFUSED])
def test_what_is_not_quite_json_is_refused_as_a_whole_with_the_reason(text: str, fault: str) -> None:
    found = values_in(text)

    assert found.values == ()
    assert fault in (found.fault or "")


def test_a_fault_does_not_hide_what_is_right_beside_it() -> None:
    found = values_in('{"a": 1, "a": 2} {"b": 3}')

    assert (list(found.values), found.fault) == ([{"b": 3}], "a key occurs twice in one object")


def test_no_fault_holds_a_word_of_the_text() -> None:
    assert "secret" not in str(
        [values_in(text).fault for text in ('{"secret": }', '{"secret": 1, "secret": 2}', '{"secret')]
    )


def test_only_so_many_values_are_looked_at() -> None:
    assert len(values_in('{"a": 1} ' * 100).values) == MAX_VALUES


@pytest.mark.parametrize("text", ["{" * 60_000, '{"' * 30_000, "[" * 60_000, '{"a":[' * 9_000, "<think>" * 8_000])
def test_a_text_that_only_opens_is_refused_quickly(text: str) -> None:
    assert values_in(text).values == ()


def test_values_are_as_json_reads_them() -> None:
    value = {"a": [1, 2.5, None, True, "ü"], "b": {"c": []}}

    assert values_in(json.dumps(value, ensure_ascii=False)).values == (value,)
