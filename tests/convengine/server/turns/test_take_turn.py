import threading
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import CeAudit
from audit.record.events import expand_events
from config_admin.models import CeConfig, CePolicy
from convengine.engine.errors import ConversationPersistFailed, TurnInProgress
from convengine.engine.pipeline.hooks import Hooks, StepHook
from convengine.engine.turn.turn import TurnRequest
from convengine.server import wiring
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.answer import TurnAnswer
from convengine.server.turns.take_turn import take_turn
from tests.record import events
from tests.worlds import create_help_desk

pytestmark = pytest.mark.dialects

IN_ONE_TRANSACTION = pytest.mark.django_db
FOR_REAL = pytest.mark.django_db(transaction=True)


def say(conversation_id: str, text: str = "hours", **values: Any) -> TurnAnswer:
    answer = take_turn(TurnRequest(conversation_id, text, **values))
    assert isinstance(answer, TurnAnswer)
    return answer


@pytest.fixture
def conversation_id() -> str:
    create_help_desk()
    return str(uuid.uuid4())


def hold_lease(conversation_id: str, seconds: float, turn_no: int = 2, head: str = "3:1:1:x") -> None:
    """As if another process were running a turn."""
    CeConversation.objects.filter(pk=conversation_id).update(
        lease_token=uuid.uuid4(),
        lease_expires_at=timezone.now() + timedelta(seconds=seconds),
        last_turn_no=turn_no,
        lease_info={
            "turnId": str(uuid.uuid4()),
            "turnNo": turn_no,
            "userText": "lost words",
            "inputParamNames": ["tier"],
            "head": head,
            "worker": "gone:1",
        },
    )


@IN_ONE_TRANSACTION
def test_history_comes_newest_last_and_no_more_than_the_limit(conversation_id: str) -> None:
    CeConfig.objects.create(config_type="CONVERSATION_HISTORY", config_key="MAX_TURNS", config_value="2")
    for text in ("hours", "fees", "hours"):
        say(conversation_id, text)

    history = say(conversation_id, "fees").session.history

    assert [(turn.user, turn.assistant) for turn in history] == [("fees", "No fees."), ("hours", "Nine to five.")]


@IN_ONE_TRANSACTION
def test_LOC_V6_a_long_past_is_cut_to_its_newest_turns(conversation_id: str) -> None:
    for number in range(25):
        say(conversation_id, f"hours {number}")

    history = say(conversation_id).session.history

    assert len(history) == 20
    assert (history[0].user, history[-1].user) == ("hours 5", "hours 24")


@IN_ONE_TRANSACTION
def test_blocked_and_failed_turns_are_no_history(conversation_id: str) -> None:
    say(conversation_id, "hours")
    say(conversation_id, "my cvv")

    assert [turn.user for turn in say(conversation_id).session.history] == ["hours"]


@IN_ONE_TRANSACTION
def test_turns_before_a_reset_are_no_history(conversation_id: str) -> None:
    say(conversation_id, "hours")
    say(conversation_id, "/reset")

    assert "hours" not in [turn.user for turn in say(conversation_id, "fees").session.history]


@IN_ONE_TRANSACTION
def test_what_the_last_turn_left_is_there_for_the_next(conversation_id: str) -> None:
    say(conversation_id)

    previous = say(conversation_id).session.input_params["previousTurn"]

    assert previous["rule_phase"] == "PRE_RESPONSE_RESOLUTION"


