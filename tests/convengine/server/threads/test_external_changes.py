"What a caller does to a session beside turns: closes it, tells of a turn handled outside this system (sessions 10)."

import threading
import time
from typing import Any

import pytest
from django.db import connection

from audit.models import CeAudit
from convengine.engine.errors import ConversationClosed, ConversationNotFound, TurnConflict, TurnInProgress
from convengine.server.database.sql import StatementRefused
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.threads import external_changes
from tests.convengine.server.threads.sessions import session
from tests.convengine.server.turns.test_take_turn import hold_lease
from tests.threads import Participant, row_of, setting

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def test_a_session_of_another_workspace_is_none() -> None:
    row = session(workspace_id="other")

    assert external_changes.get_session(str(row.pk), "other").pk == row.pk
    for call in (
        lambda: external_changes.get_session(str(row.pk), "default"),
        lambda: external_changes.close_session(str(row.pk), "default"),
        lambda: external_changes.record_external_turn(str(row.pk), "default", "a", "b", None),
    ):
        with pytest.raises(ConversationNotFound):
            call()
    row.refresh_from_db()
    assert (row.lifecycle, row.last_turn_no) == ("RUNNING", 3)


def test_closing_says_why_and_by_whom() -> None:
    row = external_changes.close_session(str(session().pk), "default", "the shop closes")

    assert (row.lifecycle, row.lifecycle_detail["reason"], row.lifecycle_detail["by"]) == (
        "COMPLETE",
        "the shop closes",
        "close",
    )


@pytest.mark.parametrize("lifecycle", ["COMPLETE", "ABORTED"])
def test_a_closed_one_stays_as_it_is(lifecycle: str) -> None:
    row = session(lifecycle=lifecycle, lifecycle_detail={"reason": "confirmed"})

    closed = external_changes.close_session(str(row.pk), "default", "again")

    assert (closed.lifecycle, closed.lifecycle_detail, closed.version) == (lifecycle, {"reason": "confirmed"}, 0)
    assert not CeAudit.objects.exists()


def test_a_dead_turn_is_recorded_before_its_session_is_closed() -> None:
    row = session()
    hold_lease(str(row.pk), -1, turn_no=4)

    assert external_changes.close_session(str(row.pk), "default").lifecycle == "COMPLETE"
    assert CeConversationHistory.objects.get().error_code == "LEASE_EXPIRED"


@pytest.mark.parametrize("policy", ["reject", "wait"])
def test_a_turn_that_runs_is_never_cut_off(policy: str) -> None:
    setting("ON_CONCURRENT_TURN", policy)
    setting("LEASE_WAIT_SECONDS", "60" if policy == "reject" else "1")
    row = session()
    hold_lease(str(row.pk), 60, turn_no=4)
    began = time.monotonic()

    with pytest.raises(TurnInProgress):
        external_changes.close_session(str(row.pk), "default")

    waited = time.monotonic() - began
    assert waited < 30 if policy == "reject" else waited > 0.9
    row.refresh_from_db()
    assert row.lifecycle == "RUNNING"


@pytest.mark.django_db(transaction=True)
def test_closing_waits_for_the_turn_that_runs() -> None:
    row, closed = session(), list[Any]()
    hold_lease(str(row.pk), 60, turn_no=4)

    def close() -> None:
        closed.append(external_changes.close_session(str(row.pk), "default").lifecycle)
        connection.close()

    caller = threading.Thread(target=close)
    caller.start()
    time.sleep(0.3)
    assert closed == []
    CeConversation.objects.update(lease_token=None)
    caller.join(30)

    assert closed == ["COMPLETE"]


@pytest.mark.django_db(transaction=True)
def test_closing_a_session_that_ends_with_the_turn_that_runs_changes_nothing() -> None:
    row, closed = session(), list[Any]()
    hold_lease(str(row.pk), 60, turn_no=4)

    def close() -> None:
        closed.append(external_changes.close_session(str(row.pk), "default", "too late").lifecycle_detail)
        connection.close()

    caller = threading.Thread(target=close)
    caller.start()
    time.sleep(0.3)
    CeConversation.objects.update(lease_token=None, lifecycle="ABORTED", lifecycle_detail={"reason": "abandoned"})
    caller.join(30)

    assert closed == [{"reason": "abandoned"}]


def test_a_turn_handled_elsewhere_goes_on_where_ours_ended(guest: Participant) -> None:
    first = guest.say("a visa")

    row = external_changes.record_external_turn(
        first["session_id"], "default", "Japan", "Done at the counter.", "COUNTER"
    )

    assert (row.last_turn_no, row.turn_count, row.version, row.lease_token) == (2, 2, 2, None)
    assert (row.lifecycle, row.last_user_text) == ("RUNNING", "Japan")
    assert row.context_summary.endswith("TURNS: 2")
    record = CeConversationHistory.objects.get(turn_no=2)
    assert (record.status, record.source, record.replayable) == ("OK", "EXTERNAL", False)
    assert (record.user_input, record.assistant_output["value"]) == ("Japan", "Done at the counter.")
    assert record.facts["action_type"] == "COUNTER"
    stages = CeAudit.objects.filter(turn_no=2).order_by("seq").values_list("stage", flat=True)
    assert list(stages) == ["USER_INPUT", "ASSISTANT_OUTPUT", "SESSION_LIFECYCLE"]
    assert guest.say("hours?")["turn"]["turnNo"] == 3


def test_a_closed_session_takes_no_more_turns(guest: Participant) -> None:
    first = guest.say("a visa")
    external_changes.close_session(first["session_id"], "default")

    with pytest.raises(ConversationClosed):
        external_changes.record_external_turn(first["session_id"], "default", "Japan", "Done.", None)

    assert row_of(first).last_turn_no == 1


def test_a_row_that_changed_meanwhile_stores_nothing(guest: Participant, monkeypatch: pytest.MonkeyPatch) -> None:
    first = guest.say("a visa")

    def refuse(*_: Any) -> None:
        raise StatementRefused

    monkeypatch.setattr(external_changes, "execute_all", refuse)

    with pytest.raises(TurnConflict):
        external_changes.record_external_turn(first["session_id"], "default", "Japan", "Done.", None)
    assert (row_of(first).turn_count, CeConversationHistory.objects.count()) == (1, 1)
