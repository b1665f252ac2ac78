"""What a host lets programs ask for: how each answer to ``/robots.txt`` is taken.

Rule of this file: pure. The rules themselves are read by the standard library: the first that fits counts, and ``*``
and ``$`` inside of paths are letters to it. What an answer means follows RFC 9309 where it says so:

    answer to /robots.txt                     what follows                                          kept
    200 with rules                            they are followed                                     24 hours
    200 with a page of HTML, or empty         there are no rules: all may be asked for              24 hours
    401, 403, 404, 410, any other 4xx         there are no rules: a closed file closes nothing else 24 hours
    a redirect that is not followed           there are no rules                                    24 hours
    429, 5xx, no answer, a broken one         not known: nothing is asked for this time             not at all
"""

from typing import Final
from urllib.robotparser import RobotFileParser

MAX_BYTES: Final = 512 * 1024
"""Of a file that are read; RFC 9309 wants 500 KiB at least."""
TTL_S: Final = 24 * 3600.0
_OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_CLIENT_ERRORS: Final = range(400, 500)
_TOO_MANY: Final = 429


class Robots:
    """The rules of one place."""

    def __init__(self, text: str = "") -> None:
        """Read them.

        Args:
            text: Of the file; empty allows everything.
        """
        self._rules = RobotFileParser()
        self._rules.parse(text.splitlines())

    def allows(self, agent: str, url: str) -> bool:
        """Whether an address may be asked for.

        Args:
            agent: What the request says of us; its first word up to a slash is looked for among the rules.
            url: Of the place that the rules are of.
        """
        return self._rules.can_fetch(agent, url)


def robots_of(status: int, content_type: str, body: bytes) -> Robots | None:
    """How an answer is taken.

    Args:
        status: HTTP status, after redirects.
        content_type: Header of that name, empty where there is none.
        body: As far as it was read.

    Returns:
        The rules; None where it is not known what they are, see the table.
    """
    if status == _OK:
        return Robots() if _is_page(content_type, body) else Robots(_lines(body))
    if status in _REDIRECTS or (status in _CLIENT_ERRORS and status != _TOO_MANY):
        return Robots()
    return None


def of_begin(begin: bytes) -> Robots:
    """The rules of a file that goes on beyond ``MAX_BYTES``: its last line may be cut, and is left out."""
    return Robots(_lines(begin.rpartition(b"\n")[0]))


def _is_page(content_type: str, body: bytes) -> bool:
    return "html" in content_type.lower() or body.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def _lines(body: bytes) -> str:
    return body.decode("utf-8-sig", errors="replace")
