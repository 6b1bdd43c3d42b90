"""Running registered tools: within their time, faults as answers (pipeline-2 3.2)."""

from collections.abc import Callable, Mapping
from typing import Any

from convengine.codec import plain, strict
from convengine.domain.facts import session_dict
from convengine.domain.ports import ToolAnswer
from convengine.domain.session import Session
from convengine.extensions.bounded import call_within
from convengine.extensions.registry import Registry
from convengine.tools.request import group_of


class RegisteredTools:
    """Executors of the tools that code registered. `afterwards` is called in the thread of each call when it ends."""

    def __init__(self, registry: Registry, afterwards: Callable[[], None] = lambda: None) -> None:
        self._registry = registry
        self._afterwards = afterwards

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Any], session: Session) -> ToolAnswer:
        """Run a tool of a group; NO_EXECUTOR when none of that code is registered for the group."""
        entry = self._registry.tools.get(tool_code)
        if entry is None or group_of(entry.group) != group_of(tool_group):
            named = f"tool {tool_code} of group {tool_group}" if tool_code else f"group {tool_group}"
            known = ", ".join(sorted(f"{code} ({one.group})" for code, one in self._registry.tools.items())) or "none"
            message = f"No executor is installed for {named}. Registered: {known}."
            return ToolAnswer(error_type="NO_EXECUTOR", error_message=message)
        given, facts = plain(dict(args)), plain(session_dict(session))
        try:
            value = call_within(entry.timeout_ms, lambda: entry.run(given, facts), self._afterwards)
            return ToolAnswer(strict(value))
        except Exception as error:
            return ToolAnswer(error_type=type(error).__name__, error_message=str(error))