@IN_ONE_TRANSACTION
def test_ENG_V12_an_edit_in_the_middle_of_a_turn_belongs_to_the_next(
    conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Edits(StepHook):
        def before_step(self, step_name: str, session: Any, turn: Any) -> Any:
            if step_name == "PolicyEnforcementStep":
                CePolicy.objects.update(enabled=False)
            return session

    monkeypatch.setattr(wiring.engine(), "_hooks", Hooks([Edits()]))
    during = say(conversation_id, "my cvv")
    monkeypatch.undo()
    after = say(conversation_id, "my cvv")

    assert during.session.status == "BLOCKED"
    assert after.session.status == "RUNNING"


@IN_ONE_TRANSACTION
def test_P8_an_ordinary_turn_takes_few_statements_whatever_the_size(conversation_id: str) -> None:
    for number in range(30):
        say(conversation_id, f"hours {number}")

    with CaptureQueriesContext(connection) as captured:
        say(conversation_id)

    statements = [q["sql"] for q in captured if not q["sql"].startswith(("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT"))]
    # The API adds the look-up of the key.
    assert len(statements) + 1 <= 8, statements


@IN_ONE_TRANSACTION
@pytest.mark.amended("R3")
def test_ENG_V11_a_second_turn_is_refused_at_once_where_that_is_wanted(conversation_id: str) -> None:
    CeConfig.objects.create(config_type="Session", config_key="ON_CONCURRENT_TURN", config_value="reject")
    say(conversation_id)
    hold_lease(conversation_id, 60)

    with pytest.raises(TurnInProgress):
        say(conversation_id)

    assert CeConversationHistory.objects.count() == 1


@IN_ONE_TRANSACTION
def test_step_flushing_stores_each_step_and_the_same_events(conversation_id: str) -> None:
    say(conversation_id)
    at_once = [(event.seq, event.stage) for event in events()]
    CeConfig.objects.create(config_type="AUDIT", config_key="FLUSH", config_value="STEP")

    other = str(uuid.uuid4())
    say(other)

    stepwise = CeAudit.objects.filter(conversation_id=other).order_by("audit_id")
    assert [(event.seq, event.stage) for event in stepwise] == at_once


@IN_ONE_TRANSACTION
def test_PCB_V4_a_database_that_fails_is_one_recoverable_error(
    conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: Any) -> None:
        raise DatabaseError("disk full")

    monkeypatch.setattr("audit.interface._TurnLog.insert_turn_stmts", fails)

    with pytest.raises(ConversationPersistFailed) as failed:
        say(conversation_id)

    assert failed.value.recoverable
    assert "disk full" not in failed.value.message


@IN_ONE_TRANSACTION
def test_a_turn_whose_row_changed_under_it_stores_nothing(
    conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(conversation_id)

    class Interferes(StepHook):
        def before_step(self, step_name: str, session: Any, turn: Any) -> Any:
            if step_name == "RulesStep":
                CeConversation.objects.update(version=99)
            return session

    monkeypatch.setattr(wiring.engine(), "_hooks", Hooks([Interferes()]))

    with pytest.raises(Exception, match="Nothing was stored"):
        say(conversation_id, "fees")

    row = CeConversation.objects.get()
    assert (row.intent_code, row.lease_token) == ("HOURS", None)
    assert CeConversationHistory.objects.get(turn_no=2).error_code == "TURN_CONFLICT"


@FOR_REAL
def test_LOC_V3_two_first_messages_make_one_conversation() -> None:
    create_help_desk()
    conversation_id, answers, errors = str(uuid.uuid4()), [], []
    gate = threading.Barrier(8)

    def speak() -> None:
        try:
            gate.wait()
            answers.append(say(conversation_id).turn_no)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=speak) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert sorted(answers) == list(range(1, 9))
    assert CeConversation.objects.count() == 1


@IN_ONE_TRANSACTION
def test_PCB_V3_a_conversation_deleted_under_a_turn_is_made_anew(
    conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(conversation_id, "hours", input_params={"tier": "gold"})

    class Purges(StepHook):
        def before_step(self, step_name: str, session: Any, turn: Any) -> Any:
            if step_name == "ResetConversationStep":
                CeConversation.objects.all().delete()
            return session

    monkeypatch.setattr(wiring.engine(), "_hooks", Hooks([Purges()]))
    say(conversation_id, "fees")

    row = CeConversation.objects.get()
    assert (row.intent_code, row.last_turn_no, row.input_params_json["tier"]) == ("FEES", 2, "gold")
    assert CeAudit.objects.get(turn_no=2, stage="CONVERSATION_CREATED").payload_json["reason"] == "recreated"
    assert CeConversationHistory.objects.get().replayable is False


@IN_ONE_TRANSACTION
def test_PCB_V5_nothing_that_needs_the_row_begins_before_it_is_sure(conversation_id: str) -> None:
    say(conversation_id)

    marks = [(event.name, event.payload.get("step")) for event in expand_events(events())]
    sure = marks.index(("STEP_EXIT", "PersistConversationBootstrapStep"))
    needing = [step.name for step in wiring.engine().steps if step.requires_persisted]
    assert needing
    assert all(("STEP_ENTER", name) not in marks[:sure] for name in needing)


@IN_ONE_TRANSACTION
def test_RRI_V7_a_reset_intent_added_between_two_turns_resets_the_next(conversation_id: str) -> None:
    before = say(conversation_id)
    CeConfig.objects.create(
        config_type="ResetResolvedIntentStep", config_key="RESET_INTENT_CODES", config_value="RESET_SESSION, HOURS"
    )

    after = say(conversation_id)

    assert before.session.intent == "HOURS"
    assert (after.session.intent, after.session.reset_reason) == ("UNKNOWN", "INTENT_RESOLVED_RESET")
