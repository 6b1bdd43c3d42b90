"""Actions that differ only in what they set: a code of the conversation, or a param with a copy of facts."""

from collections.abc import Callable
from typing import Literal

from convengine.engine.rules.actions.contract import (
    COMPUTED,
    Action,
    ActionValueError,
    Write,
    audit_action,
    read_param_key,
    require_value,
)
from convengine.engine.text.compare import blank, code
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json


def build_code_action(
    action: RuleAction, stage: Stage, field: Literal["intent", "state"], *, value: str, help: str, any_refused: str
) -> Action:
    """An action that moves the conversation to the intent or the state of its value; ANY is none of either.

    `any_refused`: the message for ANY. An intent that is switched off is reported, and the conversation stays.
    """

    def parse(text: str | None) -> str:
        new_value = code(require_value(action.value, text, value))
        if new_value == ANY:
            raise ActionValueError(any_refused, "CONFLICT")
        return new_value

    def apply(rule: Rule, session: Session, turn: Turn) -> Session:
        before = {"intent": session.intent, "state": session.state}
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


def build_copy_action(
    action: RuleAction, stage: Stage, read: Callable[[Session], Json], *, default: str, copied: str, key: str, help: str
) -> Action:
    """An action that copies what `read` gives into the param of its value, or into `default`.

    `copied` names the copy in sentences, `key` in the payload of the stage.
    """

    def parse(text: str | None) -> str:
        return default if text is None or blank(text) else read_param_key(text)

    def apply(rule: Rule, session: Session, turn: Turn) -> Session:
        param = parse(rule.action_value)
        session = session.with_params({param: read(session)})
        facts = {"key": param, "intent": session.intent, "state": session.state}
        payload = {name: fact for name, fact in facts.items() if name in stage.keys}
        audit_action(rule, session, turn, stage, key, "sessionInputParams", **payload)
        return session

    return Action(
        action.value,
        action.label,
        help=help,
        value="the name of the parameter",
        picker="name",
        parse=parse,
        apply=apply,
        value_required=False,
        describe=lambda param: f"copy {copied} to {param}",
        writes=lambda param: [Write(("inputParams", param), COMPUTED)],
    )
