"""Executors that answer from a script, for scenarios, demonstrations and tests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from convengine.engine.llm.scripted import NO_ANSWER
from convengine.engine.text.difference import contains_json
from convengine.engine.turn.enums import resolve_group
from convengine.engine.turn.ports import ServerTools, ToolAnswer
from convengine.engine.turn.rows import McpServer
from convengine.engine.turn.session import Session
from convengine.json_value import Json


@dataclass(frozen=True)
class Stub:
    tool_code: str | None = None
    #: Answers requests that name a group and no tool.
    tool_group: str | None = None
    #: Arguments that a request must have; it may have more.
    when_args: Mapping[str, Json] = field(default_factory=dict)
    result: Json = None
    #: The text of a failure instead of a result.
    error: str | None = None
    #: How many requests it answers. None for any number.
    times: int | None = None
    #: The code of the failure.
    code: str = "ScriptedFailure"

    def fits(self, tool_code: str, tool_group: str, args: Mapping[str, Json]) -> bool:
        """True when this stub may answer the request."""
        if tool_code:
            named = self.tool_code == tool_code
        else:
            named = self.tool_group is not None and resolve_group(self.tool_group) == resolve_group(tool_group)
        return named and contains_json(self.when_args, args)

    def answer(self) -> ToolAnswer:
        if self.error is not None:
            return ToolAnswer(error_type=self.code, error_message=self.error)
        return ToolAnswer(self.result)


@dataclass(frozen=True)
class StubbedCall:
    """A request that a stub answered."""

    tool_code: str
    tool_group: str
    args: Mapping[str, Json]


@dataclass
class ScriptedTools:
    """The first matching stub that is not used up answers; a request without one fails."""

    stubs: Sequence[Stub]
    #: All requests that reached a stub, in order.
    calls: list[StubbedCall] = field(default_factory=list)
    _used: Counter[int] = field(default_factory=Counter)

    def has_answer(self, tool_code: str, tool_group: str, args: Mapping[str, Json]) -> bool:
        """True when a stub that is not used up fits the request."""
        return any(
            stub.fits(tool_code, tool_group, args) and (stub.times is None or self._used[number] < stub.times)
            for number, stub in enumerate(self.stubs)
        )

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Json], session: Session) -> ToolAnswer:
        """The answer of the first stub that fits and is not used up; UNSCRIPTED if there is none."""
        for number, stub in enumerate(self.stubs):
            if stub.times is not None and self._used[number] >= stub.times:
                continue
            if stub.fits(tool_code, tool_group, args):
                self._used[number] += 1
                self.calls.append(StubbedCall(tool_code, tool_group, args))
                return stub.answer()
        return ToolAnswer(error_type="UNSCRIPTED", error_message=NO_ANSWER)


@dataclass
class ScriptedServers:
    """MCP servers with the tools whose codes in the script are `mcp.{server}.{tool}`."""

    script: ScriptedTools

    def tools(self, server: McpServer) -> ServerTools:
        prefix = f"mcp.{server.name}."
        codes = [stub.tool_code or "" for stub in self.script.stubs]
        names = [code.removeprefix(prefix) for code in codes if code.startswith(prefix)]
        return ServerTools([{"name": name} for name in dict.fromkeys(names)])
