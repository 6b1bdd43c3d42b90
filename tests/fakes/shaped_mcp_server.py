"""A real process that speaks the Model Context Protocol by hand, and gives the results that a file has."""

import json
import sys
from pathlib import Path
from typing import Any

#: By tool: the schema of its result, or null, and its result.
SHAPES: dict[str, dict[str, Any]] = json.loads(Path(sys.argv[1]).read_text("utf-8"))


def answer(request: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; null for a notification, which has none."""
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        version = params["protocolVersion"]
        about = {"name": "shaped", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [describe(name, shape) for name, shape in SHAPES.items()]}
    if method == "tools/call":
        result: dict[str, Any] = SHAPES[params["name"]]["result"]
        return result
    return {} if "id" in request else None


def describe(name: str, shape: dict[str, Any]) -> dict[str, Any]:
    schema = shape.get("schema")
    return {"name": name, "inputSchema": {"type": "object"}, **({"outputSchema": schema} if schema else {})}


print("Shaped server 1.0, listening …")
print('{"level": "info"}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if (result := answer(request)) is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
