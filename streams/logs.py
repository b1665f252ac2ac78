"""Structured logs: one line a thing, on stderr; stdout is for results.

Rule of this file: set-up only. Pure modules don't log; agents log one line a batch. No line holds what somebody said,
and whatever a line holds, secrets in it are masked, also in the lines of the libraries.
"""

import logging
import sys
import traceback
from typing import Literal

import structlog

from streams.masking import Masker


def configure(level: str, form: Literal["auto", "json", "text"], masker: Masker) -> None:
    """Send structlog and the standard library's loggers to stderr.

    Args:
        level: The least that is logged.
        form: One JSON object a line, or text; auto is text on a terminal.
        masker: Of the deployment.
    """
    as_json = form == "json" or (form == "auto" and not sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        masking(masker),
    ]
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last]
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("memlake").setLevel(level.upper())
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def masking(masker: Masker) -> structlog.typing.Processor:
    """A step that masks all that a line holds, but for what the formatter keeps in it for itself."""

    def masked(_: object, __: str, told: structlog.typing.EventDict) -> structlog.typing.EventDict:
        ours = {name: value for name, value in told.items() if name.startswith("_")}
        said = {name: _as_data(value) for name, value in told.items() if name not in ours}
        return {**masker.data(said)[0], **ours}

    return masked


def _as_data(value: object) -> object:
    """What a line can hold; anything else by the text that would be shown for it."""
    return value if isinstance(value, (str, int, float, list, tuple, dict)) or value is None else str(value)


def trace_of(error: BaseException) -> str:
    """Where an error came from, innermost first, without its text: that may hold what somebody said."""
    return " < ".join(
        f"{frame.name} ({frame.filename.rpartition('/')[2]}:{frame.lineno})"
        for frame in reversed(traceback.extract_tb(error.__traceback__))
    )


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """A logger below ``memlake``."""
    found: structlog.stdlib.BoundLogger = structlog.get_logger(f"memlake.{name}")
    return found
