"""`ce_pending_action`: things that need a "yes" before they run."""

from collections.abc import Iterator

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import make_enabled_field, note, priority
from config_admin.validation import common, relations
from config_admin.validation.columns import ColumnProblem, NaturalKey, Reference, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from convengine.engine.pending_actions.settings import QUESTION_TEMPLATE
from convengine.engine.prompts.render import list_names
from convengine.engine.rules.actions import set_task
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.rules.task_runs import TaskReference
from convengine.engine.text.compare import code
from convengine.engine.turn import live_settings, rows

Action = Draft[rows.PendingAction]


def _check_methods(draft: Action) -> Iterator[Finding]:
    if not _list_methods(draft.row):
        yield draft.error("FIELD_REQUIRED", "method_names", "Enter at least one method of the task.")


def _list_methods(row: rows.PendingAction) -> list[str]:
    return [name.strip() for name in (row.method_names or "").split(",") if name.strip()]


def _check_task(draft: Action) -> Iterator[Finding]:
    task, methods, registered = (draft.row.bean_name or "").strip(), _list_methods(draft.row), draft.world.tasks
    if task and methods:
        try:
            set_task.check_reference(TaskReference(task, tuple(methods)), registered)
        except ActionValueError as error:
            yield draft.error(error.code, "method_names" if task in registered else "bean_name", error.message)


def _check_ambiguity(draft: Action) -> Iterator[Finding]:
    row = draft.row
    if not row.enabled:
        return
    template = live_settings.read(draft.snapshot, QUESTION_TEMPLATE).value
    if template != QUESTION_TEMPLATE.default and "options" in list_names(template):
        # Somebody worded the question which action is meant, and it lists them: then it is wanted.
        return
    meeting = relations.find_rows_sharing_scope(draft.snapshot, rows.PendingAction, row.intent_code, row.state_code)
    for other in draft.others(meeting):
        if other.priority == row.priority and code(other.action_key) != code(row.action_key):
            yield draft.warning(
                "ACTION_AMBIGUOUS",
                "priority",
                f"{row.action_key} and {other.action_key} have the same priority here, so the user is asked which one "
                "is meant. Change a priority to avoid the question.",
            )
            return


_check_scope = common.make_any_scope_check(
    "ACTION_SCOPE_ANY",
    "With intent ANY and state ANY, a plain 'yes' can run this action anywhere. Choose an intent or a state.",
)


class CePendingAction(ScopedRow):
    """One entry of the catalogue; the state of an opened action is in the conversation's context."""

    save_checks = SaveChecks(
        form=(_check_methods, _check_task),
        fit=(
            _check_ambiguity,
            _check_scope,
            common.check_duplicate_row,
            common.make_shadowing_check("action_key"),
        ),
    )
    natural_key = NaturalKey(("intent_code", "state_code", "action_key"))

    pending_action_id = models.BigAutoField("id", primary_key=True)
    action_key = declare_column(
        models.CharField("action", help_text="The name of the action, for example REFUND_PAYMENT."),
        required=ColumnProblem("ACTION_KEY_BLANK", "Enter a name for the action, for example REFUND_PAYMENT."),
        is_code=True,
    )
    bean_name = declare_column(
        models.CharField("task", help_text="The name of a registered task."),
        required=ColumnProblem("FIELD_REQUIRED", "Choose the task that the action runs."),
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
        recommended=ColumnProblem(
            "ACTION_NO_DESCRIPTION",
            "If the user is asked which action is meant, only the key is shown. Enter a description.",
        ),
    )

    class Meta(ScopedRow.Meta):
        db_table = "ce_pending_action"
        verbose_name = "pending action"
        indexes = [index("ce_pending_action_lookup", "enabled", "action_key", "intent_code", "state_code", "priority")]
