"""Run registered tools: within their time, faults as answers (pipeline-2 3.2)."""

from collections.abc import Callable, Mapping
from typing import Any

from convengine.engine.steps.tools.fault import ToolFault
from convengine.engine.steps.tools.request import resolve_group
from convengine.engine.text.wording import join_names
from convengine.engine.turn.codec import loads, to_plain, to_strict
from convengine.engine.turn.enums import ToolGroup
from convengine.engine.turn.facts import collect_session_facts
from convengine.engine.turn.ports import ToolAnswer, ToolPort
from convengine.engine.turn.session import Session
from convengine.server.extensions.bounded import call_within
from convengine.server.extensions.http import HttpRequest
from convengine.server.extensions.registry import Registry, ToolEntry

Json = Any
#: The call took longer than the turn could wait; it is unknown whether the tool did its work.
TOOL_TIMEOUT = "TOOL_TIMEOUT"
#: Makes the call that a tool's code requests.
MakeCall = Callable[[str, HttpRequest, Session], Json]
#: Texts of these groups become an object, so that paths always find one (pipeline-2 4.7).
_OBJECTS = frozenset({ToolGroup.DB, ToolGroup.HTTP_API})


class RegisteredTools:
    """Registered executors: of a tool, else of its group; else `otherwise`.

    `afterwards` is called in the thread of each call when it ends.
    """

    def __init__(
        self,
        registry: Registry,
        afterwards: Callable[[], None] = lambda: None,
        otherwise: ToolPort | None = None,
        make_call: MakeCall | None = None,
    ) -> None:
        self._registry = registry
        self._afterwards = afterwards
        self._otherwise = otherwise
        self._make_call = make_call

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Any], session: Session) -> ToolAnswer:
        """Run a tool of a group; NO_EXECUTOR when there is no executor."""
        group = resolve_group(tool_group)
        given, facts = to_plain(dict(args)), to_plain(collect_session_facts(session))
        entry = self._registry.tools.get(tool_code)
        if entry is not None and resolve_group(entry.group) == group:
            run = entry.run
            return self._answer(tool_code, group, entry, session, lambda: run(given, facts))
        if (adapter := self._registry.tool_groups.get(group)) is not None:
            run = adapter.run
            return self._answer(tool_code, group, adapter, session, lambda: run(tool_code, given, facts))
        if self._otherwise is not None:
            return self._otherwise.run(tool_code, tool_group, args, session)
        return self.no_executor(tool_code, tool_group)

    def no_executor(self, tool_code: str, tool_group: str) -> ToolAnswer:
        """The answer without an executor."""
        named = f"tool {tool_code} of group {tool_group}" if tool_code else f"group {tool_group}"
        known = join_names(f"{code} ({one.group})" for code, one in self._registry.tools.items())
        message = f"No executor is installed for {named}. Registered: {known}."
        return ToolAnswer(error_type="NO_EXECUTOR", error_message=message)

    def _answer(
        self, tool_code: str, group: str, entry: ToolEntry, session: Session, call: Callable[[], Json]
    ) -> ToolAnswer:
        try:
            value = call_within(entry.timeout_ms, call, self._afterwards)
            if isinstance(value, HttpRequest):
                return ToolAnswer(self._call_http(tool_code, value, session))
            return ToolAnswer(_result(to_strict(value), group))
        except ToolFault as fault:
            return ToolAnswer(error_type=fault.code, error_message=fault.message, stage_payloads=fault.stage_payloads)
        except Exception as error:
            return ToolAnswer(error_type=type(error).__name__, error_message=str(error))

    def _call_http(self, tool_code: str, request: HttpRequest, session: Session) -> Json:
        if self._make_call is None:
            raise ToolFault("NO_EXECUTOR", "No executor for HTTP calls is installed.")
        return self._make_call(tool_code, request, session)


def _result(value: Json, group: str) -> Json:
    if group not in _OBJECTS or not (value is None or isinstance(value, str)):
        return value
    try:
        return {} if value is None else loads(value)
    except ValueError:
        return {"text": value}


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
