"""Intent and state that a model wrote into its answer: taken only where they may be (pipeline-2 9.4)."""

from collections.abc import Mapping
from typing import Any

from convengine.domain import rows
from convengine.domain.catalogue.response import ALLOW_LLM_STATE_OVERRIDE, STATE_GRAPH_ENABLED
from convengine.domain.scope import ANY
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.state_graph.moves import allows

Json = Any
UNKNOWN_INTENT = "UNKNOWN_INTENT"
UNKNOWN_STATE = "UNKNOWN_STATE"


def overridden(session: Session, turn: Turn, document: Json) -> Session:
    """The session where the document's `intent` and `state` lead, with RESPONSE_STATE_OVERRIDE; else as it was.

    Nothing is taken while ALLOW_LLM_STATE_OVERRIDE is off.
    """
    if not isinstance(document, Mapping) or not turn.config(session, ALLOW_LLM_STATE_OVERRIDE):
        return session
    intent, state = (
        _said(document, name) or code(here) for name, here in (("intent", session.intent), ("state", session.state))
    )
    if (intent, state) == (code(session.intent), code(session.state)):
        return session
    reason = _refused(session, turn, intent, state)
    after = session if reason else session.moved(intent=intent, state=state, cause="MODEL")
    turn.audit(
        after,
        Stage.RESPONSE_STATE_OVERRIDE,
        fromIntent=session.intent,
        fromState=session.state,
        toIntent=intent,
        toState=state,
        applied=reason is None,
        **({"reason": reason} if reason else {}),
    )
    return after


def _said(document: Mapping[str, Json], name: str) -> str:
    value = document.get(name)
    return code(value) if isinstance(value, str) else ""


def _refused(session: Session, turn: Turn, intent: str, state: str) -> str | None:
    """Why the model may not lead there; null when it may."""
    snapshot, start = turn.snapshot, code(session.state)
    changed = intent != code(session.intent)
    if changed and (intent == ANY or snapshot.row(rows.Intent, intent) is None or not snapshot.is_active(intent)):
        return UNKNOWN_INTENT
    if state != start and state not in snapshot.known_states:
        return UNKNOWN_STATE
    checked = not changed and turn.config(session, STATE_GRAPH_ENABLED)
    return f"NO_EDGE:{start}->{state}" if checked and not allows(snapshot, intent, start, state) else None
