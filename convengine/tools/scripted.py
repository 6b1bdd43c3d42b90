"""Executors that answer from a script: for scenarios, demonstrations and tests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convengine.domain.alike import within
from convengine.domain.ports import ServerTools, ToolAnswer
from convengine.domain.rows import McpServer
from convengine.domain.session import Session
from convengine.tools.request import group_of

Json = Any


@dataclass(frozen=True)
class Stub:
    """One entry of a script: which requests it answers, and how."""

    tool_code: str | None = None
    #: Answers requests that name a group and no tool.
    tool_group: str | None = None
    #: Arguments that a request must have; it may have more.
    when_args: Mapping[str, Json] = field(default_factory=dict)
    result: Json = None
    #: The text of a failure instead of a result.
    error: str | None = None
    #: How many requests it answers; null for any number.
    times: int | None = None

    def fits(self, tool_code: str, tool_group: str, args: Mapping[str, Json]) -> bool:
        """True when this stub may answer the request."""
        if tool_code:
            named = self.tool_code == tool_code
        else:
            named = self.tool_group is not None and group_of(self.tool_group) == group_of(tool_group)
        return named and within(self.when_args, args)

    def answer(self) -> ToolAnswer:
        """What the request gets."""
        if self.error is not None:
            return ToolAnswer(error_type="ScriptedFailure", error_message=self.error)
        return ToolAnswer(self.result)


@dataclass(frozen=True)
class Call:
    """A request that a stub answered."""

    tool_code: str
    tool_group: str
    args: Mapping[str, Json]


@dataclass
class ScriptedTools:
    """The first stub in order that fits, and is not used up, answers a request; one without fails and is noted."""

    stubs: Sequence[Stub]
    #: All requests that reached a stub so far, in order.
    calls: list[Call] = field(default_factory=list)
    #: Requests that no stub answered.
    unscripted: list[str] = field(default_factory=list)
    _used: Counter[int] = field(default_factory=Counter)

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Json], session: Session) -> ToolAnswer:
        """Answer from the script."""
        for number, stub in enumerate(self.stubs):
            if stub.times is not None and self._used[number] >= stub.times:
                continue
            if stub.fits(tool_code, tool_group, args):
                self._used[number] += 1
                self.calls.append(Call(tool_code, tool_group, args))
                return stub.answer()
        self.unscripted.append(f"a call of tool {tool_code or f'of group {tool_group}'} with {dict(args)}")
        return ToolAnswer(error_type="UNSCRIPTED", error_message="The script has no answer to this request.")


@dataclass
class ScriptedServers:
    """MCP servers that offer what the script has codes `mcp.{server}.{tool}` for."""

    script: ScriptedTools

    def tools(self, server: McpServer) -> ServerTools:
        """The tools that the script has for a server."""
        prefix = f"mcp.{server.name}."
        codes = [stub.tool_code or "" for stub in self.script.stubs]
        names = [code.removeprefix(prefix) for code in codes if code.startswith(prefix)]
        return ServerTools([{"name": name} for name in dict.fromkeys(names)])
