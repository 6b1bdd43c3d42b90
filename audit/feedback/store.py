"""Store feedback on an answer: for the turn, and for the row that answered; count it by row."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Count, Q

from audit.models import CeErasure, CeMcpUserFeedback
from audit.record.turn_index import read_deciding_rows
from convengine.engine.errors import ConversationClosed, ConversationNotFound, RequestInvalid
from convengine.engine.redaction import Redaction
from convengine.engine.steps.tools.stages import MCP_USER_FEEDBACK
from convengine.engine.turn.payload import to_spoken_text
from convengine.json_value import Json
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_log import turn_log
from convengine.server.interfaces.turn_reader import DecidingRow
from convengine.server.interfaces.turn_reports import RowRating
from convengine.server.sessions.models import CeConversation, CeConversationHistory

#: The author of feedback through the API: the participant of the conversation, whatever key is used.
PARTICIPANT = "participant"
#: Kinds of decisions that give the answer, by precedence.
_ANSWERING_ROLES = ("RESPONSE", "POLICY", "PENDING_ACTION")


@dataclass(frozen=True)
class FeedbackInput:
    feedback_type: str
    #: The id of a turn, or any id of an answer, as the original's clients send. None means the last turn.
    message_id: str | None = None
    assistant_response: str | None = None
    comment: str = ""
    correction: str = ""
    metadata: Mapping[str, Json] | None = field(default=None)


def store_feedback(
    conversation_id: uuid.UUID,
    workspace_id: str | None,
    author: str,
    given: FeedbackInput,
    *,
    any_id: bool = False,
    turn_no: int | None = None,
) -> CeMcpUserFeedback:
    """Store feedback. It replaces earlier feedback of the same author on the turn. `workspace_id`: None for any.

    The turn is that of the message id, else `turn_no`, else the last one. `any_id`: an unknown message id means the
    last turn. Raises ConversationNotFound, RequestInvalid, ConversationClosed for an erased one.
    """
    with transaction.atomic():
        # Before the next turn can begin: events outside of turns have their position between two of them.
        conversations = CeConversation.objects.select_for_update().filter(pk=conversation_id)
        if workspace_id is not None:
            conversations = conversations.filter(workspace_id=workspace_id)
        conversation = conversations.first()
        if conversation is None:
            raise ConversationNotFound()
        if CeErasure.objects.filter(conversation_id=conversation_id).exists():
            raise ConversationClosed("The messages of this conversation were erased, so it cannot be rated.")
        turn = (
            _get_turn_by_number(conversation, turn_no)
            if turn_no
            else _get_turn_by_message(conversation, given.message_id, any_id)
        )
        now = database_time()
        before = CeMcpUserFeedback.objects.filter(turn_id=turn.turn_id, author=author, replaced_at=None)
        before.update(replaced_at=now)
        row, masking = _find_answering_row(turn), Redaction.of(configuration().current())
        feedback = CeMcpUserFeedback.objects.create(
            conversation=conversation,
            feedback_type=given.feedback_type,
            message_id=given.message_id and masking.text(given.message_id),
            turn_id=turn.turn_id,
            turn_no=turn.turn_no,
            author=author,
            intent_code=turn.intent_code,
            state_code=turn.state_code,
            user_query=turn.user_input,
            assistant_response=masking.text(given.assistant_response or to_spoken_text(turn.assistant_output)),
            mcp_tool_code=_last_tool_code(conversation),
            comment=masking.text(given.comment),
            correction=masking.text(given.correction),
            table_name=row.table if row else "",
            row_pk=row.pk if row else "",
            config_version=turn.config_version,
            metadata_json=given.metadata and masking.caller_data(dict(given.metadata)),
            created_at=now,
        )
        _write_event(feedback, now)
    return feedback


def _get_turn_by_number(conversation: CeConversation, turn_no: int) -> CeConversationHistory:
    turns = CeConversationHistory.objects.filter(conversation=conversation, turn_no=turn_no)
    turn = turns.first()
    if turn is None:
        raise RequestInvalid(fields={"turn": [f"This conversation has no turn {turn_no}."]})
    return turn


def _get_turn_by_message(conversation: CeConversation, message_id: str | None, any_id: bool) -> CeConversationHistory:
    turns = CeConversationHistory.objects.filter(conversation=conversation)
    try:
        wanted = uuid.UUID(message_id) if message_id else None
    except ValueError:
        wanted = None
        if not any_id:
            raise RequestInvalid(
                fields={"messageId": [f"{message_id!r} is not the ID of a turn. Use `turnId` from an answer."]}
            ) from None
    turn = turns.filter(turn_id=wanted).first() if wanted else None
    if turn is None and (wanted is None or any_id):
        turn = turns.order_by("-turn_no").first()
        if turn is None:
            raise RequestInvalid(fields={"conversationId": ["This conversation has no turn to rate yet."]})
    if turn is None:
        raise RequestInvalid(fields={"messageId": [f"This conversation has no turn {message_id}."]})
    return turn


def _find_answering_row(turn: CeConversationHistory) -> DecidingRow | None:
    rows = {row.role: row for row in read_deciding_rows([turn.turn_id]).get(turn.turn_id, ())}
    return next((rows[role] for role in _ANSWERING_ROLES if role in rows), None)


def _last_tool_code(conversation: CeConversation) -> str | None:
    mcp = conversation.context_json.get("mcp")
    seen = mcp.get("observations") if isinstance(mcp, dict) else None
    last = seen[-1] if isinstance(seen, list) and seen else None
    code = last.get("toolCode") or last.get("tool_code") if isinstance(last, dict) else None
    return str(code) if code else None


def _write_event(feedback: CeMcpUserFeedback, now: Any) -> None:
    """Write the event, which belongs to no turn."""
    payload = {
        "conversation_id": str(feedback.conversation_id),
        "feedback_type": feedback.feedback_type,
        "message_id": feedback.message_id,
        "feedback_id": feedback.pk,
        "turn_no": feedback.turn_no,
        "captured_query_knowledge_count": 0,
        "captured_user_query_knowledge_count": 0,
        "embedded_user_query_knowledge_count": 0,
    }
    version = configuration().current().config_version
    events = [(str(feedback.conversation_id), MCP_USER_FEEDBACK, payload)]
    turn_log().add_outside(events, now, version)


_UP, _DOWN = Q(feedback_type="THUMBS_UP"), Q(feedback_type="THUMBS_DOWN")


def rate_row(table: str, pk: str) -> RowRating | None:
    """All ratings of one row's answers; None without any. One query by an index."""
    feedback = CeMcpUserFeedback.objects.filter(replaced_at=None, table_name=table, row_pk=str(pk))
    counts = feedback.aggregate(ups=Count("pk", filter=_UP), downs=Count("pk", filter=_DOWN))
    return RowRating(table, str(pk), counts["ups"], counts["downs"]) if counts["ups"] or counts["downs"] else None
