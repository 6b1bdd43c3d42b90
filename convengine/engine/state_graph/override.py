"""Intent and state that a model writes into its answer, applied only if allowed (pipeline-2 9.4)."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.state_graph.moves import is_allowed
from convengine.engine.state_graph.settings import ALLOW_LLM_STATE_OVERRIDE, STATE_GRAPH_ENABLED
from convengine.engine.state_graph.stages import RESPONSE_STATE_OVERRIDE
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

Json = Any
UNKNOWN_INTENT = "UNKNOWN_INTENT"
UNKNOWN_STATE = "UNKNOWN_STATE"


def apply_override(session: Session, turn: Turn, document: Json) -> Session:
    """The session with the document's `intent` and `state`, with RESPONSE_STATE_OVERRIDE; else unchanged.

    Nothing happens while ALLOW_LLM_STATE_OVERRIDE is off.
    """
    if not isinstance(document, Mapping) or not turn.config(session, ALLOW_LLM_STATE_OVERRIDE):
        return session
    intent, state = (
        _read_code(document, name) or code(here)
        for name, here in (("intent", session.intent), ("state", session.state))
    )
    if (intent, state) == (code(session.intent), code(session.state)):
        return session
    reason = _find_refusal(session, turn, intent, state)
    after = session if reason else session.move_to(intent=intent, state=state, cause="MODEL")
    turn.audit(
        after,
        RESPONSE_STATE_OVERRIDE,
        fromIntent=session.intent,
        fromState=session.state,
        toIntent=intent,
        toState=state,
        applied=reason is None,
        **({"reason": reason} if reason else {}),
    )
    return after


def _read_code(document: Mapping[str, Json], name: str) -> str:
    value = document.get(name)
    return code(value) if isinstance(value, str) else ""


def _find_refusal(session: Session, turn: Turn, intent: str, state: str) -> str | None:
    """Why the model's move is refused, or null."""
    snapshot, start = turn.snapshot, code(session.state)
    changed = intent != code(session.intent)
    if changed and (intent == ANY or snapshot.row(rows.Intent, intent) is None or not snapshot.is_active(intent)):
        return UNKNOWN_INTENT
    if state != start and state not in snapshot.known_states:
        return UNKNOWN_STATE
    checked = not changed and turn.config(session, STATE_GRAPH_ENABLED)
    return f"NO_EDGE:{start}->{state}" if checked and not is_allowed(snapshot, intent, start, state) else None
