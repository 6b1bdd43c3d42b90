"""SET_INTENT and SET_STATE: move the conversation to an intent or a state."""

from typing import Literal

from convengine.engine.rules.actions.contract import Action, ActionValueError, Write, audit_action, require_value
from convengine.engine.rules.stages import SET_INTENT, SET_STATE
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn


def _build_move(
    action: RuleAction, stage: Stage, field: Literal["intent", "state"], *, value: str, help: str, any_refused: str
) -> Action:
    """An action that moves the conversation to the intent or the state of its value; ANY is none of either.

    `any_refused`: the message for ANY. An intent that is switched off is reported, and the conversation stays. The save
    check tests whether the intent exists.
    """

    def parse(text: str | None) -> str:
        new_value = code(require_value(action.value, text, value))
        if new_value == ANY:
            raise ActionValueError(any_refused, "CONFLICT")
        return new_value

    def apply(rule: Rule, session: Session, turn: Turn) -> Session:
        before = session.where
        target = parse(rule.action_value)
        after = {**before, field: target}
        if field == "intent" and turn.snapshot.is_switched_off(target):
            reason = f"{target} is switched off, so the conversation does not move there"
            remedy = f"Switch {target} on, or let the rule lead to another intent."
            turn.audit_invalid_row(session, rule, Fault(reason, "action_value", target, remedy))
            return session
        session = session.move_to(
            intent=after["intent"],
            state=after["state"],
            cause="RULE",
            rule_id=rule.rule_id,
            phase=code(rule.phase),
        )
        name = field.capitalize()
        payload = {f"from{name}": before.pop(field), f"to{name}": after[field], **before}
        audit_action(rule, session, turn, stage, "context", **payload)
        return session

    return Action(
        action.value,
        action.label,
        help=help,
        value=value,
        picker=field,
        parse=parse,
        apply=apply,
        describe=lambda new_value: f"set {field} to {new_value}",
        writes=lambda new_value: [Write((field,), new_value)],
    )


ACTIONS = (
    _build_move(
        RuleAction.SET_INTENT,
        SET_INTENT,
        "intent",
        value="the intent to set",
        help="Changes the intent of the conversation.",
        any_refused="A conversation cannot have the intent ANY. Enter an intent.",
    ),
    _build_move(
        RuleAction.SET_STATE,
        SET_STATE,
        "state",
        value="the state to move to",
        help="Changes the state of the conversation.",
        any_refused="A conversation cannot be in state ANY. Enter the state to move to.",
    ),
)
