"""All failures of the turn API, for its description; read from the errors themselves (R4, R50)."""

from typing import NamedTuple

from convengine.engine import errors
from convengine.engine.llm import faults
from convengine.engine.pipeline.engine import InternalError

#: Errors of the process start, of replays and of streams.
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
#: Base classes, whose subclasses have the codes.
_FAMILIES = frozenset({errors.ConvEngineError, errors.TooLarge})


class Failure(NamedTuple):
    """An error code for callers."""

    status: int
    code: str
    recoverable: bool
    meaning: str


#: Refused before there is a turn.
_BEFORE = (
    Failure(401, "NOT_AUTHENTICATED", False, "The header `Authorization: Api-Key …` has no valid key."),
    Failure(403, "FORBIDDEN", False, "The key does not have the scope for this call."),
    Failure(429, "THROTTLED", True, "The key has reached its rate limit. `Retry-After` says when to try again."),
)


def list_turn_failures() -> list[Failure]:
    """All failures, by status and code."""
    classes = {member for module in (errors, faults) for member in vars(module).values() if isinstance(member, type)}
    ours = {kind for kind in classes if issubclass(kind, errors.ConvEngineError) and not issubclass(kind, _ELSEWHERE)}
    return sorted({*_BEFORE, *(_describe_error(error) for error in {*ours, InternalError} - _FAMILIES)})


def describe_statuses() -> dict[int, str]:
    """What each status may mean, as Markdown."""
    lines_of: dict[int, list[str]] = {}
    for failure in list_turn_failures():
        suffix = " (recoverable)" if failure.recoverable else ""
        lines_of.setdefault(failure.status, []).append(f"- `{failure.code}`: {failure.meaning}{suffix}")
    return {status: "\n".join(lines) for status, lines in lines_of.items()}


def _describe_error(error: type[errors.ConvEngineError]) -> Failure:
    return Failure(error.status, error.code, error.recoverable, (error.__doc__ or "").strip().split("\n")[0])
