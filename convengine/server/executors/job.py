"""The input of a built-in executor."""

from collections.abc import Mapping
from dataclasses import dataclass

from convengine.engine.turn import rows
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.server.extensions.registry import Registry


@dataclass(frozen=True)
class ToolJob:
    """One call of a tool, with validated arguments."""

    #: Blank for a request that names only a group.
    tool_code: str
    group: str
    args: Mapping[str, Json]
    session: Session
    #: The configuration of the turn.
    snapshot: Snapshot
    #: What the deployment registered in code.
    registry: Registry
    #: The workspace of the documents.
    workspace: str = "default"

    @property
    def tool(self) -> rows.Tool | None:
        table = self.snapshot.table(rows.Tool)
        by_code = table.memo.get(
            "by_code", lambda: {row.tool_code.lower(): row for row in reversed(self.snapshot.rows(rows.Tool))}
        )
        return by_code.get(self.tool_code.lower())
