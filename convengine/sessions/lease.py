"""The right to run a conversation's next turn: taken, waited for in order of arrival, renewed (sessions 6; R26 to R28).

Only a turn that finds the lease held looks further than the statement that takes it.
"""

import uuid
from functools import partial
from typing import Any

from django.db import connection

from convengine import conf
from convengine.codec import loaded
from convengine.domain import settings
from convengine.domain.catalogue.session import ALLOW_CLIENT_CONVERSATION_IDS, ON_CONCURRENT_TURN
from convengine.domain.turn import TurnRequest
from convengine.errors import ConversationClosed, ConversationNotFound, TurnInProgress
from convengine.rules.redacting import Redaction
from convengine.sessions import idempotency
from convengine.sessions.ending import BY_CALL
from convengine.sessions.failed import bury
from convengine.sessions.idempotency import IdempotencyKey
from convengine.sessions.interrupting import interrupt
from convengine.sessions.sql import dialect
from convengine.sessions.taking import Claim, Condition, Lease, seconds, take_free
from convengine.sessions.waiting import wait

__all__ = ["Answered", "Condition", "Lease", "renew", "seconds", "take"]


class Answered(Exception):
    """The call that this one repeats was answered; `body` is what it got."""

    def __init__(self, body: Any) -> None:
        self.body = body
        super().__init__("answered")


def take(request: TurnRequest, key: IdempotencyKey | None = None, condition: Condition | None = None) -> Lease:
    """Take the lease, waiting in order of arrival as `Session/ON_CONCURRENT_TURN` says.

    A call whose key was answered never gets the lease, also when the answer came while it waited; nor does one whose
    condition does not hold.
    Raises Answered, TurnInProgress, ConversationNotFound (another workspace's, or client ids are off),
    ConversationClosed, IdempotencyKeyReused, and what the condition raises.
    """
    claim = Claim(str(uuid.uuid4()), request, key, condition)
    if key:
        _look_up(claim)
    return take_free(claim) or _take_hard(claim)


def renew(token: str) -> bool:
    """Hold a lease for longer. False when it was lost."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE ce_conversation SET lease_expires_at = {dialect().now(seconds())} WHERE lease_token = %s",
            [dialect().uuid(token)],
        )
        return bool(cursor.rowcount == 1)


def _look_up(claim: Claim) -> None:
    """Raises Answered when an earlier call with the same key was answered (R52), and what the condition raises."""
    if claim.condition:
        claim.condition.check()
    if claim.key and (body := idempotency.find(claim.key)) is not None:
        raise Answered(body)


def _interrupt(claim: Claim) -> None:
    """The same, and the turn that runs is told to stop: whoever arrived earlier is never behind (R29).

    No call stops itself: what comes again with its key waits for the answer to the first (R52).
    """
    _look_up(claim)
    if not idempotency.runs(claim.key, claim.request.conversation_id):
        message = claim.request.message
        masked = message and Redaction.of(conf.load("SNAPSHOT").latest).text(message)
        interrupt(claim.request.conversation_id, claim.turn_id, masked)


def _take_hard(claim: Claim) -> Lease:
    """The conversation is new, closed, foreign, busy, or held by a dead turn; or the condition does not hold."""
    request = claim.request
    _look_up(claim)
    if not _exists(request):
        _create(request, claim.condition.opener if claim.condition else None)
        if lease := take_free(claim):
            return lease
    if bury(request.conversation_id) and (lease := take_free(claim)):
        return lease
    _look_up(claim)
    policy = settings.read(conf.load("SNAPSHOT").current(), ON_CONCURRENT_TURN, request.workspace_id).value
    if policy == "reject" and not idempotency.runs(claim.key, request.conversation_id):
        raise TurnInProgress()
    look = _interrupt if policy == "interrupt" else _look_up
    return wait(request.conversation_id, partial(take_free, claim), partial(look, claim))


def _exists(request: TurnRequest) -> bool:
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT workspace_id, channel, lifecycle, lifecycle_detail FROM ce_conversation WHERE conversation_id = %s",
            [here.uuid(request.conversation_id)],
        )
        row = cursor.fetchone()
    if row is None:
        if not request.new and not settings.read(conf.load("SNAPSHOT").current(), ALLOW_CLIENT_CONVERSATION_IDS).value:
            raise ConversationNotFound()
        return False
    workspace, channel, lifecycle, detail = row
    if workspace != request.workspace_id:
        # Never 403: ids cannot be probed (R53).
        raise ConversationNotFound()
    for_good = channel != "api" or (loaded(detail) or {}).get("by") == BY_CALL
    if for_good and lifecycle in ("COMPLETE", "ABORTED"):
        raise ConversationClosed()
    return True


def _create(request: TurnRequest, opener: str | None) -> None:
    """Insert the row. Of two creators one wins, and both go on with the winner's row."""
    here = dialect()
    with connection.cursor() as cursor:
        cursor.execute(
            f"""INSERT INTO ce_conversation
                    (conversation_id, status, intent_code, state_code, context_json, input_params_json, created_at,
                     updated_at, version, last_turn_no, turn_count, context_epoch, workspace_id, channel, remote_jid,
                     lifecycle, lifecycle_detail, context_summary, preferences, opened_by)
                VALUES (%s, 'RUNNING', 'UNKNOWN', 'UNKNOWN', '{{}}', '{{}}', {here.now()}, {here.now()}, 0, 0, 0, 0,
                        %s, %s, %s, 'RUNNING', '{{}}', '', '{{}}', %s)
                ON CONFLICT DO NOTHING""",
            [
                here.uuid(request.conversation_id),
                request.workspace_id,
                request.channel,
                request.conversation_id,
                opener,
            ],
        )
