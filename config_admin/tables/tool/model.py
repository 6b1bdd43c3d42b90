"""`ce_tool`: which tool an intent and state call without a planner."""

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import document, flag, make_enabled_field, note, optional_name, priority, word
from config_admin.tables.tool.checks import SAVE_CHECKS
from config_admin.validation.columns import NaturalKey, Reference, declare_column
from convengine.engine.turn.enums import ToolGroup


class CeTool(ScopedRow):
    """A direct tool call."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("intent_code", "state_code", "tool_group", "tool_code"))

    ce_tool_id = models.BigAutoField("id", primary_key=True)
    tool_group = word(ToolGroup, unknown=None)
    tool_code = declare_column(
        optional_name(verbose_name="tool", help_text="The code of a tool. If empty, the tool group is called."),
        reference=Reference.TOOL,
        depends_on="tool_group",
    )
    args_template = document(
        default=dict,
        verbose_name="arguments",
        help_text='Values may be templates, for example {"orderId": "{{context.orderNumber}}"}.',
    )
    run_once = flag(True, help_text="After a successful call, do not repeat it with the same arguments.")
    priority = priority()
    enabled = make_enabled_field()
    description = note()

    class Meta(ScopedRow.Meta):
        db_table = "ce_tool"
        verbose_name = "direct tool call"
        indexes = [index("ce_tool_lookup", "enabled", "intent_code", "state_code", "priority")]
