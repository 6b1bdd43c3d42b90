"""What can go wrong with an MCP server, under stable codes."""

from collections.abc import Iterator


class ServerFault(Exception):
    """A call, or a session, did not work out."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


#: Nothing was sent: not allowed, not found, not reachable, or failing too often lately.
UNAVAILABLE = "MCP_SERVER_UNAVAILABLE"
#: The session ended while the call ran; whether the tool did its work is not known.
CONNECTION_LOST = "MCP_CONNECTION_LOST"
#: The call took longer than it may; whether the tool did its work is not known.
TIMEOUT = "MCP_TIMEOUT"
#: The server answered with a JSON-RPC error, or with something that is no answer.
PROTOCOL_ERROR = "MCP_PROTOCOL_ERROR"
#: What the server sent is larger than anything that a turn keeps.
TOO_LARGE = "MCP_RESULT_TOO_LARGE"
#: The tool said that it failed.
TOOL_FAILED = "MCP_TOOL_FAILED"


def cause(error: BaseException) -> BaseException:
    """What went wrong inside groups of exceptions: the first that is no group."""
    return next(_leaves(error), error)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def text_of(error: BaseException) -> str:
    """The cause as a text; never empty."""
    first = cause(error)
    return str(first) or type(first).__name__
