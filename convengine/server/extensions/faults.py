"""Report exceptions of extensions: to the log with traceback, and to the turn that they happened in."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import structlog

log = structlog.get_logger(__name__)
#: The longest stored traceback; the end is the most informative.
_LONGEST = 20_000


@dataclass(frozen=True)
class ExtensionFault:
    """An exception of an extension in a turn."""

    #: What raised it: TASK, TOOL, CONTAINER, TRANSFORMER, MEMORY_STORE, FINDER, HOOK, RULE_TYPE, RULE_ACTION, STEP.
    kind: str
    #: Its registered name.
    name: str
    error_type: str
    message: str
    traceback: str


_collected: ContextVar[list[ExtensionFault] | None] = ContextVar("faults", default=None)


@contextmanager
def collect_faults() -> Iterator[list[ExtensionFault]]:
    """The faults that are reported in the block, in order; also by threads that it starts with its context."""
    faults: list[ExtensionFault] = []
    token = _collected.set(faults)
    try:
        yield faults
    finally:
        _collected.reset(token)


def report_fault(kind: str, name: str, error: BaseException) -> None:
    """Log an exception with its traceback, turn and conversation, and keep it for the turn. The failure of a stub is
    meant, so it is not reported.
    """
    if getattr(error, "is_scripted", False):
        return
    log.error("extension failed", extension=kind, name=name, error=f"{type(error).__name__}: {error}", exc_info=error)
    faults = _collected.get()
    if faults is not None:
        # Without local variables: they hold texts of users.
        lines = "".join(traceback.format_exception(error))[-_LONGEST:]
        faults.append(ExtensionFault(kind, name, type(error).__name__, _clean(str(error)), _clean(lines)))


def _clean(text: str) -> str:
    """Without the character that PostgreSQL cannot store, and without the halves of characters that nothing can."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
