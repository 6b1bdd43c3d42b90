"""Ask a model whether a message is about another topic than its session, if configured."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from convengine.engine.llm.ask import ModelQuestion, ask
from convengine.engine.llm.reply import read_confidence
from convengine.engine.text.compare import blank
from convengine.engine.threads.settings import DRIFT_MIN_CONFIDENCE, ENABLE_DRIFT_CLASSIFIER
from convengine.engine.turn import live_settings
from convengine.engine.turn.conversation import Conversation, Loaded
from convengine.engine.turn.recording import Recording
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.trail import Trail
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.server import wiring
from convengine.server.database.sql import TurnClock
from convengine.server.interfaces.turn_log import turn_log
from convengine.server.sessions.models import CeConversation

_ASKED = (
    "Decide whether the user's message is about another topic than the conversation so far. A follow-up, a correction "
    'or an answer is the same topic. Answer as JSON: {"otherTopic": true or false, "confidence": 0.0}.'
)
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"otherTopic": {"type": "boolean"}, "confidence": {"type": "number"}},
    "required": ["otherTopic", "confidence"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class _SessionOnly:
    """The conversations port of a model call outside turns."""

    loaded: Loaded

    def load(self) -> Loaded:
        """The session that the message may leave."""
        return self.loaded

    def store(self) -> None:
        """Nothing is stored."""


def is_another_topic(snapshot: Snapshot, session_id: str, message: str | None) -> bool:
    """True when a model is asked and is sure enough. A fault of the model is no change of topic.

    The call is in the call log; it belongs to no turn, and holds no database connection while it waits.
    """
    if not live_settings.read(snapshot, ENABLE_DRIFT_CLASSIFIER).value or blank(message):
        return False
    row = CeConversation.objects.get(pk=session_id)
    if blank(row.context_summary):
        return False
    turn = _make_turn(snapshot, row, message)
    if not turn.ports.model.configured:
        return False
    session = Session(session_id, row.last_turn_no, user_text=message, intent=row.intent_code, state=row.state_code)
    text = f"Conversation so far:\n{row.context_summary}\n\nMessage:\n{message}"
    reply = ask(session, turn, ModelQuestion("DRIFT", _ASKED, text, json_schema=_SCHEMA, strict=True))
    with transaction.atomic():
        turn_log().add_after_turn(turn, 0)
    value = reply.value if isinstance(reply.value, Mapping) else {}
    sure = read_confidence(value.get("confidence")) or 0.0
    return value.get("otherTopic") is True and sure >= live_settings.read(snapshot, DRIFT_MIN_CONFIDENCE).value


def _make_turn(snapshot: Snapshot, row: CeConversation, message: str | None) -> Turn:
    clock = TurnClock(row.updated_at)
    loaded = Loaded(Conversation(str(row.pk), row.workspace_id, row.channel, row.remote_jid))
    ports = wiring.ports(clock, _SessionOnly(loaded), Recording(), snapshot, row.workspace_id)
    request = TurnRequest(str(row.pk), message, channel=row.channel, workspace_id=row.workspace_id)
    return Turn(str(uuid.uuid4()), row.last_turn_no, request, snapshot, ports, Trail(clock.elapsed_ms))
