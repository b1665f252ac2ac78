"""How each answer to /robots.txt is taken: the table of the module, line by line."""

import pytest

from lakehouse.external.robots import MAX_BYTES, of_begin, robots_of

AGENT = "memlake (+https://example.org/contact)"
SECRET, OPEN = "https://docs.example.org/secret/a.html", "https://docs.example.org/3/library/"
RULES = b"User-agent: *\nDisallow: /secret/\n"
PLAIN = "text/plain; charset=utf-8"

DECISIONS = {
    "rules are followed": (200, PLAIN, RULES, (False, True)),
    "rules with a mark before them": (200, PLAIN, b"\xef\xbb\xbf" + RULES, (False, True)),
    "rules without a type": (200, "", RULES, (False, True)),
    "rules for us": (200, PLAIN, b"User-agent: memlake\nDisallow: /\n\nUser-agent: *\nDisallow:\n", (False, False)),
    "rules for others": (200, PLAIN, b"User-agent: otherbot\nDisallow: /\n", (True, True)),
    "an exception before the rule": (
        200,
        PLAIN,
        b"User-agent: *\nAllow: /secret/a.html\nDisallow: /secret/\n",
        (True, True),
    ),
    "empty": (200, PLAIN, b"", (True, True)),
    "not text at all": (200, PLAIN, bytes(range(256)), (True, True)),
    "HTML by its type": (200, "text/html", b"User-agent: *\nDisallow: /\n", (True, True)),
    "HTML by its looks": (200, PLAIN, b"\n<!doctype html><p>User-agent: *\nDisallow: /\n", (True, True)),
    "no such file": (404, PLAIN, b"", (True, True)),
    "gone": (410, PLAIN, b"", (True, True)),
    "wants to know who asks": (401, PLAIN, b"", (True, True)),
    "closed": (403, "text/html", RULES, (True, True)),
    "another 4xx": (418, PLAIN, b"", (True, True)),
    "a redirect that was not followed": (302, PLAIN, b"", (True, True)),
}


@pytest.mark.parametrize(("status", "content_type", "body", "allowed"), DECISIONS.values(), ids=DECISIONS)
def test_the_table_holds(status: int, content_type: str, body: bytes, allowed: tuple[bool, bool]) -> None:
    rules = robots_of(status, content_type, body)

    assert rules is not None
    assert (rules.allows(AGENT, SECRET), rules.allows(AGENT, OPEN)) == allowed


@pytest.mark.parametrize("status", [429, 500, 503, 204])
def test_what_a_host_in_trouble_allows_is_not_known(status: int) -> None:
    assert robots_of(status, PLAIN, RULES) is None


def test_of_a_file_that_is_too_long_the_whole_lines_count() -> None:
    begin = (RULES + b"# " + b"x" * MAX_BYTES)[: MAX_BYTES - 12] + b"\nDisallow: /"

    rules = of_begin(begin)

    assert (rules.allows(AGENT, SECRET), rules.allows(AGENT, OPEN)) == (False, True)
