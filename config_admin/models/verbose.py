"""`ce_verbose`: readable progress and error lines (tables 5.2)."""

from django.db import models

from config_admin.models.base import ScopedRow, index, shortened
from config_admin.models.fields import enabled, not_blank, optional_name, optional_text, priority, word
from convengine.domain.enums import StepMatch


class CeVerbose(ScopedRow):
    """A line for something that happens in a turn, streamed while it runs."""

    verbose_id = models.BigAutoField("id", primary_key=True)
    step_match = word(StepMatch, default=StepMatch.EXACT.value, verbose_name="how the step is read")
    step_value = models.CharField("step", help_text="For example McpToolStep, .*Step$ or $.stepInfo.error.")
    determinant = models.CharField("event", help_text="The event's name, or ANY.")
    rule_id = models.BigIntegerField("rule", null=True, blank=True, help_text="Only for events of this rule.")
    tool_code = optional_name(verbose_name="tool", help_text="Only for events of this tool.")
    message = optional_text(help_text="A template, for the normal case.")
    error_message = optional_text(help_text="A template, for the error case.")
    priority = priority(help_text="Among rows that fit equally well, lower goes first.")
    enabled = enabled()

    class Meta(ScopedRow.Meta):
        db_table = "ce_verbose"
        verbose_name = "progress text"
        indexes = [
            index(
                "ce_verbose_lookup",
                "enabled",
                "intent_code",
                "state_code",
                "determinant",
                "step_match",
                "step_value",
                "rule_id",
                "tool_code",
                "priority",
            )
        ]
        constraints = [
            *ScopedRow.Meta.constraints,
            *not_blank(
                "step_match", "step_value", "determinant", code="FIELD_REQUIRED", message="Enter a value, or ANY."
            ),
        ]

    def summary(self) -> str:
        return f"{self.scope} {self.determinant} {shortened(self.message or self.error_message)}".rstrip()
