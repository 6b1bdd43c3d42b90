"""Executors of tools on the tape: called once, and answering from the recording ever after (R32)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from convengine.codec import plain
from convengine.domain.ports import ToolAnswer, ToolPort
from convengine.domain.recording import Tape
from convengine.domain.session import Session


class TapedTools:
    """The tools port of one turn, in front of whichever executors the deployment has."""

    def __init__(self, tools: ToolPort, tape: Tape) -> None:
        self._tools = tools
        self._tape = tape

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Any], session: Session) -> ToolAnswer:
        """Run a tool."""

        def call() -> dict[str, Any]:
            answer: dict[str, Any] = plain(asdict(self._tools.run(tool_code, tool_group, args, session)))
            return answer

        request = plain({"tool": tool_code, "group": tool_group, "args": args})
        return ToolAnswer(**self._tape.ask("tool", request, call))
