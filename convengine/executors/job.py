"""What a built-in executor is given."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convengine.domain import rows
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.extensions.registry import Registry

Json = Any


@dataclass(frozen=True)
class Job:
    """One call of a tool. The arguments fit the tool's schema, where it has one."""

    #: Blank for a request that names a group alone.
    tool_code: str
    group: str
    args: Mapping[str, Json]
    session: Session
    #: The configuration of the turn.
    snapshot: Snapshot
    #: What the deployment registered in code.
    registry: Registry
    #: Whose documents are searched.
    workspace: str = "default"

    @property
    def tool(self) -> rows.Tool | None:
        """The tool's row; null without a code, or when none has it."""
        table = self.snapshot.table(rows.Tool)
        by_code = table.memo.get(
            "by_code", lambda: {row.tool_code.lower(): row for row in reversed(self.snapshot.rows(rows.Tool))}
        )
        return by_code.get(self.tool_code.lower())
