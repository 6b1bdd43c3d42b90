"""The tools port on the built-in executors: by the tool's group, faults as answers (pipeline-2 3.2)."""

from collections.abc import Callable, Mapping
from typing import Any

from convengine.codec import strict
from convengine.domain.enums import ToolGroup
from convengine.domain.ports import ToolAnswer
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.executors import calculator, db, documents, files, http, mcp_server, notification, workflow
from convengine.executors.http_client import idempotency_key
from convengine.executors.job import Job
from convengine.extensions.http import HttpRequest
from convengine.extensions.registry import Registry
from convengine.tools.fault import ToolFault
from convengine.tools.request import group_of

Json = Any
#: Gives the result, or the result with what only the executor can tell the audit. Raises ToolFault.
Executor = Callable[[Job], ToolAnswer]

BUILT_IN: Mapping[str, Executor] = {
    ToolGroup.DB: db.run,
    ToolGroup.HTTP_API: http.run,
    ToolGroup.WORKFLOW_ACTION: workflow.run,
    ToolGroup.CALCULATOR_TRANSFORM: calculator.run,
    ToolGroup.FILES: files.run,
    ToolGroup.DOCUMENT_RETRIEVAL: documents.run,
    ToolGroup.NOTIFICATION: notification.run,
    ToolGroup.MCP_SERVER: mcp_server.call,
}


class BuiltInTools:
    """Runs a tool by the executor of its group, on the configuration of one turn."""

    def __init__(
        self,
        snapshot: Snapshot,
        registry: Registry,
        executors: Mapping[str, Executor] = BUILT_IN,
        workspace: str = "default",
    ) -> None:
        self._snapshot = snapshot
        self._registry = registry
        self._executors = executors
        self._workspace = workspace

    def make_call(self, tool_code: str, request: HttpRequest, session: Session) -> Json:
        """Make the HTTP call that a tool's code asks for. Raises ToolFault."""
        key = idempotency_key(session.conversation_id, session.turn_no, tool_code, request.body)
        return http.called(self._snapshot, tool_code, request, self._registry.http_mappers, key)

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Any], session: Session) -> ToolAnswer:
        """Run a tool of a group; NO_EXECUTOR for a group that nothing is installed for."""
        group = group_of(tool_group)
        executor = self._executors.get(group)
        if executor is None:
            named = f"tool {tool_code} of group {tool_group}" if tool_code else f"group {tool_group}"
            known = ", ".join(sorted(self._executors))
            message = f"No executor is installed for {named}. There are executors for {known}."
            return ToolAnswer(error_type="NO_EXECUTOR", error_message=message)
        try:
            return executor(
                Job(
                    tool_code,
                    ToolGroup.read(group) or group,
                    args,
                    session,
                    self._snapshot,
                    self._registry,
                    self._workspace,
                )
            )
        except ToolFault as fault:
            return ToolAnswer(error_type=fault.code, error_message=fault.message, told=strict(fault.told))
        except (Exception, SystemExit) as error:
            return ToolAnswer(error_type=type(error).__name__, error_message=str(error))
