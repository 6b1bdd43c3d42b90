"""Tools of external MCP servers: the code says which server and which of its tools (pipeline-2 4.9)."""

from convengine import conf
from convengine.domain.ports import ToolAnswer
from convengine.executors.job import Job
from convengine.mcp_client.policy import Policy
from convengine.mcp_client.servers import McpServers
from convengine.tools.fault import ToolFault
from convengine.tools.servers import server_of, tool_name


def policy() -> Policy:
    """What rows of MCP servers may do in this deployment."""
    commands, hosts = conf.get("MCP_STDIO_COMMANDS"), conf.get("MCP_HTTP_HOSTS")
    return Policy(frozenset(commands), frozenset(host.lower() for host in hosts), conf.get("MCP_SECRETS"))


def call(job: Job) -> ToolAnswer:
    """Call it. Raises ToolFault for a code that names no server of the turn's configuration."""
    server = server_of(job.snapshot, job.tool_code)
    if server is None:
        raise ToolFault("UNKNOWN_TOOL", f"{job.tool_code} names no MCP server; a code is mcp.<server>.<tool>.")
    return McpServers(policy()).call(server, tool_name(job.tool_code), job.args)
