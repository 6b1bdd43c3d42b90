"""Which tool an intent and state call directly, and with what arguments (tables 4.2)."""

from collections.abc import Iterator, Mapping
from typing import Any

from convengine.domain import rows
from convengine.domain.enums import DecisionKind
from convengine.domain.session import Session
from convengine.domain.turn import Turn
from convengine.prompts.render import has_expressions, render_lenient
from convengine.prompts.variables import template_variables
from convengine.rules.choice import choose
from convengine.tools.request import InvalidToolRequest, ToolRequest, group_of

Json = Any


def direct_row(session: Session, turn: Turn) -> rows.DirectTool | None:
    """The row that calls a tool here: the most specific, then by priority and id. Tells the decision."""
    if not turn.snapshot.rows(rows.DirectTool):
        return None
    choice = choose(turn.snapshot, rows.DirectTool, session.intent, session.state, lambda row: None)
    turn.decide(
        session,
        DecisionKind.TOOL,
        key={"intent": session.intent, "state": session.state},
        winner=choice.winner,
        candidates=choice.candidates(),
        cut=choice.cut,
    )
    return choice.winner


def row_request(row: rows.DirectTool, session: Session, turn: Turn) -> ToolRequest:
    """The row's request with its arguments filled in. Raises InvalidToolRequest for a template that does not render."""
    args = row.args_template if isinstance(row.args_template, Mapping) else {}
    variables = template_variables(session, turn) if any(has_expressions(text) for text in _texts(args)) else {}
    group = None if row.tool_code else group_of(row.tool_group)
    return ToolRequest((row.tool_code or "").strip() or None, group, _filled(args, variables))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def _filled(value: Json, variables: Mapping[str, Json]) -> Json:
    if isinstance(value, Mapping):
        return {key: _filled(item, variables) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_filled(item, variables) for item in value]
    if not isinstance(value, str) or not has_expressions(value):
        return value
    rendered = render_lenient(value, variables)
    if rendered.error is not None:
        raise InvalidToolRequest(f"The argument {value} cannot be filled in: {rendered.error}")
    return rendered.text
