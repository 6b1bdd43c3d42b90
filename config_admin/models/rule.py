"""`ce_rule`: when a condition holds in a phase, do one thing (tables 2.3)."""

from django.db import models

from config_admin.models.base import ScopedRow, index, shortened
from config_admin.models.fields import enabled, flag, note, optional_text, priority, word
from convengine.domain.enums import MatchTarget, RuleAction, RulePhase, RuleType


class CeRule(ScopedRow):
    """Most behaviour lives here."""

    rule_id = models.BigAutoField("id", primary_key=True)
    phase = word(
        RulePhase, default=RulePhase.PRE_RESPONSE_RESOLUTION.value, help_text="When in a turn this rule is looked at."
    )
    rule_type = word(RuleType, verbose_name="kind of condition")
    match_pattern = models.TextField(
        "condition", help_text="A text or ANY, a regular expression, or a JSON path, as the kind says."
    )
    action = word(RuleAction, help_text="What happens when the condition holds.")
    action_value = optional_text(help_text="What the action needs: a state, an intent, key:value, …")
    priority = priority(help_text="Inside one scope, lower goes first. All matching rules run.")
    match_target = word(
        MatchTarget,
        default=MatchTarget.USER_TEXT.value,
        verbose_name="text looked at",
        help_text="What EXACT and REGEX conditions look at.",
    )
    stop_processing = flag(False, help_text="A match ends the list of this pass.")
    null_leaf_matches = flag(
        True,
        verbose_name="an empty value also counts",
        help_text="JSON_PATH only: a plain path to a present but empty value is a match.",
    )
    enabled = enabled()
    description = note("Shown in timelines next to the id.")

    class Meta(ScopedRow.Meta):
        db_table = "ce_rule"
        verbose_name = "rule"
        indexes = [index("ce_rule_lookup", "enabled", "phase", "intent_code", "state_code", "priority")]

    def summary(self) -> str:
        return f"{self.scope} {self.rule_type} → {self.action} {shortened(self.action_value)}".rstrip()
