"""All failures of the API, for its description; read from the errors themselves."""

from collections.abc import Iterable
from typing import NamedTuple

from convengine.engine import errors
from convengine.engine.llm import faults
from convengine.engine.pipeline.engine import InternalError

#: Errors of calls that take no turn.
_OTHER_CALLS: tuple[type[errors.ConvEngineError], ...] = (
    *(errors.PreconditionFailed, errors.ReplayNotOffered, errors.ReplayBusy, errors.TooManyStreams),
    errors.StreamsElsewhere,
)
#: Those, and errors of the process start.
_ELSEWHERE = (
    *_OTHER_CALLS,
    errors.PipelineConstraintViolation,
    errors.InvalidContainerInterceptor,
    errors.InvalidContainerTransformer,
    errors.InvalidResponseTransformer,
    errors.InvalidMemoryStore,
    errors.ReplayMismatch,
)
#: Base classes, whose subclasses have the codes.
_FAMILIES = frozenset({errors.ConvEngineError, errors.TooLarge})


class ApiFailure(NamedTuple):
    """An error code for callers."""

    status: int
    code: str
    recoverable: bool
    meaning: str
    #: What to do, if the meaning does not say it.
    remedy: str = ""


#: Refused before there is a turn.
_BEFORE = (
    ApiFailure(401, "NOT_AUTHENTICATED", False, "The header `Authorization` has no valid API key."),
    ApiFailure(403, "FORBIDDEN", False, "The key does not have the scope for this call."),
    ApiFailure(429, "THROTTLED", True, "The key has reached its rate limit. `Retry-After` says when to try again."),
)

_HTTP = (
    ApiFailure(405, "METHOD_NOT_ALLOWED", False, "This address does not have this method."),
    ApiFailure(406, "NOT_ACCEPTABLE", False, "The answer has none of the media types in `Accept`."),
    ApiFailure(415, "VALIDATION_ERROR", False, "The request body is not `application/json`."),
    ApiFailure(422, "CONFIGURATION_REFUSED", False, "Rows have errors, so nothing was changed. The answer lists them."),
)
#: The failures of every call, and of every call with a body.
_EVERYWHERE, _WITH_BODY = frozenset({400, 401, 403, 404, 406, 429, 500, 503}), frozenset({413, 415})


def list_failures() -> list[ApiFailure]:
    """All failures of all calls, by code and status."""
    failures = {*list_turn_failures(), *_HTTP, *map(_describe_error, _OTHER_CALLS)}
    return sorted(failures, key=lambda each: (each.code, each.status))


def list_error_codes() -> list[tuple[str, str]]:
    """Each code with its meaning."""
    return sorted({failure.code: failure.meaning for failure in reversed(list_failures())}.items())


def describe_common_statuses(*, has_body: bool) -> dict[int, str]:
    """What each status may mean at a call that takes no turn."""
    wanted = _EVERYWHERE | (_WITH_BODY if has_body else frozenset())
    codes = {"VALIDATION_ERROR", "NOT_FOUND", "REQUEST_TOO_LARGE", "INTERNAL_ERROR", "CONVERSATION_PERSIST_FAILED"}
    codes |= {"NOT_AUTHENTICATED", "FORBIDDEN", "THROTTLED", "NOT_ACCEPTABLE"}
    return _describe(failure for failure in list_failures() if failure.status in wanted and failure.code in codes)


def list_turn_failures() -> list[ApiFailure]:
    """All failures, by status and code."""
    classes = {member for module in (errors, faults) for member in vars(module).values() if isinstance(member, type)}
    ours = {kind for kind in classes if issubclass(kind, errors.ConvEngineError) and not issubclass(kind, _ELSEWHERE)}
    return sorted({*_BEFORE, *(_describe_error(error) for error in {*ours, InternalError} - _FAMILIES)})


def describe_statuses() -> dict[int, str]:
    """What each status may mean at a call that takes a turn, as Markdown."""
    http = [failure for failure in _HTTP if failure.status in _EVERYWHERE | _WITH_BODY]
    return _describe(sorted([*list_turn_failures(), *http]))


def _describe(failures: Iterable[ApiFailure]) -> dict[int, str]:
    lines_of: dict[int, list[str]] = {}
    for failure in failures:
        suffix = " (recoverable)" if failure.recoverable else ""
        lines_of.setdefault(failure.status, []).append(f"- `{failure.code}`: {failure.meaning}{suffix}")
    return {status: "\n".join(lines) for status, lines in lines_of.items()}


def _describe_error(error: type[errors.ConvEngineError]) -> ApiFailure:
    meaning, _, remedy = (error.__doc__ or "").strip().partition("\n")
    return ApiFailure(error.status, error.code, error.recoverable, meaning, " ".join(remedy.split()))
