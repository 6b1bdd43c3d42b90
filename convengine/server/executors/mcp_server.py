"""Tools of external MCP servers: the code names the server and its tool (pipeline-2 4.9)."""

from convengine.engine.steps.tools.fault import ToolFault
from convengine.engine.steps.tools.scope import find_server, split_tool_name
from convengine.engine.turn.ports import ToolAnswer
from convengine.server.executors.job import Job
from convengine.server.mcp_client.servers import McpServers, read_policy


def call(job: Job) -> ToolAnswer:
    """Call the tool. Raises ToolFault for a code without a server in the turn's configuration."""
    server = find_server(job.snapshot, job.tool_code)
    if server is None:
        raise ToolFault("UNKNOWN_TOOL", f"{job.tool_code} names no MCP server; a code is mcp.<server>.<tool>.")
    return McpServers(read_policy()).call(server, split_tool_name(job.tool_code), job.args)
