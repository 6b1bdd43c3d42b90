"""`ce_mcp_tool`: the registry of tools and where they may be used."""

from django.db import models
from django.db.models.functions import Lower

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.mcp_tool.checks import SAVE_CHECKS
from config_admin.tables.model_fields import NAME_FORMAT, document, flag, make_enabled_field, note, word
from config_admin.validation.columns import NaturalKey, Problem, declare_column
from convengine.engine.turn.enums import ToolGroup


class CeMcpTool(ScopedRow):
    """A tool. Its code is unique, so it has exactly one scope."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("tool_code",), is_unique=True, ignores_case=True)

    tool_id = models.BigAutoField("id", primary_key=True)
    tool_code = declare_column(
        models.CharField(
            "code",
            max_length=120,
            validators=[NAME_FORMAT],
            help_text="Letters, digits, underscores, dots and hyphens, for example order.status.",
        ),
        is_code=True,
    )
    tool_group = word(ToolGroup, unknown=None, verbose_name="group")
    read_only = flag(True, help_text="The tool only reads and changes nothing in other systems.")
    input_schema = declare_column(
        document(null=True, blank=True, help_text="JSON Schema of the arguments, for groups without their own form."),
        shape=dict,
        misshapen=Problem("SHAPE_INVALID", "The schema of the arguments must be a JSON object."),
    )
    enabled = make_enabled_field()
    description = declare_column(
        note("The planner chooses the tool by this text."),
        recommended=Problem(
            "TOOL_NO_DESCRIPTION", "The planner knows the tool only by this text. Describe what the tool does."
        ),
    )

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
                violation_error_message="A tool with this code already exists.",
            ),
        ]
