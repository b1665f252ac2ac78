"""Why a broker did not start, in its own words.

Rule of this file: pure. It picks the few lines a person needs out of a Java log, and invents none.
"""

import re

LINES = 5
"""Lines told at most."""
WIDTH = 300
"""Characters of a line told at most."""

_FRAME = re.compile(r"^\s+(at |\.\.\. \d+ )")
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT[\d:,.]+ ")
_SOURCE = re.compile(r" \([\w.$]+\)$")
_TELLING = re.compile(
    r"^(ERROR |FATAL |Exception in thread |Caused by: |Error: |Error occurred |Terminating due to )"
    r"|^[\w.$]+(Exception|Error)\b"
)
_NAMED = re.compile(
    r"(?:Exception in thread \"[^\"]*\" |Caused by: )?(?:[a-z]\w*\.)+([A-Z][\w$]*(?:Exception|Error)\b)"
)


def reason(log: str) -> str:
    """The lines of a log that tell why it ended.

    Args:
        log: What was logged since the start, of one or more files.

    Returns:
        At most ``LINES`` lines without stack and time stamps, each once, oldest first: the first errors, since those
        that follow are their consequences, or where none was logged the last lines; empty for an empty log.
    """
    lines = [_SOURCE.sub("", _STAMP.sub("", line.rstrip())) for line in log.splitlines() if not _FRAME.match(line)]
    lines = [line for line in lines if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)] or lines[-LINES:]
    told: list[str] = []
    for line in telling:
        short = _NAMED.sub(r"\1", line).strip()[:WIDTH]
        if not any(short in known for known in told):
            told.append(short)
    return "\n".join(told[:LINES])


def is_port_taken(told: str) -> bool:
    """Whether a reason is that another process listens on the port."""
    return "address already in use" in told.lower()
