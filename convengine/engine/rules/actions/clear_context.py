"""CLEAR_CONTEXT: remove context fields, so that no stale values remain."""

from convengine.engine.rules.actions.contract import (
    REMOVED,
    Action,
    Write,
    audit_action,
    clear_at_path,
    read_context_path,
    require_names,
)
from convengine.engine.rules.stages import RULE_STEPS
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn

VALUE = "the context fields to remove, separated by commas"


CLEAR_CONTEXT = declare_stage(
    "CLEAR_CONTEXT",
    Family.RULE,
    "A rule removed fields of the context.",
    steps=RULE_STEPS,
    keys="ruleId paths intent state context",
    sentences=(SentenceTemplate("cleared {cleared}"),),
)


def parse(value: str | None) -> tuple[str, ...]:
    """The paths. Raises ActionValueError."""
    return tuple(read_context_path(path) for path in require_names("CLEAR_CONTEXT", value, VALUE))


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Remove the fields that exist. Raises ActionValueError."""
    paths = parse(rule.action_value)
    context = dict(session.context)
    for path in paths:
        context = clear_at_path(context, path)
    session = session.evolve(context=context)
    where = {"intent": session.intent, "state": session.state}
    audit_action(rule, session, turn, CLEAR_CONTEXT, "context", paths=list(paths), **where)
    return session


ACTION = Action(
    RuleAction.CLEAR_CONTEXT.value,
    RuleAction.CLEAR_CONTEXT.label,
    help="Removes context fields.",
    value=VALUE,
    picker="fields",
    parse=parse,
    apply=apply,
    describe=lambda paths: f"clear {', '.join(paths)}",
    writes=lambda paths: [Write(("context", *path.split(".")), REMOVED) for path in paths],
)
