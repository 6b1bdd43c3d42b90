"""The answer of a turn, and its JSON: what the caller gets, and what is stored with its idempotency key."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from convengine.engine.cached_property import cached_property
from convengine.engine.dialogue.hand_over import HANDED_OVER, is_kept_for_person, is_with_person
from convengine.engine.errors import ConvEngineError
from convengine.engine.pipeline.engine import EngineOutcome
from convengine.engine.threads.lifecycle import CLOSED
from convengine.engine.threads.open_question import describe_open_question
from convengine.engine.threads.resolve import IdleLimits, ResolveReason
from convengine.engine.turn.conversation import PLAIN_CHANNEL, Conversation, build_columns
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.payload import Payload, to_spoken_text
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.engine.turn.verbose import VerboseLine
from convengine.json_value import Json
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.failure import find_help


@dataclass(frozen=True)
class TurnAnswer:
    """The result of a turn for its caller."""

    conversation_id: str
    turn_id: str
    turn_no: int
    config_version: int
    session: Session
    payload: Payload | None = None
    error: ConvEngineError | None = None
    ignored_params: tuple[str, ...] = ()
    duration_ms: float = 0.0
    #: The progress texts of the turn, in order.
    verbose: tuple[VerboseLine, ...] = ()
    #: The row at the start of the turn, and its time; both null in tests of the JSON.
    before: Conversation | None = None
    at: datetime | None = None
    #: The session that the turn left, if it began a new one.
    left_id: str | None = None
    #: What the answer asks; empty for an error.
    open_question: Mapping[str, Json] = field(default_factory=dict)
    #: The request that was answered; None in tests of the JSON.
    request: TurnRequest | None = None

    @cached_property
    def turn_body(self) -> dict[str, Json]:
        """The turn as JSON, with all parts that a caller may ask for but its trace."""
        turn = {
            "conversationId": self.conversation_id,
            "turnId": self.turn_id,
            "turnNo": self.turn_no,
            "configVersion": self.config_version,
            "ignoredInputParams": list(self.ignored_params),
            "verbose": [line.as_json() for line in self.verbose],
        }
        if self.error is not None:
            error = {
                "errorCode": self.error.code,
                "message": self.error.message,
                "recoverable": self.error.recoverable,
                "help": find_help(self.error.code),
                **({"incidentId": self.error.meta["incidentId"]} if "incidentId" in self.error.meta else {}),
            }
            return {
                "success": False,
                **turn,
                "intent": "ERROR",
                "state": "ERROR",
                "payload": {"type": "ERROR", "value": error},
                "context": None,
                **error,
            }
        return {
            "success": True,
            **turn,
            "intent": self.session.intent,
            "state": self.session.state,
            "payload": {"type": self.payload.type, "value": self.payload.value} if self.payload else None,
            "context": self.session.context,
            "errorCode": None,
            "recoverable": None,
            "message": None,
            "stateReport": _build_state_report(self.session, self.open_question),
        }

    @cached_property
    def body(self) -> dict[str, Json]:
        """The whole answer as JSON: the turn, and for a message of a thread its session as well."""
        reason = self.request.resolved if self.request else None
        if not reason:
            return self.turn_body
        is_failed = self.error is not None
        row = CeConversation.objects.get(pk=self.conversation_id) if is_failed else _build_row(self)
        return {
            "ok": not is_failed,
            **build_resolved_body(row, ResolveReason(reason)),
            "message_intent": self.session.dialogue.message_intent,
            "reply": None if is_failed else to_spoken_text(self.session.last_assistant),
            "turn": self.turn_body,
        }


@dataclass(frozen=True)
class StoredAnswer:
    """The stored answer of an earlier call with the same key."""

    body: dict[str, Json]


def make_answer(
    turn: Turn, outcome: EngineOutcome, before: Conversation | None = None, at: datetime | None = None
) -> TurnAnswer:
    """The result of a turn that ran; `before` is the row at its start, `at` its time."""
    first_id, session = turn.request.conversation_id, outcome.session
    open_question: dict[str, Json] = {}
    if not outcome.error:
        with_person = is_with_person(session, turn)
        answers = with_person and DialogueState.of(session).person_answers
        open_question = {**describe_open_question(session, turn), "withPerson": with_person, "personAnswers": answers}
    return TurnAnswer(
        session.conversation_id,
        turn.turn_id,
        session.turn_no,
        turn.snapshot.config_version,
        session,
        outcome.result.payload if outcome.result else None,
        outcome.error,
        turn.request.ignored_params,
        turn.ports.clock.elapsed_ms(),
        tuple(turn.verbose),
        before,
        at,
        None if session.conversation_id == first_id else first_id,
        open_question,
        turn.request,
    )


def _build_state_report(session: Session, open_question: Mapping[str, Json]) -> dict[str, Json]:
    """What the answer asks, and where the conversation stands: `stateReport` of the API."""
    clarification = session.clarification
    runtime = session.context.get("pending_action_runtime")
    return {
        "lifecycle": session.lifecycle,
        "missingFields": list(session.missing_required_fields),
        "pendingClarification": {
            "question": clarification.question,
            "reason": clarification.reason,
            "options": [option.get("label") for option in clarification.options if isinstance(option, dict)],
        }
        if clarification
        else None,
        "pendingAction": {"actionKey": runtime.get("action_key"), "status": runtime.get("status")}
        if isinstance(runtime, dict) and runtime.get("status") == "OPEN"
        else None,
        **open_question,
    }


def build_resolved_body(row: CeConversation, reason: ResolveReason) -> dict[str, Json]:
    """The session of a message, and the reason."""
    return {
        "session_id": str(row.pk),
        "decision": reason.decision,
        "reason": reason.value,
        "session": build_session_body(row),
    }


def build_session_body(row: CeConversation) -> dict[str, Json]:
    """A session as JSON. It expires by the current settings; on the plain turn API never."""
    last_message_at, is_closed = row.last_message_at or row.created_at, row.lifecycle in CLOSED
    expires_at = None
    if row.channel != PLAIN_CHANNEL and not is_closed:
        snapshot = configuration().latest
        limits = IdleLimits.of(snapshot, row.channel)
        with_person = is_kept_for_person(snapshot, row.context_json.get(HANDED_OVER))
        expires_at = (last_message_at + (limits.stale if with_person else limits.end)).isoformat()
    return {
        "workspace_id": row.workspace_id,
        "channel": row.channel,
        "remote_jid": row.remote_jid,
        "turn_count": row.turn_count,
        "context_summary": row.context_summary,
        "lifecycle": row.lifecycle,
        "lifecycle_detail": row.lifecycle_detail,
        "preferences": row.preferences,
        "mounted_kb_id": row.mounted_kb_id,
        "session_id": str(row.pk),
        "engine_status": row.status,
        "intent": row.intent_code,
        "state": row.state_code,
        "status": "closed" if is_closed else "active",
        "created_at": row.created_at.isoformat(),
        "last_message_at": last_message_at.isoformat(),
        "expires_at": expires_at,
        "previous_session_id": str(row.previous_session_id) if row.previous_session_id else None,
    }


def _build_row(answer: TurnAnswer) -> CeConversation:
    """The row of the session after a turn that ran, as its commit stores it; it is not read from the database."""
    before, at = answer.before, answer.at
    assert before is not None  # Every turn that ran has them.
    assert at is not None
    assert answer.request
    return CeConversation(
        **build_columns(answer.session),
        conversation_id=answer.conversation_id,
        workspace_id=before.workspace_id,
        channel=before.channel,
        remote_jid=before.remote_jid,
        turn_count=1 if answer.left_id else before.turn_count + 1,
        created_at=at if answer.left_id else before.created_at or at,
        last_message_at=at,
        previous_session_id=answer.left_id or answer.request.previous_session_id,
    )
