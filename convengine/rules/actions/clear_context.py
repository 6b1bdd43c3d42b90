"""CLEAR_CONTEXT: remove context fields, so that stale values do not stay (pipeline-2 7.4)."""

from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.rules.actions.context_paths import cleared, context_path
from convengine.rules.actions.contract import audit, required_names

VALUE = "the context fields to remove, separated by commas"


def parse(value: str | None) -> tuple[str, ...]:
    """The paths. Raises ActionValueError."""
    return tuple(context_path(path) for path in required_names("CLEAR_CONTEXT", value, VALUE))


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Remove what is there. Raises ActionValueError."""
    paths = parse(rule.action_value)
    context = dict(session.context)
    for path in paths:
        context = cleared(context, path)
    session = session.evolve(context=context)
    where = {"intent": session.intent, "state": session.state}
    audit(rule, session, turn, Stage.CLEAR_CONTEXT, "context", paths=list(paths), **where)
    return session
