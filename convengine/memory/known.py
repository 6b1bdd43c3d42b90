"""What the engine knows of a session, for its context summary (sessions 8, R90)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from convengine.domain import rows
from convengine.domain.scope import resolved
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import blank, code
from convengine.memory.context_summary import Told, read, written
from convengine.memory.entities import entities
from convengine.prompts.values import text_of
from convengine.schemas.status import meaningful

Json = Any
#: How much of a message is searched for names.
_SEARCHED = 4000


def context_summary(session: Session, snapshot: Snapshot, turns: int) -> str:
    """The summary after this turn. `turns` counts the session's committed turns, this one included.

    The goal of an intent, and what was named and decided earlier, are carried over from the session's last summary,
    so that the cost does not grow with the conversation.
    """
    before = read(session.context_summary)
    fields = _collected(session, snapshot)
    return written(
        Told(
            _goal(session, snapshot, before.goal),
            tuple(_names(session, fields, before.entities)),
            (*_decided(session, fields), *before.decisions),
            tuple(_open(session)),
            turns,
        )
    )


def _goal(session: Session, snapshot: Snapshot, before: str) -> str:
    """The intent's name and the first text of the intent; without an intent the newest text."""
    text = session.user_text or ""
    if not resolved(session.intent):
        return text
    row = snapshot.row(rows.Intent, code(session.intent))
    name = row.name if row else str(session.intent)
    if code(session.intent) == code(session.turn_start_intent) and before.startswith(f"{name}: "):
        return before
    return name if blank(text) else f"{name}: {text}"


def _collected(session: Session, snapshot: Snapshot) -> Mapping[str, Json]:
    """The values of all fields that the intent's schemas collect, whichever of them applies just now."""
    names = snapshot.table(rows.OutputSchema).memo.get("fields of intents", lambda: _fields(snapshot))
    fields = names.get(code(session.intent), ())
    return {name: session.context[name] for name in fields if meaningful(session.context.get(name))}


def _fields(snapshot: Snapshot) -> Mapping[str, Iterable[str]]:
    found: dict[str, dict[str, None]] = {}
    for schema in snapshot.enabled(rows.OutputSchema):
        properties = schema.json_schema.get("properties") if isinstance(schema.json_schema, Mapping) else None
        found.setdefault(code(schema.intent_code), {}).update(dict.fromkeys(properties or ()))
    return found


def _names(session: Session, fields: Mapping[str, Json], before: Iterable[str]) -> Iterator[str]:
    """Fields first, then what stands in this turn's text, then earlier names: what does not fit is the oldest."""
    yield from _pairs(fields)
    yield from entities((session.user_text or "")[:_SEARCHED])
    # An earlier value of a field is no longer true.
    yield from (each for each in before if each.partition("=")[0] not in fields)


def _decided(session: Session, fields: Mapping[str, Json]) -> Iterator[str]:
    """What this turn decided."""
    params = session.input_params
    result = code(str(params.get("pending_action_result") or ""))
    if result in ("EXECUTED", "REJECTED"):
        action = _runtime(session).get("action_key") or params.get("pending_action_key") or "action"
        yield f"{result.lower()} {action}"
    if code(str(params.get("routing_decision") or "")) == "PROCEED_CONFIRMED":
        yield from (f"confirmed {pair}" for pair in _pairs(fields))


def _open(session: Session) -> Iterator[str]:
    if session.clarification:
        yield session.clarification.question
    runtime = _runtime(session)
    if runtime.get("status") == "OPEN":
        yield f"waiting for a yes to {runtime.get('action_key') or 'an action'}"
    if session.missing_required_fields:
        yield f"missing {' and '.join(session.missing_required_fields)}"


def _runtime(session: Session) -> Mapping[str, Json]:
    runtime = session.context.get("pending_action_runtime")
    return runtime if isinstance(runtime, Mapping) else {}


def _pairs(fields: Mapping[str, Json]) -> Iterator[str]:
    for name, value in fields.items():
        shown = " ".join(text_of(item) for item in value) if isinstance(value, (list, tuple)) else text_of(value)
        yield f"{name}={shown}"
