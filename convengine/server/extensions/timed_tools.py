"""Call a tool within the time that the turn can wait."""

from collections.abc import Callable, Mapping
from typing import Any

from convengine.engine.turn.ports import ToolAnswer, ToolPort
from convengine.engine.turn.session import Session
from convengine.server.extensions.bounded import call_within

#: The call took longer than the turn could wait; it is unknown whether the tool did its work.
TOOL_TIMEOUT = "TOOL_TIMEOUT"


class TimedTools:
    """Executors with a time limit for each call. `afterwards` ends the thread of such a call.

    `before` is called in the waiting thread before each call.
    """

    def __init__(
        self,
        tools: ToolPort,
        afterwards: Callable[[], None] = lambda: None,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._tools = tools
        self._afterwards = afterwards
        self._before = before

    def run(
        self,
        tool_code: str,
        tool_group: str,
        args: Mapping[str, Any],
        session: Session,
        within_ms: int | None = None,
    ) -> ToolAnswer:
        """Run a tool; TOOL_TIMEOUT when it takes longer than `within_ms`."""
        self._before()
        if within_ms is None:
            return self._tools.run(tool_code, tool_group, args, session)
        try:
            return call_within(
                within_ms, lambda: self._tools.run(tool_code, tool_group, args, session), self._afterwards
            )
        except TimeoutError as error:
            return ToolAnswer(error_type=TOOL_TIMEOUT, error_message=str(error))
