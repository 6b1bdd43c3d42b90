"""A direct request for one tool, and the names of tool groups (pipeline-2 3.1, 3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convengine.codec import loads
from convengine.domain.enums import TOOL_GROUP_ALIASES
from convengine.domain.text import blank, code

Json = Any


class InvalidToolRequest(ValueError):
    """A `tool_request` that names nothing which could be run; the message says why."""


@dataclass(frozen=True)
class ToolRequest:
    """What is to be run. A code without a group takes the tool's; a group without a code has no tool row."""

    tool_code: str | None = None
    tool_group: str | None = None
    args: Mapping[str, Json] = field(default_factory=dict)

    def stored(self) -> dict[str, Json]:
        """The request as params and audit hold it."""
        return {"tool_code": self.tool_code, "tool_group": self.tool_group, "args": dict(self.args)}


def group_of(name: str | None) -> str:
    """The canonical name of a group: trimmed, upper case, aliases resolved; blank is DB, anything else itself."""
    word = code(name)
    return str(TOOL_GROUP_ALIASES.get(word, word))


def read_request(value: Json) -> ToolRequest | None:
    """The request that a param holds, an object or a JSON text of one; null when it holds none.

    Arguments that are no object read as none. Raises InvalidToolRequest for everything else that is there.
    """
    if value is None or blank(value):
        return None
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError:
            raise InvalidToolRequest("tool_request is a text that is no JSON.") from None
    if not isinstance(value, Mapping):
        raise InvalidToolRequest("tool_request must be an object with tool_code, tool_group, args.")
    tool, group = (_name(value, key) for key in ("tool_code", "tool_group"))
    if tool is None and group is None:
        raise InvalidToolRequest("tool_request names neither a tool_code nor a tool_group.")
    args = value.get("args")
    return ToolRequest(tool, group_of(group) if group else None, args if isinstance(args, Mapping) else {})


def _name(request: Mapping[str, Json], key: str) -> str | None:
    value = request.get(key)
    if value is None or blank(value):
        return None
    if not isinstance(value, str):
        raise InvalidToolRequest(f"{key} of tool_request must be a text.")
    return value.strip()
