"""Record tool calls, and answer from the recording in a replay (R32)."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from convengine.engine.turn.codec import TOO_DEEP, is_too_deep, to_plain
from convengine.engine.turn.ports import Clock, ServerPort, ServerTools, TimedToolPort, ToolAnswer
from convengine.engine.turn.recording import Tape
from convengine.engine.turn.rows import McpServer
from convengine.engine.turn.session import Session

RESULT_TOO_DEEP = "RESULT_TOO_DEEP"


class TapedTools:
    """The tools port of one turn, in front of the deployment's executors."""

    def __init__(self, tools: TimedToolPort, tape: Tape) -> None:
        self._tools = tools
        self._tape = tape

    def run(
        self,
        tool_code: str,
        tool_group: str,
        args: Mapping[str, Any],
        session: Session,
        within_ms: int | None = None,
    ) -> ToolAnswer:
        def call() -> dict[str, Any]:
            given = self._tools.run(tool_code, tool_group, args, session, within_ms)
            if is_too_deep(given.result):
                # What cannot be stored cannot be remembered, shown or replayed either.
                given = ToolAnswer(error_type=RESULT_TOO_DEEP, error_message=TOO_DEEP)
            answer: dict[str, Any] = to_plain(asdict(given))
            # The name in the recordings.
            answer["told"] = answer.pop("stage_payloads")
            return answer

        request = to_plain({"tool": tool_code, "group": tool_group, "args": args})
        recorded = dict(self._tape.ask("tool", request, call))
        return ToolAnswer(stage_payloads=recorded.pop("told", {}), **recorded)


class TapedServers:
    """The tools of MCP servers in one turn, in front of the process's sessions."""

    def __init__(self, servers: ServerPort, tape: Tape) -> None:
        self._servers = servers
        self._tape = tape

    def tools(self, server: McpServer) -> ServerTools:
        request = {"server": server.name}
        return ServerTools(
            **self._tape.ask("server.tools", request, lambda: to_plain(asdict(self._servers.tools(server))))
        )


class TapedPace:
    """The stopwatch of one turn, and its pauses."""

    def __init__(self, clock: Clock, tape: Tape, sleep: Callable[[float], None]) -> None:
        self._clock = clock
        self._tape = tape
        self._sleep = sleep

    def elapsed_ms(self) -> float:
        return float(self._tape.ask("pace.spent", None, self._clock.elapsed_ms))

    def wait(self, milliseconds: float) -> None:
        """Pause."""

        def pause() -> None:
            self._sleep(milliseconds / 1000)

        self._tape.ask("pace.wait", milliseconds, pause)
