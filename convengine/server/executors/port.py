"""The tools port with the built-in executors. Faults are answers."""

from collections.abc import Callable, Mapping
from typing import Any

from convengine.engine.steps.tools.scope import find_server, split_tool_name
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.codec import to_strict
from convengine.engine.turn.enums import ToolGroup, resolve_group
from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.server.executors import calculator, db, documents, files, http, notification, workflow
from convengine.server.executors.http_client import idempotency_key
from convengine.server.executors.job import ToolJob
from convengine.server.extensions.http import HttpRequest
from convengine.server.extensions.registry import Registry
from convengine.server.mcp_client.servers import McpServers, read_policy

#: Returns the result, or a ToolAnswer with payloads for the audit. Raises ToolFault.
Executor = Callable[[ToolJob], ToolAnswer]


def _call_mcp_server(job: ToolJob) -> ToolAnswer:
    """Call the tool. Raises ToolFault for a code without a server in the turn's configuration."""
    server = find_server(job.snapshot, job.tool_code)
    if server is None:
        raise ToolFault("UNKNOWN_TOOL", f"{job.tool_code} does not name an MCP server. Use mcp.<server>.<tool>.")
    return McpServers(read_policy()).call(server, split_tool_name(job.tool_code), job.args)


BUILT_IN: Mapping[str, Executor] = {
    ToolGroup.DB: db.run,
    ToolGroup.HTTP_API: http.run,
    ToolGroup.WORKFLOW_ACTION: workflow.run,
    ToolGroup.CALCULATOR_TRANSFORM: calculator.run,
    ToolGroup.FILES: files.run,
    ToolGroup.DOCUMENT_RETRIEVAL: documents.run,
    ToolGroup.NOTIFICATION: notification.run,
    ToolGroup.MCP_SERVER: _call_mcp_server,
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
        """Make the HTTP call that a tool's code requests. Raises ToolFault."""
        key = idempotency_key(session.conversation_id, session.version, tool_code, request.body)
        return http.call_tool(self._snapshot, tool_code, request, self._registry.http_mappers, key)

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Any], session: Session) -> ToolAnswer:
        """Run a tool of a group. Every failure is an answer with an error type: NO_EXECUTOR for an unknown group."""
        group = resolve_group(tool_group)
        executor = self._executors.get(group)
        if executor is None:
            named = f"tool {tool_code} of group {tool_group}" if tool_code else f"group {tool_group}"
            known = ", ".join(sorted(self._executors))
            message = f"No executor is installed for {named}. There are executors for {known}."
            return ToolAnswer(error_type="NO_EXECUTOR", error_message=message)
        try:
            return executor(
                ToolJob(
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
            return ToolAnswer(
                error_type=fault.code, error_message=fault.message, stage_payloads=to_strict(fault.stage_payloads)
            )
        except (Exception, SystemExit) as error:
            return ToolAnswer(error_type=type(error).__name__, error_message=str(error))
