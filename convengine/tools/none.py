"""No tools: what stands at the tool port of a deployment without executors."""

from collections.abc import Mapping
from typing import Any

from convengine.domain.ports import ToolAnswer
from convengine.domain.session import Session


class NoTools:
    """Every tool is unknown."""

    def run(self, tool_code: str, tool_group: str, args: Mapping[str, Any], session: Session) -> ToolAnswer:
        """Answer that there is no executor."""
        return ToolAnswer(error_type="NO_EXECUTOR", error_message=f"No executor is installed for group {tool_group}.")
