"""What rules may do: one table that the engine runs, the forms offer and the manual prints (style habit 15).

Each entry names an action's module functions; a deployment adds its own with `@rule_action`.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from convengine.domain.enums import RuleAction
from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.rules.actions import (
    clear_context,
    get_context,
    get_schema_json,
    get_session,
    remove_input_param,
    set_context,
    set_dialogue_act,
    set_input_param,
    set_intent,
    set_json,
    set_preference,
    set_response_hint,
    set_state,
    set_task,
)
from convengine.rules.actions.contract import ActionFailed

#: What a value says, as far as it can be said without the configuration. Raises ActionValueError.
Parse = Callable[[str | None], Any]
#: The session after the action. Raises ActionValueError or ActionFailed.
Apply = Callable[[Rule, Session, Turn], Session]


@dataclass(frozen=True)
class Action:
    """One action: its words, its value, and what it does."""

    name: str
    label: str
    help: str
    #: What the value is, as the form's label says it.
    value: str
    #: What the form offers for the value: intent, state, act, params, path, name, names, task, context, fields,
    #: preference or text.
    picker: str
    parse: Parse
    apply: Apply
    value_required: bool = True
    #: True for an action of the deployment.
    custom: bool = False


def _entry(
    name: RuleAction, module: Any, picker: str, help: str, *, value_required: bool = True
) -> tuple[RuleAction, Action]:
    action = Action(name.value, name.label, help, module.VALUE, picker, module.parse, module.apply, value_required)
    return name, action


_BUILT_IN: Mapping[str, Action] = dict(
    (
        _entry(RuleAction.SET_INTENT, set_intent, "intent", "The conversation is about this intent from now on."),
        _entry(RuleAction.SET_STATE, set_state, "state", "The conversation is in this state from now on."),
        _entry(
            RuleAction.SET_DIALOGUE_ACT,
            set_dialogue_act,
            "act",
            "Overrules what the user was found to do. Acts in the phase after the dialogue act only.",
        ),
        _entry(
            RuleAction.SET_INPUT_PARAM,
            set_input_param,
            "params",
            "Writes input params: name:value, a name alone for true, or a JSON object with several.",
        ),
        _entry(
            RuleAction.SET_JSON,
            set_json,
            "path",
            "Copies the first thing that a path finds in the facts into an input param, if it finds any.",
            value_required=False,
        ),
        _entry(
            RuleAction.GET_CONTEXT,
            get_context,
            "name",
            "Copies the whole context into an input param.",
            value_required=False,
        ),
        _entry(
            RuleAction.GET_SCHEMA_JSON,
            get_schema_json,
            "name",
            "Copies the values collected for the schema in force into an input param.",
            value_required=False,
        ),
        _entry(
            RuleAction.GET_SESSION,
            get_session,
            "name",
            "Copies the session facts into an input param.",
            value_required=False,
        ),
        _entry(RuleAction.SET_TASK, set_task, "task", "Runs a registered task, once in a phase."),
        _entry(RuleAction.SET_CONTEXT, set_context, "context", "Writes a context field: path:value, or JSON."),
        _entry(RuleAction.CLEAR_CONTEXT, clear_context, "fields", "Removes context fields, so that none goes stale."),
        _entry(RuleAction.REMOVE_INPUT_PARAM, remove_input_param, "names", "Drops input params."),
        _entry(
            RuleAction.SET_RESPONSE_HINT,
            set_response_hint,
            "text",
            "Adds a hint to an answer that the model writes in this turn.",
        ),
        _entry(
            RuleAction.SET_PREFERENCE,
            set_preference,
            "preference",
            "Chooses a model, planner, intent resolver, knowledge base or tool set for this conversation.",
        ),
    )
)
_custom: dict[str, Action] = {}


def actions() -> Mapping[str, Action]:
    """Every action by name: the built-in ones, then those of the deployment."""
    return {**_BUILT_IN, **_custom}


def action(name: str | None) -> Action | None:
    """The action of this name, in any case; null when there is none."""
    return _BUILT_IN.get(code(name)) or _custom.get(code(name))


def closest(name: str | None) -> str | None:
    """The known action that somebody may have meant; null when none is near."""
    found = difflib.get_close_matches(code(name), list(actions()), n=1)
    return found[0] if found else None


def rule_action(
    name: str,
    *,
    label: str = "",
    help: str = "",
    value: str = "a value",
    picker: str = "text",
    parse: Parse = lambda value: value,
    value_required: bool = False,
) -> Callable[[Apply], Apply]:
    """Register a function of (rule, session, turn) as action `name`.

    It returns the changed session. What it raises becomes a RULE_ERROR, and the turn goes on. Raises ValueError when
    the name is taken.
    """

    def register(apply: Apply) -> Apply:
        own = code(name)
        if action(own) is not None:
            raise ValueError(f"There is already a rule action {own}.")
        words = label or own.replace("_", " ").capitalize()
        _custom[own] = Action(own, words, help, value, picker, parse, _guarded(apply), value_required, custom=True)
        return apply

    return register


def _guarded(apply: Apply) -> Apply:
    def run(rule: Rule, session: Session, turn: Turn) -> Session:
        try:
            return apply(rule, session, turn)
        except Exception as error:
            raise ActionFailed(type(error).__name__, str(error)) from error

    return run
