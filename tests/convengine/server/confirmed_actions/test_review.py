"""An execution that nobody saw the end of is settled by a person, once, with who and why."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from convengine.engine.turn.ports import ExecutionClaim
from convengine.engine.turn.recording import Recording
from convengine.server.confirmed_actions.review import DID_NOT_RUN, NotSettled, Settlement, settle_execution
from convengine.server.confirmed_actions.run_once import Executions
from convengine.server.sessions.models import CeConversation, CePendingActionExecution
from tests.convengine.server.confirmed_actions.test_run_once import make_claim

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def claim() -> ExecutionClaim:
    new_claim = make_claim()
    Executions(Recording()).claim(new_claim)
    return new_claim


def row() -> CePendingActionExecution:
    return CePendingActionExecution.objects.get()


def test_what_ran_is_executed_with_the_result_that_was_found(ada: User, claim: ExecutionClaim) -> None:
    settle_execution(row().pk, Settlement(True, ada, " The bank shows it. ", {"refund": "R-17"}))

    assert (row().status, row().result_json["values"]) == ("EXECUTED", [{"refund": "R-17"}])
    settled = row().result_json["settled"]
    assert (settled["by"], settled["reason"]) == ("ada", "The bank shows it.")
    assert row().finished_at is not None
    execution = Executions(Recording()).claim(claim)
    assert (execution.claimed, execution.status) == (False, "EXECUTED")
    # Also under another opening: nobody has told the user yet.
    assert Executions(Recording()).claim(make_claim(conversation_id=claim.conversation_id)).status == "EXECUTED"


def test_what_did_not_run_may_run_in_another_opening(ada: User, claim: ExecutionClaim) -> None:
    settle_execution(row().pk, Settlement(False, ada, "The bank knows nothing of it."))

    assert (row().status, row().result_json["errorType"]) == ("FAILED", DID_NOT_RUN)
    book = Executions(Recording())
    assert book.claim(claim).status == "FAILED"
    assert book.claim(make_claim(conversation_id=claim.conversation_id)).claimed


def test_a_settlement_needs_its_reason_and_is_made_once(ada: User, claim: ExecutionClaim) -> None:
    with pytest.raises(NotSettled, match="how you know"):
        settle_execution(row().pk, Settlement(True, ada, "  "))
    settle_execution(row().pk, Settlement(True, ada, "Seen."))
    with pytest.raises(NotSettled, match="is already recorded: EXECUTED"):
        settle_execution(row().pk, Settlement(False, ada, "Not seen."))
    assert row().status == "EXECUTED"


def test_a_turn_that_still_runs_is_waited_for(ada: User, claim: ExecutionClaim) -> None:
    lease = {"lease_token": claim.nonce, "lease_info": {"turnId": claim.turn_id}}
    CeConversation.objects.update(**lease, lease_expires_at=timezone.now() + timedelta(seconds=9))
    with pytest.raises(NotSettled, match="still running"):
        settle_execution(row().pk, Settlement(True, ada, "Seen."))

    CeConversation.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=9))
    settle_execution(row().pk, Settlement(True, ada, "Seen."))
    assert row().status == "EXECUTED"
