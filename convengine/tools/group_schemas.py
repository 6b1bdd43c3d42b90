"""What the built-in executors take, for tools whose row does not say (pipeline-2 4.3).

It is shown, not enforced: code may be registered for such a tool and take others; the executors judge their own.
"""

from collections.abc import Mapping
from typing import Any

from convengine.domain import rows
from convengine.domain.enums import ToolGroup
from convengine.domain.snapshot import Snapshot
from convengine.tools.arguments import schema_of
from convengine.tools.request import group_of

Json = Any


def shown_schema(snapshot: Snapshot, tool: rows.Tool) -> Json:
    """The schema that a planner is shown: the tool's own, else its group's; null when neither is known."""
    return schema_of(snapshot, tool) or GROUP_SCHEMAS.get(group_of(tool.tool_group))


def _text(description: str) -> dict[str, Json]:
    return {"type": "string", "description": description}


def _object(required: list[str], **properties: Json) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": required}


GROUP_SCHEMAS: Mapping[str, Json] = {
    ToolGroup.DOCUMENT_RETRIEVAL: _object(
        ["query"],
        query=_text("What is sought, in words."),
        limit={"type": "integer", "minimum": 1, "maximum": 20, "description": "How many documents; 5 by default."},
    ),
    ToolGroup.CALCULATOR_TRANSFORM: {
        **_object(
            ["expression"], expression=_text("Such as round(price * quantity, 2); the other arguments are its names.")
        ),
        "additionalProperties": True,
    },
    ToolGroup.NOTIFICATION: _object(
        ["to"],
        channel={"type": "string", "enum": ["email", "webhook"], "description": "email by default."},
        to=_text("An address; for a webhook, the name of its connection."),
        subject=_text("Of an e-mail."),
        text=_text("Of an e-mail."),
        data={"type": "object", "description": "What a webhook is given."},
    ),
    ToolGroup.FILES: _object([], path=_text("A file or folder below the root; blank for the root.")),
}
