"""A conversation's row made in a commit: of a session that the turn began, or anew after somebody deleted it."""

from dataclasses import replace

from convengine.codec import dumps, plain
from convengine.domain.conversation import Conversation
from convengine.domain.params import persistent
from convengine.domain.scope import UNKNOWN
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import storable
from convengine.domain.turn import Turn
from convengine.errors import TurnConflict
from convengine.sessions.lease import Lease
from convengine.sessions.models import CeConversation
from convengine.sessions.sql import dialect
from convengine.sessions.writes import Write


def left(lease: Lease, session: Session) -> Write:
    """The row of a session that a turn ended by beginning the next one; it meets none as `conversation_written`."""
    here = dialect()
    return Write(
        f"""UPDATE ce_conversation
SET lifecycle = %s, lifecycle_detail = {here.json}, updated_at = {here.now()}, version = version + 1,
    lease_token = NULL, lease_expires_at = NULL, lease_info = NULL
WHERE conversation_id = %s AND lease_token = %s AND version = %s AND lease_interrupted_by IS NULL""",
        [
            session.lifecycle,
            dumps(session.lifecycle_detail),
            here.uuid(session.conversation_id),
            here.uuid(lease.token),
            lease.conversation.version,
        ],
        must=True,
    )


def begun(turn: Turn, lease: Lease, session: Session) -> None:
    """Make the row of the session that the turn goes on in. Needs an open transaction, and the old one closed."""
    _make(turn, replace(lease.conversation, version=-1, turn_count=0), session, lease.conversation.conversation_id)


def recreate(turn: Turn, lease: Lease, session: Session) -> None:
    """Make the row anew when somebody deleted it while the turn ran (pipeline-1 5). Needs an open transaction.

    Raises TurnConflict when it is there: the lease was lost, or the row changed under the turn.
    """
    if CeConversation.objects.filter(pk=session.conversation_id).exists():
        raise TurnConflict()
    _make(turn, lease.conversation, session)
    turn.audit(session, Stage.CONVERSATION_CREATED, conversationId=session.conversation_id, reason="recreated")


def _make(turn: Turn, row: Conversation, session: Session, previous: str | None = None) -> None:
    """The row as this turn leaves it; `row` is the one that it read."""
    now = turn.ports.clock.now()
    CeConversation.objects.create(
        conversation_id=session.conversation_id,
        status=session.status,
        intent_code=session.intent or UNKNOWN,
        state_code=session.state or UNKNOWN,
        context_json=plain(session.context),
        input_params_json=plain(persistent(session.input_params)),
        last_user_text=session.user_text and storable(session.user_text),
        last_assistant_json=plain(session.last_assistant),
        created_at=now,
        updated_at=now,
        version=row.version + 1,
        last_turn_no=turn.turn_no,
        turn_count=row.turn_count + 1,
        context_epoch=session.epoch,
        context_summary=storable(session.context_summary),
        preferences=plain(session.preferences),
        lifecycle=session.lifecycle,
        lifecycle_detail=plain(session.lifecycle_detail),
        mounted_kb_id=session.mounted_kb_id,
        workspace_id=row.workspace_id,
        channel=row.channel,
        remote_jid=row.remote_jid,
        last_message_at=now,
        previous_session_id=previous,
        # Whose conversation it is does not change because its topic does.
        opened_by=CeConversation.objects.filter(pk=previous).values_list("opened_by", flat=True).first()
        if previous
        else None,
    )
