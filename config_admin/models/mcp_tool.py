"""`ce_mcp_tool`: the registry of tools and where they may be used (tables 4.3)."""

from django.db import models
from django.db.models.functions import Lower

from config_admin.models.base import ScopedRow, index
from config_admin.models.fields import NAME_FORMAT, document, enabled, flag, note, word
from convengine.domain.enums import ToolGroup


class CeMcpTool(ScopedRow):
    """A tool. Its code is unique, so it has exactly one scope."""

    tool_id = models.BigAutoField("id", primary_key=True)
    tool_code = models.CharField(
        "code",
        max_length=120,
        validators=[NAME_FORMAT],
        help_text="Letters, digits, _ . and -; usually dotted, for example order.status.",
    )
    tool_group = word(ToolGroup, verbose_name="group")
    read_only = flag(True, help_text="The tool changes nothing outside.")
    input_schema = document(
        null=True, blank=True, help_text="JSON Schema of the arguments, for groups without a table of their own."
    )
    enabled = enabled()
    description = note("The planner chooses by this text.")

    class Meta(ScopedRow.Meta):
        db_table = "ce_mcp_tool"
        verbose_name = "tool"
        indexes = [
            index("ce_mcp_tool_lookup", "enabled", "intent_code", "state_code", "tool_group", "tool_code"),
        ]
        constraints = [
            *ScopedRow.Meta.constraints,
            models.UniqueConstraint(
                Lower("tool_code"),
                name="ce_mcp_tool_code_unique",
                violation_error_code="DUPLICATE",
                violation_error_message="A tool of this code exists already.",
            ),
        ]

    def summary(self) -> str:
        return f"{self.tool_code} ({self.scope})"
