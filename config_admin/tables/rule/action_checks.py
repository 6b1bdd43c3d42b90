"""Checks of a rule's action and its value (tables 2.3, pipeline-2 7.4)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from config_admin.validation import common, rule_writes
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from config_admin.validation.wording import did_you_mean, join_names
from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions import set_task
from convengine.engine.rules.actions.contract import ActionValueError
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleAction, RulePhase
from convengine.engine.turn.params import PARAMS
from convengine.engine.turn.scope import UNKNOWN

Rule = Draft[rows.Rule]
#: Phases that run before direct tool calls: later phases set `tool_request` without effect.
_BEFORE_TOOLS = frozenset(
    {
        RulePhase.POST_DIALOGUE_ACT,
        RulePhase.POST_CLASSIFIER_INTENT,
        RulePhase.POST_AGENT_INTENT,
        RulePhase.POST_SCHEMA_EXTRACTION,
    }
)


def check_action(draft: Rule) -> Iterator[Finding]:
    """A known action with a readable value."""
    row, known = draft.row, vocabulary.list_actions()
    found = vocabulary.get_action(row.action)
    if found is None:
        if code(row.action) not in draft.world.rule_actions:
            names = ", ".join(known)
            hint = did_you_mean(str(row.action), known)
            said = f"Unknown action {row.action}." if row.action else "The action is missing."
            yield draft.error("ACTION", "action", f"{said} Choose one of: {names}.{hint}")
        return
    try:
        value = found.parse(row.action_value)
        if check := _CHECK_OF_VALUE.get(found.name):
            yield from check(draft, value)
    except ActionValueError as error:
        yield draft.error(error.code, "action_value", error.message)


def _check_intent(draft: Rule, intent: str) -> Iterator[Finding]:
    yield from _check_code(draft, intent)
    if intent != UNKNOWN and common.CODE.fullmatch(intent):
        yield from common.check_intent_exists(draft, "action_value", intent)


def _check_code(draft: Rule, value: str) -> Iterator[Finding]:
    if common.CODE.fullmatch(value) is None:
        yield common.report_code_format(draft, "action_value")


def _check_task(draft: Rule, reference: set_task.TaskReference) -> Iterator[Finding]:
    set_task.check_reference(reference, draft.world.tasks)
    yield from ()


def _check_preference(draft: Rule, preference: tuple[str, str]) -> Iterator[Finding]:
    """Rows belong to no workspace: a knowledge base may belong to any, and is missing in others."""
    kind, wanted = preference
    known = draft.world.preferences().get(kind, ())
    if wanted not in known:
        yield draft.error(
            "NOT_REGISTERED",
            "action_value",
            f"There is no {kind.replace('_', ' ')} {wanted}.{did_you_mean(wanted, known)}"
            f" Installed: {join_names(known)}.",
        )


_CHECK_OF_VALUE: Mapping[str, Callable[[Rule, Any], Iterator[Finding]]] = {
    RuleAction.SET_INTENT: _check_intent,
    RuleAction.SET_STATE: _check_code,
    RuleAction.SET_TASK: _check_task,
    RuleAction.SET_PREFERENCE: _check_preference,
}


def check_engine_keys(draft: Rule) -> Iterator[Finding]:
    """An input param that the engine sets, and that is not meant for rules (settings 5)."""
    for key in rule_writes.list_params(draft.row):
        known = PARAMS.get(key)
        if known and known.owner == "E":
            yield draft.warning(
                "ENGINE_KEY_WRITE",
                "action_value",
                f"{key} is set by {known.writers}. This rule overrides it for later steps.",
            )


def check_phase(draft: Rule) -> Iterator[Finding]:
    """The phase runs too late for the action to have an effect."""
    phase = code(draft.row.phase)
    if code(draft.row.action) == RuleAction.SET_DIALOGUE_ACT and phase != RulePhase.POST_DIALOGUE_ACT:
        yield draft.warning(
            "PHASE_POINTLESS",
            "phase",
            "In this phase the dialogue act was already used, so the change has no effect. Choose an earlier phase.",
        )
    elif "tool_request" in rule_writes.list_params(draft.row) and phase not in _BEFORE_TOOLS:
        yield draft.warning(
            "PHASE_POINTLESS",
            "phase",
            (
                "In this phase tool requests were already processed, so the request has no effect. Choose an "
                "earlier phase."
            ),
        )
