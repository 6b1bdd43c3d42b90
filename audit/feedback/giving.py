"""Keeping what somebody thinks of an answer: tied to the turn, and to the row that answered (api-and-audit 5)."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from audit.models import CeErasure, CeMcpUserFeedback, CeTurnRow
from convengine import conf
from convengine.domain.payload import spoken
from convengine.domain.stages import Stage
from convengine.errors import ConversationClosed, ConversationNotFound, RequestInvalid
from convengine.rules.redacting import Redaction
from convengine.sessions.clock import database_time
from convengine.sessions.models import CeConversation, CeConversationHistory

Json = Any
#: Who rates by the API: a key stands for the participant of the conversation, whoever holds it.
PARTICIPANT = "participant"
#: Which of the rows that decided a turn answered it, the first that there is.
_ANSWERS = ("RESPONSE", "POLICY", "PENDING_ACTION")


@dataclass(frozen=True)
class Given:
    """What somebody gave."""

    feedback_type: str
    #: The id of a turn, or, as the original's clients send, anything that says which answer; null for the last turn.
    message_id: str | None = None
    assistant_response: str | None = None
    comment: str = ""
    correction: str = ""
    metadata: Mapping[str, Json] | None = field(default=None)


def give(
    conversation_id: uuid.UUID,
    workspace_id: str | None,
    author: str,
    given: Given,
    *,
    any_id: bool = False,
    turn_no: int | None = None,
) -> CeMcpUserFeedback:
    """Keep it. One that the same author gave on the turn before is replaced. `workspace_id` null is any.

    The turn is the one of the message id, else of `turn_no`, else the last. `any_id`: a message id that is no turn's
    means the last turn. Raises ConversationNotFound, RequestInvalid, ConversationClosed for one that is erased.
    """
    with transaction.atomic():
        # Before the next turn can begin: what is told outside of turns has its place between two of them.
        found = CeConversation.objects.select_for_update().filter(pk=conversation_id)
        if workspace_id is not None:
            found = found.filter(workspace_id=workspace_id)
        conversation = found.first()
        if conversation is None:
            raise ConversationNotFound()
        if CeErasure.objects.filter(conversation_id=conversation_id).exists():
            raise ConversationClosed("What was said here is erased: there is nothing left that could be rated.")
        turn = _numbered(conversation, turn_no) if turn_no else _turn(conversation, given.message_id, any_id)
        now = database_time()
        before = CeMcpUserFeedback.objects.filter(turn_id=turn.turn_id, author=author, replaced_at=None)
        before.update(replaced_at=now)
        row, masking = _row(turn), Redaction.of(conf.load("SNAPSHOT").current())
        kept = CeMcpUserFeedback.objects.create(
            conversation=conversation,
            feedback_type=given.feedback_type,
            message_id=given.message_id,
            turn_id=turn.turn_id,
            turn_no=turn.turn_no,
            author=author,
            intent_code=turn.intent_code,
            state_code=turn.state_code,
            user_query=turn.user_input,
            assistant_response=masking.text(given.assistant_response or spoken(turn.assistant_output)),
            mcp_tool_code=_tool(conversation),
            comment=masking.text(given.comment),
            correction=masking.text(given.correction),
            table_name=row.table_name if row else "",
            row_pk=row.row_pk if row else "",
            config_version=turn.config_version,
            metadata_json=given.metadata and masking.document(dict(given.metadata)),
            created_at=now,
        )
        _tell(kept, now)
    return kept


def _numbered(conversation: CeConversation, turn_no: int) -> CeConversationHistory:
    found = CeConversationHistory.objects.filter(conversation=conversation, turn_no=turn_no)
    turn = found.defer("recording", "trace_graph").first()
    if turn is None:
        raise RequestInvalid(fields={"turn": [f"This conversation has no turn {turn_no}."]})
    return turn


def _turn(conversation: CeConversation, message_id: str | None, any_id: bool) -> CeConversationHistory:
    turns = CeConversationHistory.objects.filter(conversation=conversation).defer("recording", "trace_graph")
    try:
        wanted = uuid.UUID(message_id) if message_id else None
    except ValueError:
        wanted = None
        if not any_id:
            raise RequestInvalid(
                fields={"messageId": [f"{message_id!r} is no id of a turn; take `turnId` from an answer."]}
            ) from None
    turn = turns.filter(turn_id=wanted).first() if wanted else None
    if turn is None and (wanted is None or any_id):
        turn = turns.order_by("-turn_no").first()
        if turn is None:
            raise RequestInvalid(fields={"conversationId": ["This conversation has no turn yet that could be rated."]})
    if turn is None:
        raise RequestInvalid(fields={"messageId": [f"This conversation has no turn {message_id}."]})
    return turn


def _row(turn: CeConversationHistory) -> CeTurnRow | None:
    rows = {row.role: row for row in CeTurnRow.objects.filter(turn_id=turn.turn_id, role__in=_ANSWERS)}
    return next((rows[role] for role in _ANSWERS if role in rows), None)


def _tool(conversation: CeConversation) -> str | None:
    mcp = conversation.context_json.get("mcp")
    seen = mcp.get("observations") if isinstance(mcp, dict) else None
    last = seen[-1] if isinstance(seen, list) and seen else None
    code = last.get("toolCode") or last.get("tool_code") if isinstance(last, dict) else None
    return str(code) if code else None


def _tell(kept: CeMcpUserFeedback, now: Any) -> None:
    """Leave the event, which belongs to no turn."""
    payload = {
        "conversation_id": str(kept.conversation_id),
        "feedback_type": kept.feedback_type,
        "message_id": kept.message_id,
        "feedback_id": kept.pk,
        "turn_no": kept.turn_no,
        "captured_query_knowledge_count": 0,
        "captured_user_query_knowledge_count": 0,
        "embedded_user_query_knowledge_count": 0,
    }
    version = conf.load("SNAPSHOT").current().config_version
    told = [(str(kept.conversation_id), Stage.MCP_USER_FEEDBACK, payload)]
    conf.load("AUDIT_WRITER").outside(told, now, version)
