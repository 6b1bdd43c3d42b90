import uuid
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from audit.models import CeAudit
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.models import CeDraft, CeResponse
from config_admin.releases.audience import AudienceSpec
from config_admin.releases.change_set import change_set
from config_admin.releases.head import read
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CePendingActionExecution
from convengine.server.turns.dead_turns import end_overdue_turn, report_open_executions
from tests.convengine.server.threads.sessions import session
from tests.convengine.server.turns.test_take_turn import hold_lease, say
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
MINUTES = timedelta(minutes=5)


def test_a_dead_turn_leaves_its_record_and_the_conversation_goes_on() -> None:
    create_help_desk()
    conversation_id = str(uuid.uuid4())
    say(conversation_id)
    hold_lease(conversation_id, -1)

    answer = say(conversation_id, "fees")

    assert answer.turn_no == 3
    dead = CeConversationHistory.objects.get(turn_no=2)
    assert (dead.status, dead.error_code, dead.user_input, dead.config_version) == (
        "FAILED",
        "LEASE_EXPIRED",
        "lost words",
        3,
    )
    events = CeAudit.objects.filter(turn_no=2).order_by("seq")
    assert [event.stage for event in events] == ["USER_INPUT", "ENGINE_UNKNOWN_FAILURE"]
    assert events[1].payload_json["reason"] == "LEASE_EXPIRED"


def test_a_turn_that_outlasts_its_limit_is_ended_by_its_lease_alone() -> None:
    create_help_desk()
    conversation_id = str(uuid.uuid4())
    say(conversation_id)
    hold_lease(conversation_id, 60)
    row = CeConversation.objects.get(pk=conversation_id)

    assert not end_overdue_turn(conversation_id, str(uuid.uuid4()))
    assert end_overdue_turn(conversation_id, str(row.lease_token))
    assert not end_overdue_turn(conversation_id, str(row.lease_token))

    assert say(conversation_id, "fees").turn_no == 3
    ended = CeConversationHistory.objects.get(turn_no=2)
    assert (ended.status, ended.error_code, ended.user_input) == ("FAILED", "TURN_TIMEOUT", "lost words")
    assert "within its time limit" in ended.error_message


def test_a_dead_turn_names_the_release_that_it_ran_on() -> None:
    """The newest release is given to others only, and the conversation runs on the one before."""
    create_help_desk()
    conversation_id = str(uuid.uuid4())
    older = say(conversation_id).config_version
    draft = CeDraft.objects.create(title="For staff")
    with open_draft(draft.pk, "ada", writing=True), change_set():
        CeResponse.objects.filter(intent_code="FEES").update(exact_text="Nothing for staff.")
    publish_draft(draft.pk, audience=AudienceSpec(participants=["staff"]))
    hold_lease(conversation_id, -1, head=read() or "")

    assert say(conversation_id, "fees").config_version == older

    dead = CeConversationHistory.objects.get(turn_no=2)
    assert (dead.error_code, dead.config_version) == ("LEASE_EXPIRED", older)


def run() -> Counter[str]:
    total: Counter[str] = Counter()
    for counts in report_open_executions():
        total.update(counts)
    return total


def claim(row: CeConversation, turn_id: uuid.UUID, ago: timedelta = MINUTES, **values: Any) -> CePendingActionExecution:
    return CePendingActionExecution.objects.create(
        conversation=row, turn_id=turn_id, action_key="REFUND", action_ref="shop.refund", runtime_nonce=uuid.uuid4(),
        started_at=database_time() - ago, **{"status": "CLAIMED", **values},
    )  # fmt: skip


def make_leased_conversation(turn_id: uuid.UUID, until: timedelta) -> CeConversation:
    info = {"turnId": str(turn_id), "turnNo": 4, "userText": "yes", "head": "1:x"}
    expires = database_time() + until
    return session(lease_token=uuid.uuid4(), lease_expires_at=expires, lease_info=info, last_turn_no=4)


def test_the_turn_that_died_is_recorded_and_the_action_waits_for_a_person() -> None:
    turn_id = uuid.uuid4()
    row = make_leased_conversation(turn_id, -MINUTES)
    claim_row = claim(row, turn_id)

    assert run() == {"dead turns recorded": 1, "waiting for a person": 1}
    assert run() == {"waiting for a person": 1}
    assert CeConversationHistory.objects.get().error_code == "LEASE_EXPIRED"
    claim_row.refresh_from_db()
    assert claim_row.status == "CLAIMED"


def test_an_action_of_a_turn_that_runs_is_left_alone() -> None:
    turn_id = uuid.uuid4()
    claim(make_leased_conversation(turn_id, MINUTES), turn_id)

    assert run() == {}


def test_a_young_claim_and_one_that_has_its_end_are_none_of_its_business() -> None:
    claim(session(), uuid.uuid4(), timedelta(seconds=5))
    claim(session(), uuid.uuid4(), status="EXECUTED")

    assert run() == {}
