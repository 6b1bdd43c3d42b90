"""Logs: one line per event on standard error, as JSON or as text.

A traceback never shows local variables, because they hold users' texts and callers' keys.
"""

import json
import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from logging.config import dictConfig
from typing import Any

import orjson
import structlog
from structlog.typing import EventDict, Processor

from convengine.server.deployment.secrets import mask_secrets

#: Keys of every line, also of Django's and libraries': the turn's keys, level, logger, time.
_COMMON: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def _write_json(line: Mapping[str, Any], **options: Any) -> str:
    """The line as JSON: by the fast library, unless a value is beyond it, such as half of a character."""
    try:
        return orjson.dumps(line, options["default"], orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return json.dumps(line, **options)


def _mask_line(logger: Any, method: str, line: Any) -> str:
    """The written line without secrets, however they came into it."""
    return mask_secrets(str(line))


_RENDERERS: Mapping[str, tuple[Processor, ...]] = {
    "json": (structlog.processors.format_exc_info, structlog.processors.JSONRenderer(_write_json)),
    "text": (structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),),
}


def configure(wanted: Mapping[str, Any]) -> None:
    """Called by Django with `settings.LOGGING`: `{"level": …, "format": "json" | "text"}`."""
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": _COMMON,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *_RENDERERS[wanted["format"]],
            _mask_line,
        ],
    }
    # Django's own loggers lose their handlers, so that all lines go the same way.
    own = {"handlers": [], "level": "NOTSET", "propagate": True}
    # A refusal is one line; where it was raised says nothing.
    requests = {**own, "filters": ["refusals"]}
    # Their messages below a warning contain prompts, keys, and a line for every beat.
    quiet = {name: {"level": "WARNING"} for name in ("httpx2", "httpcore2", "openai", "celery")}
    dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"line": formatter},
            "filters": {"refusals": {"()": lambda: _shorten_refusal}},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
            "root": {"handlers": ["stderr"], "level": wanted["level"]},
            "loggers": {"django": own, "django.server": own, "django.request": requests, **quiet},
        }
    )
    # Past Python's logging: a line of its would cost a turn four times as much.
    structlog.configure(
        processors=[
            partial(_drop_lower_levels, _LEVELS[wanted["level"].lower()]),
            *_COMMON,
            *_RENDERERS[wanted["format"]],
            _mask_line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
        logger_factory=LineWriter,
    )


def _shorten_refusal(record: logging.LogRecord) -> bool:
    """Drop the traceback of an answer that is no fault of the server."""
    if getattr(record, "status_code", 500) < 500:
        record.exc_info = None
    return True


#: The number of each level, by the name of the logger's method.
_LEVELS = {name.lower(): number for name, number in logging.getLevelNamesMapping().items()} | {
    "exception": logging.ERROR
}


def _drop_lower_levels(least: int, logger: Any, method: str, line: EventDict) -> EventDict:
    """Raises DropEvent for a line that nobody wants."""
    if _LEVELS[method] < least:
        raise structlog.DropEvent
    return line


class LineWriter:
    """Writes the lines of one logger to standard error."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def info(self, line: str) -> None:
        """Write a line; the levels differ in its text. A full disk or a closed pipe loses the line, nothing else."""
        with suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")

    debug = warning = error = critical = exception = info


def use_project_logging() -> None:
    """Send our lines to Python's logging, as a project with settings of its own has configured it."""
    if not structlog.is_configured():
        structlog.configure(
            processors=[
                structlog.stdlib.filter_by_level,
                structlog.contextvars.merge_contextvars,
                structlog.processors.format_exc_info,
                structlog.processors.KeyValueRenderer(key_order=["event"]),
            ],
            wrapper_class=structlog.stdlib.BoundLogger,
            logger_factory=structlog.stdlib.LoggerFactory(),
        )
