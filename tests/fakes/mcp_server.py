"""A real MCP server made with the official SDK: over stdio, or over HTTP (or SSE) on the port that is given."""

import asyncio
import os
import sys

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations

server = MCPServer("shop", log_level="ERROR")


@server.tool(name="order.status")
def order_status(order: str) -> dict[str, str]:
    """Where an order is."""
    return {"order": order, "status": "SHIPPED"}


@server.tool()
def quote(quantity: int, express: bool, extras: list[str], weight: float = 1.5) -> dict[str, str]:
    """What a parcel costs, with the arguments as they came."""
    return {"arguments": f"{quantity!r} {express!r} {extras!r} {weight!r}"}


@server.tool()
def pid() -> int:
    """The process that answers."""
    return os.getpid()


@server.tool()
async def slow(seconds: float) -> str:
    """Wait, then answer."""
    await asyncio.sleep(seconds)
    return "done"


@server.tool()
def die() -> str:
    """End in the middle of the call."""
    os._exit(3)


@server.tool()
def fail() -> str:
    """Raise."""
    raise ValueError("no such order")


@server.tool()
def environment(name: str) -> str:
    """What the process sees of a variable."""
    return os.environ.get(name, "")


@server.tool()
def much(characters: int) -> str:
    """A long text."""
    return "x" * characters


@server.tool()
def nest(levels: int) -> CallToolResult:
    """Lists in lists."""
    found: object = 1
    for _ in range(levels):
        found = [found]
    return CallToolResult(content=[TextContent(type="text", text="nested")], structured_content={"found": found})


@server.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True))
def cancel(order: str) -> str:
    """Cancel an order."""
    return f"{order} is cancelled"


if __name__ == "__main__":
    if len(sys.argv) > 2:
        server.run("sse", host="127.0.0.1", port=int(sys.argv[1]))
    elif len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
