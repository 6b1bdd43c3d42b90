"""Tools of external MCP servers: the code names the server and its tool (pipeline-2 4.9)."""

from convengine.engine.steps.tools.fault import ToolFault
from convengine.engine.steps.tools.scope import find_server, split_tool_name
from convengine.engine.turn.ports import ToolAnswer
from convengine.server.deployment import conf
from convengine.server.executors.job import Job
from convengine.server.mcp_client.policy import Policy
from convengine.server.mcp_client.servers import McpServers


def policy() -> Policy:
    """What rows of MCP servers may do in this deployment."""
    commands, hosts = conf.get("MCP_STDIO_COMMANDS"), conf.get("MCP_HTTP_HOSTS")
    return Policy(frozenset(commands), frozenset(host.lower() for host in hosts), conf.get("MCP_SECRETS"))


def call(job: Job) -> ToolAnswer:
    """Call the tool. Raises ToolFault for a code without a server in the turn's configuration."""
    server = find_server(job.snapshot, job.tool_code)
    if server is None:
        raise ToolFault("UNKNOWN_TOOL", f"{job.tool_code} names no MCP server; a code is mcp.<server>.<tool>.")
    return McpServers(policy()).call(server, split_tool_name(job.tool_code), job.args)
