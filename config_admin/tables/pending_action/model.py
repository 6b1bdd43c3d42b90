"""`ce_pending_action`: things that need a "yes" before they run."""

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import make_enabled_field, note, priority
from config_admin.tables.pending_action.checks import SAVE_CHECKS
from config_admin.validation.columns import NaturalKey, Problem, Reference, declare_column


class CePendingAction(ScopedRow):
    """One entry of the catalogue; the state of an opened action is in the conversation's context."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("intent_code", "state_code", "action_key"))

    pending_action_id = models.BigAutoField("id", primary_key=True)
    action_key = declare_column(
        models.CharField("action", help_text="The name of the action, for example REFUND_PAYMENT."),
        required=Problem("ACTION_KEY_BLANK", "Enter a name for the action, for example REFUND_PAYMENT."),
        is_code=True,
    )
    bean_name = declare_column(
        models.CharField("task", help_text="The name of a registered task."),
        required=Problem("FIELD_REQUIRED", "Choose the task that the action runs."),
        reference=Reference.TASK,
    )
    method_names = declare_column(
        models.CharField("methods", help_text="Methods of the task, separated by commas. They run in this order."),
        reference=Reference.METHOD,
        depends_on="bean_name",
    )
    priority = priority(
        help_text="Lower numbers come first. If two are equal, the user is asked which action is meant."
    )
    enabled = make_enabled_field()
    description = declare_column(
        note("Shown to the user when several actions are possible."),
        recommended=Problem(
            "ACTION_NO_DESCRIPTION",
            "If the user is asked which action is meant, only the key is shown. Enter a description.",
        ),
    )

    class Meta(ScopedRow.Meta):
        db_table = "ce_pending_action"
        verbose_name = "pending action"
        indexes = [index("ce_pending_action_lookup", "enabled", "action_key", "intent_code", "state_code", "priority")]
