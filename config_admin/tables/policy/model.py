"""`ce_policy`: messages that are never processed."""

from django.db import models

from config_admin.tables.base_model import ControlPlaneRow, index
from config_admin.tables.model_fields import make_enabled_field, note, priority, word
from config_admin.tables.policy.checks import SAVE_CHECKS
from config_admin.validation.columns import REGEX, LanguageByWord, NaturalKey, Problem, declare_column
from convengine.engine.turn.enums import PolicyType


class CePolicy(ControlPlaneRow):
    """A text that ends the turn before anything else happens. It has no scope."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("rule_type", "pattern"))

    policy_id = models.BigAutoField("id", primary_key=True)
    rule_type = word(
        PolicyType,
        unknown=Problem("RULE_TYPE", "Choose {one_of}.{hint}"),
        verbose_name="match type",
    )
    pattern = declare_column(
        models.TextField(
            help_text="Upper and lower case are treated as equal. For LLM, describe the criterion in words."
        ),
        required=Problem("PATTERN_BLANK", "Enter a pattern."),
        language=LanguageByWord("rule_type", {"REGEX": REGEX}),
    )
    response_text = declare_column(
        models.TextField("answer", help_text="The answer to the user when this policy applies."),
        required=Problem("FIELD_REQUIRED", "Enter the answer for messages that match."),
    )
    priority = priority(10, "Lower numbers come first. The first match stops the turn.")
    enabled = make_enabled_field()
    description = note()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_policy"
        verbose_name = "policy"
        verbose_name_plural = "policies"
        indexes = [index("ce_policy_order", "enabled", "priority")]
