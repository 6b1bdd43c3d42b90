"""An HTTP call that a tool in code may return for the engine to make."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from convengine.json_value import Json


@dataclass(frozen=True)
class HttpRequest:
    """A call of one of the deployment's named connections."""

    connection: str
    #: The path below the connection's address, or a full address of one of its hosts.
    path: str = ""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Null values and blank names are left out.
    query: Mapping[str, Json] = field(default_factory=dict)
    #: A text unchanged, anything else as JSON. None means no body; GET, HEAD and DELETE never send one.
    body: Json = None
    #: Overrides of the McpHttpApi settings by name in lower case, and `retry_non_idempotent`.
    policy: Mapping[str, Json] = field(default_factory=dict)
    mapping_mode: str = "RAW_JSON"
    #: `jsonPath`, `fieldPaths` or `mapper`, as the mode needs.
    mapping: Mapping[str, Json] = field(default_factory=dict)
