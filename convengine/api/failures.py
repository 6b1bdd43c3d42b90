"""Every failure that the turn API answers with, for its description: read from the errors themselves (R4, R50)."""

from typing import NamedTuple

from convengine import errors
from convengine.llm import faults
from convengine.pipeline.engine import InternalError

#: What can only happen while the process starts, in a replay, or to a stream.
_ELSEWHERE = (
    errors.PipelineConstraintViolation,
    errors.InvalidContainerInterceptor,
    errors.InvalidContainerTransformer,
    errors.InvalidResponseTransformer,
    errors.InvalidMemoryStore,
    errors.ReplayMismatch,
    errors.ReplayNotOffered,
    errors.ReplayBusy,
    errors.TooManyStreams,
    errors.StreamsElsewhere,
)
#: What has codes of its own below it.
_FAMILIES = frozenset({errors.ConvEngineError, errors.TooLarge})


class Failure(NamedTuple):
    """A code as callers meet it."""

    status: int
    code: str
    recoverable: bool
    meaning: str


#: What is refused before there is a turn.
_BEFORE = (
    Failure(401, "NOT_AUTHENTICATED", False, "There is no valid key in `Authorization: Api-Key …`."),
    Failure(403, "FORBIDDEN", False, "The key lacks the scope that the call needs."),
    Failure(429, "THROTTLED", True, "The key has made its calls for now; `Retry-After` says when to come back."),
)


def turn_failures() -> list[Failure]:
    """All of them, by status and code."""
    named = {one for module in (errors, faults) for one in vars(module).values() if isinstance(one, type)}
    ours = {one for one in named if issubclass(one, errors.ConvEngineError) and not issubclass(one, _ELSEWHERE)}
    return sorted({*_BEFORE, *(_failure(error) for error in {*ours, InternalError} - _FAMILIES)})


def descriptions() -> dict[int, str]:
    """What each status may mean, as Markdown."""
    said: dict[int, list[str]] = {}
    for one in turn_failures():
        again = " (recoverable)" if one.recoverable else ""
        said.setdefault(one.status, []).append(f"- `{one.code}`: {one.meaning}{again}")
    return {status: "\n".join(lines) for status, lines in said.items()}


def _failure(error: type[errors.ConvEngineError]) -> Failure:
    return Failure(error.status, error.code, error.recoverable, (error.__doc__ or "").strip().split("\n")[0])
