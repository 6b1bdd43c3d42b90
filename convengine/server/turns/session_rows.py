"""A conversation's row made in a commit: for a session that the turn began, or again after a deletion."""

from dataclasses import replace
from typing import Any

from convengine.engine.errors import TurnConflict
from convengine.engine.steps.conversation.stages import CONVERSATION_CREATED
from convengine.engine.text.compare import storable
from convengine.engine.turn.codec import dumps, to_plain
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.params import keep_persistent
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.server.database.dialect import dialect
from convengine.server.database.statements import Statement
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.lease import Lease


def end_session_stmt(lease: Lease, session: Session) -> Statement:
    """The row of the session that a turn ended; matches no row when the lease was lost."""
    sql = dialect()
    return Statement(
        f"""UPDATE ce_conversation
SET lifecycle = %s, lifecycle_detail = {sql.json}, updated_at = {sql.now()}, version = version + 1,
    lease_token = NULL, lease_expires_at = NULL, lease_info = NULL
WHERE conversation_id = %s AND lease_token = %s AND version = %s AND lease_interrupted_by IS NULL""",
        [
            session.lifecycle,
            dumps(session.lifecycle_detail),
            sql.uuid_param(session.conversation_id),
            sql.uuid_param(lease.token),
            lease.conversation.version,
        ],
        must_match=True,
    )


def insert_next_session(turn: Turn, lease: Lease, session: Session) -> None:
    """Make the row of the session that the turn goes on in. Needs an open transaction, with the old one closed."""
    _insert_session(
        turn, replace(lease.conversation, version=-1, turn_count=0), session, lease.conversation.conversation_id
    )


def recreate_session(turn: Turn, lease: Lease, session: Session) -> None:
    """Make the row again when it was deleted during the turn. Needs an open transaction (pipeline-1 5).

    Raises TurnConflict when it exists: the lease was lost, or the row changed.
    """
    if CeConversation.objects.filter(pk=session.conversation_id).exists():
        raise TurnConflict()
    _insert_session(turn, lease.conversation, session)
    turn.audit(session, CONVERSATION_CREATED, conversationId=session.conversation_id, reason="recreated")


def _insert_session(turn: Turn, row: Conversation, session: Session, previous: str | None = None) -> None:
    """The row after this turn; `row` is the one that it read."""
    now = turn.ports.clock.now()
    CeConversation.objects.create(
        conversation_id=session.conversation_id,
        status=session.status,
        intent_code=session.intent or UNKNOWN,
        state_code=session.state or UNKNOWN,
        context_json=to_plain(session.context),
        input_params_json=to_plain(keep_persistent(session.input_params)),
        last_user_text=session.user_text and storable(session.user_text),
        last_assistant_json=to_plain(session.last_assistant),
        created_at=now,
        updated_at=now,
        version=row.version + 1,
        last_turn_no=turn.turn_no,
        turn_count=row.turn_count + 1,
        context_epoch=session.epoch,
        context_summary=storable(session.context_summary),
        preferences=to_plain(session.preferences),
        lifecycle=session.lifecycle,
        lifecycle_detail=to_plain(session.lifecycle_detail),
        mounted_kb_id=session.mounted_kb_id,
        workspace_id=row.workspace_id,
        channel=row.channel,
        remote_jid=row.remote_jid,
        last_message_at=now,
        previous_session_id=previous,
        # A change of topic does not change whose conversation it is.
        opened_by=CeConversation.objects.filter(pk=previous).values_list("opened_by", flat=True).first()
        if previous
        else None,
    )


def update_conversation_stmt(lease: Lease, session: Session, head: bytes, *, whatever_came: bool = False) -> Statement:
    """The conversation row after the turn, with the lease released. `head` is the hash of the turn's seal.

    It meets no row when the lease was lost, the row changed or was deleted, or a newer message interrupted the turn;
    with `whatever_came` the interruption does not count.
    """
    sql, before = dialect(), lease.conversation
    rare: dict[str, Any] = {"status = %s": session.status} if session.status != before.status else {}
    if session.preferences != before.preferences:
        rare[f"preferences = {sql.json}"] = dumps(session.preferences)
    if session.mounted_kb_id != before.mounted_kb_id:
        rare["mounted_kb_id = %s"] = session.mounted_kb_id
    stands = (session.lifecycle, session.lifecycle_detail)
    if whatever_came or stands != (before.lifecycle, before.lifecycle_detail):
        rare |= {"lifecycle = %s": session.lifecycle, f"lifecycle_detail = {sql.json}": dumps(stands[1])}
    unless = "" if whatever_came else " AND lease_interrupted_by IS NULL"
    return Statement(
        f"""UPDATE ce_conversation
SET intent_code = %s, state_code = %s, context_json = {sql.json}, input_params_json = {sql.json}, last_user_text = %s,
    last_assistant_json = {sql.json}, context_epoch = %s, context_summary = %s, {"".join(f"{one}, " for one in rare)}
    updated_at = {sql.now()}, version = version + 1, turn_count = turn_count + 1, chain_head = %s,
    lease_token = NULL, lease_expires_at = NULL, lease_info = NULL, lease_interrupted_by = NULL
WHERE conversation_id = %s AND lease_token = %s AND version = %s{unless}""",
        [
            session.intent or "UNKNOWN",
            session.state or "UNKNOWN",
            dumps(session.context),
            dumps(keep_persistent(session.input_params)),
            session.user_text,
            dumps(session.last_assistant),
            session.epoch,
            session.context_summary,
            *rare.values(),
            head,
            sql.uuid_param(session.conversation_id),
            sql.uuid_param(lease.token),
            before.version,
        ],
        must_match=True,
    )


def release_lease_stmt(lease: Lease, session: Session, head: bytes) -> Statement:
    """Release the lease after a failed turn; meets no row when the lease was lost.

    The conversation stays unchanged, except for a reset: the user asked to be freed from the old state.
    """
    sql = dialect()
    reset = ""
    params: list[Any] = []
    if session.reset_reason:
        reset = (
            "status = 'RUNNING', intent_code = 'UNKNOWN', state_code = 'UNKNOWN', context_json = '{}', "
            f"input_params_json = '{{}}', last_assistant_json = NULL, context_epoch = %s, updated_at = {sql.now()}, "
            "version = version + 1, "
        )
        params.append(session.epoch)
    return Statement(
        f"UPDATE ce_conversation SET {reset}chain_head = %s, lease_token = NULL, lease_expires_at = NULL, "
        "lease_info = NULL, lease_interrupted_by = NULL "
        "WHERE conversation_id = %s AND lease_token = %s",
        [*params, head, sql.uuid_param(session.conversation_id), sql.uuid_param(lease.token)],
        must_match=True,
    )


def set_chain_head_stmt(conversation_id: str, head: bytes) -> Statement:
    """Set the hash of the row's newest seal, if it was not known when the rest was written."""
    return Statement(
        "UPDATE ce_conversation SET chain_head = %s WHERE conversation_id = %s",
        [head, dialect().uuid_param(conversation_id)],
        must_match=True,
    )
