"""Save checks of `ce_pending_action` (tables 4.1)."""

from collections.abc import Iterator

from config_admin.validation import relations
from config_admin.validation.checks import common
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from convengine.domain import rows
from convengine.domain.scope import ANY
from convengine.domain.text import blank, code
from convengine.rules.actions import set_task
from convengine.rules.actions.contract import ActionValueError

Action = Draft[rows.PendingAction]


def _filled(draft: Action) -> Iterator[Finding]:
    yield from common.required(
        draft, "action_key", "Give the action a name, for example REFUND_PAYMENT.", "ACTION_KEY_BLANK"
    )
    yield from common.required(draft, "bean_name", "Choose the task that runs.")
    if not _methods(draft.row):
        yield draft.error("FIELD_REQUIRED", "method_names", "Name at least one method of the task.")


def _methods(row: rows.PendingAction) -> list[str]:
    return [name.strip() for name in (row.method_names or "").split(",") if name.strip()]


def _task(draft: Action) -> Iterator[Finding]:
    task, methods, registered = (draft.row.bean_name or "").strip(), _methods(draft.row), draft.world.tasks
    if task and methods:
        try:
            set_task.check(set_task.TaskReference(task, tuple(methods)), registered)
        except ActionValueError as error:
            yield draft.error(error.code, "method_names" if task in registered else "bean_name", error.message)


def _ambiguous(draft: Action) -> Iterator[Finding]:
    row = draft.row
    if not row.enabled:
        return
    meeting = relations.sharing_scope(draft.snapshot, rows.PendingAction, row.intent_code, row.state_code)
    for other in draft.others(meeting):
        if other.priority == row.priority and code(other.action_key) != code(row.action_key):
            yield draft.warning(
                "ACTION_AMBIGUOUS",
                "priority",
                f"{row.action_key} and {other.action_key} have the same priority here; the user will be asked which "
                "one is meant.",
            )
            return


def _everywhere(draft: Action) -> Iterator[Finding]:
    if relations.scope_key(draft.row) == (ANY, ANY):
        yield draft.warning(
            "ACTION_SCOPE_ANY", "intent_code", "With scope ANY/ANY a plain 'yes' anywhere can run this."
        )


def _described(draft: Action) -> Iterator[Finding]:
    if blank(draft.row.description):
        yield draft.warning(
            "ACTION_NO_DESCRIPTION",
            "description",
            "Without a description the user sees only the key when asked which action is meant.",
        )


def _shadowed(draft: Action) -> Iterator[Finding]:
    yield from common.shadowed_row(draft, "action_key")


FORM: tuple[Check, ...] = (common.scope, _filled, common.priority, _task)
FIT: tuple[Check, ...] = (
    common.scope_fit,
    _ambiguous,
    _everywhere,
    _described,
    common.duplicate_row,
    _shadowed,
)
