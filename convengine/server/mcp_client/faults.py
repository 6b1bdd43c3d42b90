"""Faults of MCP servers, with stable codes."""

from collections.abc import Iterator


class ServerFault(Exception):
    """A call, or a session, failed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


#: Nothing was sent: not allowed, not found, not reachable, or failing too often lately.
UNAVAILABLE = "MCP_SERVER_UNAVAILABLE"
#: The session ended during the call; it is unknown whether the tool did its work.
CONNECTION_LOST = "MCP_CONNECTION_LOST"
#: The call took too long; it is unknown whether the tool did its work.
TIMEOUT = "MCP_TIMEOUT"
#: The server answered with a JSON-RPC error, or with an invalid answer.
PROTOCOL_ERROR = "MCP_PROTOCOL_ERROR"
#: The result is larger than a turn keeps.
TOO_LARGE = "MCP_RESULT_TOO_LARGE"
#: The tool reported a failure.
TOOL_FAILED = "MCP_TOOL_FAILED"


def cause(error: BaseException) -> BaseException:
    """The first exception inside groups that is not a group."""
    return next(_leaves(error), error)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def text_of(error: BaseException) -> str:
    """The cause as a text; never empty, and no list of what a validator found."""
    first = cause(error)
    if hasattr(first, "errors") and isinstance(first, ValueError):
        return "The answer is not as the protocol says."
    return str(first) or type(first).__name__
