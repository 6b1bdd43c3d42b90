"""Checks of what a rule does: the action, and a value that fits it (tables 2.3, pipeline-2 7.4)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from config_admin.validation import rule_writes
from config_admin.validation.checks import common
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from config_admin.validation.wording import did_you_mean, listed
from convengine.domain import rows
from convengine.domain.enums import RuleAction, RulePhase
from convengine.domain.params import PARAMS
from convengine.domain.scope import UNKNOWN
from convengine.domain.text import code
from convengine.rules import vocabulary
from convengine.rules.actions import set_task
from convengine.rules.actions.contract import ActionValueError

Rule = Draft[rows.Rule]
#: Phases that run before tools are called directly: what a later one writes to `tool_request` is not looked at.
_BEFORE_TOOLS = frozenset(
    {
        RulePhase.POST_DIALOGUE_ACT,
        RulePhase.POST_CLASSIFIER_INTENT,
        RulePhase.POST_AGENT_INTENT,
        RulePhase.POST_SCHEMA_EXTRACTION,
    }
)


def action(draft: Rule) -> Iterator[Finding]:
    """A known action with a value that it can read."""
    row, known = draft.row, vocabulary.actions()
    found = vocabulary.action(row.action)
    if found is None:
        if code(row.action) not in draft.world.rule_actions:
            names = ", ".join(known)
            hint = did_you_mean(str(row.action), known)
            yield draft.error("ACTION", "action", f"Action {row.action} is not known. Choose one of: {names}.{hint}")
        return
    try:
        value = found.parse(row.action_value)
        if check := _OF_VALUE.get(found.name):
            yield from check(draft, value)
    except ActionValueError as error:
        yield draft.error(error.code, "action_value", error.message)


def _intent(draft: Rule, intent: str) -> Iterator[Finding]:
    yield from _code(draft, intent)
    if intent != UNKNOWN and common.CODE.fullmatch(intent):
        yield from common.intent_known(draft, "action_value", intent)


def _code(draft: Rule, value: str) -> Iterator[Finding]:
    if common.CODE.fullmatch(value) is None:
        yield common.code_format(draft, "action_value")


def _task(draft: Rule, reference: set_task.TaskReference) -> Iterator[Finding]:
    set_task.check(reference, draft.world.tasks)
    yield from ()


def _preference(draft: Rule, preference: tuple[str, str]) -> Iterator[Finding]:
    """Rows belong to no workspace: a knowledge base is one of any, and is missed where another one talks."""
    kind, wanted = preference
    known = draft.world.preferences().get(kind, ())
    if wanted not in known:
        yield draft.error(
            "NOT_REGISTERED",
            "action_value",
            f"There is no {kind.replace('_', ' ')} {wanted}.{did_you_mean(wanted, known)} Installed: {listed(known)}.",
        )


_OF_VALUE: Mapping[str, Callable[[Rule, Any], Iterator[Finding]]] = {
    RuleAction.SET_INTENT: _intent,
    RuleAction.SET_STATE: _code,
    RuleAction.SET_TASK: _task,
    RuleAction.SET_PREFERENCE: _preference,
}


def engine_key(draft: Rule) -> Iterator[Finding]:
    """An input param that the engine sets, and that is not meant for rules (settings 5)."""
    for key in rule_writes.params(draft.row):
        known = PARAMS.get(key)
        if known and known.owner == "E":
            yield draft.warning(
                "ENGINE_KEY_WRITE",
                "action_value",
                f"{key} is set by {known.writers}; this rule will override it for later steps.",
            )


def pointless(draft: Rule) -> Iterator[Finding]:
    """The phase comes after what the action could have changed."""
    phase = code(draft.row.phase)
    if code(draft.row.action) == RuleAction.SET_DIALOGUE_ACT and phase != RulePhase.POST_DIALOGUE_ACT:
        yield draft.warning("PHASE_POINTLESS", "phase", "The dialogue act has already been used by then.")
    elif "tool_request" in rule_writes.params(draft.row) and phase not in _BEFORE_TOOLS:
        yield draft.warning("PHASE_POINTLESS", "phase", "Tool requests have already been looked at by then.")
