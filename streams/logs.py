"""Structured logs: one line a thing, on stderr; stdout is for results.

Rule of this file: set-up only. Pure modules don't log; agents log one line a batch. No line holds what somebody said,
and whatever a line holds, secrets in it are masked, also in the lines of the libraries.
"""

import logging
import sys
import traceback
from typing import Literal

import structlog

from streams.extract.masking import mask


def configure(level: str, form: Literal["auto", "json", "text"]) -> None:
    """Send structlog and the standard library's loggers to stderr.

    Args:
        level: The least that is logged.
        form: One JSON object a line, or text; auto is text on a terminal.
    """
    as_json = form == "json" or (form == "auto" and not sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _masked,
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


def _masked(_: object, __: str, told: structlog.typing.EventDict) -> structlog.typing.EventDict:
    return {name: mask(value)[0] if isinstance(value, str) else value for name, value in told.items()}


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
