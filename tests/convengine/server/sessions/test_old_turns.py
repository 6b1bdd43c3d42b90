"""What leaves by retention, and what stays."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from config_admin.models import CeConfig
from convengine.engine.turn.job import Counts
from convengine.server.database.sql import database_time
from convengine.server.sessions import old_turns
from convengine.server.sessions.models import (
    CeConversation,
    CeConversationHistory,
    CeIdempotency,
    CeMemory,
    CePendingActionExecution,
    CeTurnTicket,
)
from convengine.server.sessions.old_turns import remove_old_turns, remove_short_lived
from tests.convengine.server.threads.sessions import session

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
OLD, YOUNG = timedelta(days=31), timedelta(days=29)
ENDED: dict[str, Any] = {"lifecycle": "COMPLETE"}


def run(work: Callable[[], Iterator[Counts]] = remove_old_turns) -> Counter[str]:
    total: Counter[str] = Counter()
    for counts in work():
        total.update(counts)
    return total


def turn(row: CeConversation, turn_no: int, ago: timedelta) -> CeConversationHistory:
    at = database_time() - ago
    return CeConversationHistory.objects.create(
        conversation=row, turn_no=turn_no, user_input="hello", config_version=1, created_at=at
    )


@pytest.fixture
def thirty_days() -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key="RETENTION_DAYS", config_value="30")


def test_everything_is_kept_unless_somebody_says_how_long() -> None:
    row = session(OLD * 20, **ENDED)
    turn(row, 1, OLD * 20)

    assert run() == {}
    assert CeConversationHistory.objects.count() == 1


@pytest.mark.usefixtures("thirty_days")
class TestTurnsAndSessions:
    def test_a_session_that_nobody_used_since_goes_with_all_that_hangs_on_it(self) -> None:
        old, young = session(OLD, **ENDED), session(YOUNG, **ENDED)
        following = session(YOUNG, previous_session=old)
        turn(old, 1, OLD)
        CeMemory.objects.create(conversation=old, remote_jid="x", summary_text="s", from_turn=1, to_turn=1)

        assert run() == {"sessions": 1}

        assert set(CeConversation.objects.values_list("pk", flat=True)) == {young.pk, following.pk}
        following.refresh_from_db()
        assert following.previous_session is None
        assert (CeConversationHistory.objects.count(), CeMemory.objects.count()) == (0, 0)

    def test_a_conversation_of_the_plain_turn_api_goes_when_it_is_old(self) -> None:
        session(OLD, channel="api")

        assert run() == {"sessions": 1}

    def test_an_open_session_of_a_thread_is_first_closed(self) -> None:
        session(OLD)

        assert run() == {}

    def test_one_that_was_written_to_since_stays(self) -> None:
        session(OLD, **ENDED, last_message_at=database_time() - YOUNG)

        assert run() == {}

    def test_one_with_an_action_that_waits_for_a_person_stays(self) -> None:
        row = session(OLD, **ENDED)
        CePendingActionExecution.objects.create(
            conversation=row, turn_id=uuid.uuid4(), action_key="A", action_ref="a", runtime_nonce=uuid.uuid4(),
            status="CLAIMED",
        )  # fmt: skip

        assert run() == {}

    def test_old_turns_of_a_session_that_goes_on_leave_it_but_its_newest(self) -> None:
        row, quiet = session(YOUNG, last_turn_no=3), session(YOUNG, last_turn_no=1)
        for number, ago in ((1, OLD * 2), (2, OLD), (3, YOUNG)):
            turn(row, number, ago)
        turn(quiet, 1, OLD)

        assert run() == {"turns": 2}
        kept_turns = CeConversationHistory.objects.order_by("turn_no").values_list("conversation_id", "turn_no")
        assert sorted(kept_turns, key=lambda turn: turn[1]) == [(quiet.pk, 1), (row.pk, 3)]

    def test_results_of_actions_leave_with_their_turns_unless_a_person_must_decide(self) -> None:
        row = session(YOUNG, last_turn_no=3)
        old, older = turn(row, 1, OLD), turn(row, 2, OLD)
        young = turn(row, 3, YOUNG)
        for each, status in ((old, "EXECUTED"), (older, "CLAIMED"), (young, "EXECUTED")):
            CePendingActionExecution.objects.create(
                conversation=row, turn_id=each.turn_id, action_key="A", action_ref="a", runtime_nonce=uuid.uuid4(),
                status=status,
            )  # fmt: skip

        assert run() == {"turns": 2}
        kept = CePendingActionExecution.objects.order_by("pk").values_list("turn_id", "status")
        assert list(kept) == [(older.turn_id, "CLAIMED"), (young.turn_id, "EXECUTED")]

    def test_it_goes_in_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(old_turns, "SESSIONS", 2)
        monkeypatch.setattr(old_turns, "ROWS", 2)
        for _ in range(3):
            session(OLD, **ENDED)
        row = session(YOUNG, last_turn_no=9)
        for number in range(1, 6):
            turn(row, number, OLD)

        assert [dict(counts) for counts in remove_old_turns()] == [
            {"sessions": 2},
            {"sessions": 1},
            {"turns": 2},
            {"turns": 2},
            {"turns": 1},
        ]


def test_answers_go_when_their_time_is_over() -> None:
    now = database_time()
    for key, expires in (("old", now - timedelta(seconds=1)), ("new", now + timedelta(hours=1))):
        CeIdempotency.objects.create(
            api_key="k", key=key, body_hash="h", conversation_id=uuid.uuid4(), turn_id=uuid.uuid4(), answer={},
            created_at=now, expires_at=expires,
        )  # fmt: skip

    assert run(remove_short_lived) == {"stored answers": 1}
    assert CeIdempotency.objects.get().key == "new"


def test_tickets_of_waiters_that_died_go() -> None:
    now = database_time()
    for expires in (now - timedelta(hours=2), now + timedelta(seconds=3)):
        CeTurnTicket.objects.create(conversation_id=uuid.uuid4(), arrived_at=now, expires_at=expires)

    assert run(remove_short_lived) == {"tickets": 1}
    assert CeTurnTicket.objects.count() == 1
