"""`ce_mcp_sql_guardrail`: functions and keywords that SQL tools may, or may not, use."""

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow
from config_admin.tables.mcp_sql_guardrail.checks import SAVE_CHECKS
from config_admin.tables.model_fields import LowerField, make_enabled_field, note, word
from config_admin.validation.columns import NaturalKey, declare_column
from convengine.engine.turn.enums import GuardrailType


class CeMcpSqlGuardrail(ControlPlaneRow):
    """One entry of the set; BLOCK wins over ALLOW."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("rule_type", "match_value"), is_unique=True)

    guardrail_id = models.BigAutoField("id", primary_key=True)
    rule_type = word(GuardrailType, verbose_name="kind")
    match_value = declare_column(
        LowerField("name", help_text="One function or keyword: letters, digits and underscores."), is_code=True
    )
    enabled = make_enabled_field()
    description = note()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_mcp_sql_guardrail"
        verbose_name = "SQL guardrail"
        constraints = [
            models.UniqueConstraint(
                fields=["rule_type", "match_value"],
                name="ce_mcp_sql_guardrail_unique",
                violation_error_code="DUPLICATE",
                violation_error_message="This guardrail already exists.",
            )
        ]
