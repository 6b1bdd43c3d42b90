"""Is a message about another topic than its session? A model says, where the deployment wants that (sessions 4)."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from convengine import conf, wiring
from convengine.domain import settings
from convengine.domain.catalogue.session import DRIFT_MIN_CONFIDENCE, ENABLE_DRIFT_CLASSIFIER
from convengine.domain.conversation import Conversation, Loaded
from convengine.domain.recording import Recording
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import blank
from convengine.domain.trail import Trail
from convengine.domain.turn import Turn, TurnRequest
from convengine.llm.ask import Question, ask
from convengine.llm.confidence import confidence_of
from convengine.sessions.clock import TurnClock
from convengine.sessions.models import CeConversation

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
class _Known:
    """The conversations port of a question outside turns."""

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
    if not settings.read(snapshot, ENABLE_DRIFT_CLASSIFIER).value or blank(message):
        return False
    row = CeConversation.objects.get(pk=session_id)
    if blank(row.context_summary):
        return False
    turn = _turn(snapshot, row, message)
    if not turn.ports.model.configured:
        return False
    session = Session(session_id, row.last_turn_no, user_text=message, intent=row.intent_code, state=row.state_code)
    told = f"Conversation so far:\n{row.context_summary}\n\nMessage:\n{message}"
    reply = ask(session, turn, Question("DRIFT", _ASKED, told, json_schema=_SCHEMA, strict=True))
    with transaction.atomic():
        conf.load("AUDIT_WRITER").added(turn, 0)
    value = reply.value if isinstance(reply.value, Mapping) else {}
    sure = confidence_of(value.get("confidence")) or 0.0
    return value.get("otherTopic") is True and sure >= settings.read(snapshot, DRIFT_MIN_CONFIDENCE).value


def _turn(snapshot: Snapshot, row: CeConversation, message: str | None) -> Turn:
    clock = TurnClock(row.updated_at)
    loaded = Loaded(Conversation(str(row.pk), row.workspace_id, row.channel, row.remote_jid))
    ports = wiring.ports(clock, _Known(loaded), Recording(), snapshot, row.workspace_id)
    request = TurnRequest(str(row.pk), message, channel=row.channel, workspace_id=row.workspace_id)
    return Turn(str(uuid.uuid4()), row.last_turn_no, request, snapshot, ports, Trail(clock.elapsed_ms))
