"""Actions whose end nobody saw are looked after, and settled by nobody but a person."""

import uuid
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CePendingActionExecution
from convengine.server.turns.open_executions import report_open_executions
from tests.convengine.server.threads.sessions import session

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
MINUTES = timedelta(minutes=5)


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
