"""REFUSE_VALUE: take a value out of the form and say why, so that the form asks for it again."""

from dataclasses import replace

from convengine.engine.rules.actions.contract import (
    REMOVED,
    SHOWN,
    Action,
    ActionValueError,
    Write,
    audit_action,
    clear_at_path,
    read_context_path,
    require_value,
)
from convengine.engine.rules.stages import REFUSE_VALUE
from convengine.engine.text.compare import shorten
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import RefusedValue, Session
from convengine.engine.turn.turn import Turn

VALUE = "the field, a colon, and the text for the user"
USAGE = "Use field:text, for example date:We are closed on Mondays."
#: The reason of the refusal; its data have the text.
NOT_ALLOWED = "NOT_ALLOWED"


def parse(value: str | None) -> tuple[str, str]:
    """The path of the field and the text. Raises ActionValueError."""
    path, _, text = require_value("REFUSE_VALUE", value, VALUE).partition(":")
    if not text.strip():
        raise ActionValueError(USAGE)
    if "{{" in text:
        raise ActionValueError("The text is sent as it is written. Leave out {{ }}.")
    return read_context_path(path), text.strip()


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Remove the value, and note its refusal. Raises ActionValueError."""
    path, text = parse(rule.action_value)
    noted = session.fields_read
    others = tuple(refusal for refusal in noted.refused if refusal.field != path)
    session = session.evolve(
        context=clear_at_path(session.context, path),
        fields_read=replace(
            noted,
            read=tuple(name for name in noted.read if name != path),
            refused=(*others, RefusedValue(path, session.user_text or "", NOT_ALLOWED, {"text": text})),
        ),
    )
    audit_action(rule, session, turn, REFUSE_VALUE, "context", field=path, text=text, **session.where)
    return session


ACTION = Action(
    RuleAction.REFUSE_VALUE.value,
    RuleAction.REFUSE_VALUE.label,
    help="Removes the value of a field, says why, and lets the form ask for it again.",
    value=VALUE,
    picker="text",
    parse=parse,
    apply=apply,
    describe=lambda refusal: f"refuse {refusal[0]} and say “{shorten(refusal[1], SHOWN)}”",
    writes=lambda refusal: [Write(("context", *refusal[0].split(".")), REMOVED)],
)
