"""Logs: one line per event on standard error, as JSON or as text (settings 3).

A traceback never shows local variables, because they hold users' texts and callers' keys.
"""

from collections.abc import Mapping
from logging.config import dictConfig
from typing import Any

import structlog
from structlog.typing import Processor

#: Keys of every line, also of Django's and libraries': the turn's keys, level, logger, time.
_COMMON: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)
_RENDERERS: Mapping[str, tuple[Processor, ...]] = {
    "json": (structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)),
    "text": (structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),),
}


def configure(wanted: Mapping[str, Any]) -> None:
    """Called by Django with `settings.LOGGING`: `{"level": …, "format": "json" | "text"}`."""
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": _COMMON,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_RENDERERS[wanted["format"]]],
    }
    # Django's own loggers lose their handlers, so that all lines go the same way.
    own = {"handlers": [], "level": "NOTSET", "propagate": True}
    # Their messages below a warning contain prompts, keys, and a line for every beat.
    quiet = {name: {"level": "WARNING"} for name in ("httpx2", "httpcore2", "openai", "celery")}
    dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"line": formatter},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
            "root": {"handlers": ["stderr"], "level": wanted["level"]},
            "loggers": {"django": own, "django.server": own, **quiet},
        }
    )
    structlog.configure(
        processors=[*_COMMON, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
