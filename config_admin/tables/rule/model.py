"""`ce_rule`: when a condition holds in a phase, do one thing."""

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import flag, make_enabled_field, note, optional_text, priority, word
from config_admin.tables.rule.checks import SAVE_CHECKS
from config_admin.validation.columns import (
    JSON,
    PATH,
    REGEX,
    LanguageByWord,
    NaturalKey,
    Problem,
    Reference,
    declare_column,
)
from convengine.engine.turn.enums import MatchTarget, RuleAction, RulePhase, RuleType


class CeRule(ScopedRow):
    """A rule: most behaviour is configured here."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(
        ("intent_code", "state_code", "phase", "rule_type", "match_pattern", "match_target", "action")
    )

    rule_id = models.BigAutoField("id", primary_key=True)
    phase = word(
        RulePhase,
        unknown=Problem("PHASE", "Choose one of the phases: {words}.{hint}"),
        default=RulePhase.PRE_RESPONSE_RESOLUTION.value,
        help_text="The point in the turn at which this rule is evaluated.",
    )
    rule_type = word(
        RuleType,
        unknown=Problem("RULE_TYPE", "Choose {one_of}.{hint}"),
        accepted="rule_types",
        verbose_name="condition type",
    )
    match_pattern = declare_column(
        models.TextField(
            "condition",
            help_text="Rows of fields and values, a text, ANY, a pattern or a JSON path, depending on the type.",
        ),
        required=Problem("PATTERN_BLANK", "Enter the condition."),
        language=LanguageByWord(
            "rule_type", {"CONDITION": JSON, "REGEX": REGEX, "JSON_PATH": PATH, "CONTEXT_JSON_PATH": PATH}
        ),
    )
    action = word(
        RuleAction,
        unknown=None,
        reference=Reference.RULE_ACTION,
        help_text="What the rule does when its condition is met.",
    )
    action_value = declare_column(
        optional_text(help_text="The value for the action: a state, an intent, key:value, …"),
        reference=Reference.ACTION_VALUE,
        depends_on="action",
    )
    priority = priority(help_text="Within one scope, lower numbers come first. All matching rules run.")
    match_target = word(
        MatchTarget,
        default=MatchTarget.USER_TEXT.value,
        verbose_name="compared text",
        help_text="The text that EXACT and REGEX conditions compare.",
    )
    stop_processing = flag(False, help_text="If this rule matches, later rules of this pass are skipped.")
    override = flag(
        False,
        verbose_name="override specific rules",
        help_text=(
            "This rule may change an intent or state that a more specific rule set in the same turn, even if "
            "the setting Rules/GENERAL_MAY_UNDO is off."
        ),
    )
    null_leaf_matches = flag(
        True,
        verbose_name="also match an empty value",
        help_text="Only for JSON paths: a path to an existing but empty value also matches.",
    )
    enabled = make_enabled_field()
    description = note("Shown in timelines instead of the number.")

    class Meta(ScopedRow.Meta):
        db_table = "ce_rule"
        verbose_name = "rule"
        indexes = [index("ce_rule_lookup", "enabled", "phase", "intent_code", "state_code", "priority")]
