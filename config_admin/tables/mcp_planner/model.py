"""`ce_mcp_planner`: planner prompts of an intent and state."""

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.mcp_planner.checks import SAVE_CHECKS
from config_admin.tables.model_fields import make_enabled_field
from config_admin.validation.columns import TEMPLATE, NaturalKey, Problem, declare_column


class CeMcpPlanner(ScopedRow):
    """The prompts with which a model plans tool calls. Among equals, the highest id is used."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("intent_code", "state_code"))

    planner_id = models.BigAutoField("id", primary_key=True)
    system_prompt = declare_column(
        models.TextField(),
        required=Problem("FIELD_REQUIRED", "Enter the system prompt."),
        language=TEMPLATE,
        is_strict=True,
        help="The system prompt of the planner.",
    )
    user_prompt = declare_column(
        models.TextField(help_text="Must contain {{mcp_tools}}, otherwise the planner does not know the tools."),
        required=Problem("FIELD_REQUIRED", "Enter the user prompt."),
        language=TEMPLATE,
        is_strict=True,
    )
    enabled = make_enabled_field()

    class Meta(ScopedRow.Meta):
        db_table = "ce_mcp_planner"
        verbose_name = "planner prompt"
        indexes = [index("ce_mcp_planner_lookup", "enabled", "intent_code", "state_code", "planner_id")]
