"""What a tool in code may return instead of a result: an HTTP call for the engine to make (pipeline-2 4.8)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Any


@dataclass(frozen=True)
class HttpRequest:
    """A call of one of the deployment's named connections, which has the address, the credentials and the hosts."""

    connection: str
    #: The path below the connection's address, or a whole address of one of its hosts.
    path: str = ""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Null values and blank names are left out.
    query: Mapping[str, Json] = field(default_factory=dict)
    #: A text as it is, anything else as JSON; null for none. GET, HEAD and DELETE send none.
    body: Json = None
    #: Overrides of the McpHttpApi settings by their names in lower case, and `retry_non_idempotent`.
    policy: Mapping[str, Json] = field(default_factory=dict)
    mapping_mode: str = "RAW_JSON"
    #: `jsonPath`, `fieldPaths` or `mapper`, as the mode needs.
    mapping: Mapping[str, Json] = field(default_factory=dict)
