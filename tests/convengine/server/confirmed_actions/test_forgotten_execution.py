"""What a dead turn executed is not run again, however late and under whatever opening the next yes comes."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from audit.models import CeAudit
from config_admin import models as m
from config_admin.releases.change_set import change_set
from convengine.engine.errors import ConversationPersistFailed
from convengine.server.confirmed_actions.review import Settlement, settle_execution
from convengine.server.extensions.registry import TaskEntry, registry
from convengine.server.extensions.tasks import TaskCall
from convengine.server.sessions.models import CePendingActionExecution
from tests.api import Caller

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]


@pytest.fixture
def runs() -> Iterator[list[Any]]:
    made: list[Any] = []

    def pay(call: TaskCall) -> dict[str, int]:
        made.append(call.idempotency_key)
        return {"payment": len(made)}

    registry.add_task("bank", TaskEntry({"pay": pay}))
    yield made
    del registry.tasks["bank"]


@pytest.fixture
def ttl() -> str:
    """In how many turns the proposal expires."""
    return "2"


@pytest.fixture
def caller(runs: list[Any], ttl: str) -> Caller:
    with change_set(reason="a payment that needs a yes"):
        m.CeIntent.objects.create(intent_code="PAY", description="pays")
        m.CeIntentClassifier.objects.create(
            intent_code="PAY", state_code="CONFIRM", rule_type="CONTAINS", pattern="pay"
        )
        m.CePendingAction.objects.create(
            intent_code="PAY", state_code="CONFIRM", action_key="PAY", bean_name="bank", method_names="pay"
        )
        m.CeConfig.objects.create(config_type="ActionLifecycleStep", config_key="TTL_TURNS", config_value=ttl)
        answer("Shall I?")
    caller = Caller()
    caller.say("pay the bill")
    caller.say("hm")
    return caller


def answer(text: str) -> None:
    m.CeResponse.objects.create(intent_code="ANY", state_code="ANY", response_type="EXACT", exact_text=text)


def outcome(caller: Caller) -> dict[str, Any]:
    events = CeAudit.objects.filter(stage__startswith="PENDING_ACTION_", conversation_id=caller.conversation_id)
    event = events.exclude(stage="PENDING_ACTION_LIFECYCLE").order_by("turn_no", "seq").last()
    assert event is not None
    return {"stage": event.stage, **event.payload_json}


def test_an_execution_of_a_failed_turn_outlives_its_proposal(caller: Caller, runs: list[Any]) -> None:
    m.CeResponse.objects.update(response_type="UNHEARD_OF")
    assert caller.say("yes")["errorCode"] == "NO_RESPONSE_CONFIGURED"
    m.CeResponse.objects.all().delete()
    answer("Well?")
    assert len(runs) == 1

    late = caller.say("yes")
    assert late["context"]["pending_action_runtime"]["status"] == "EXPIRED"
    again = caller.say("yes")

    assert len(runs) == 1
    event = outcome(caller)
    assert (event["stage"], event["reused"]) == ("PENDING_ACTION_EXECUTED", True)
    assert again["context"]["pending_action_runtime"]["result"]["values"] == [{"payment": 1}]

    # The user knows now: whoever names it again wants it again.
    caller.say("yes", inputParams={"pending_action_key": "PAY"})
    assert len(runs) == 2


@pytest.mark.parametrize("ttl", ["9"])
@pytest.mark.parametrize(("ran", "calls", "statuses"), [(True, 0, ["EXECUTED"]), (False, 1, ["FAILED", "EXECUTED"])])
def test_the_next_yes_hears_what_a_person_found(
    caller: Caller, runs: list[Any], monkeypatch: pytest.MonkeyPatch, ran: bool, calls: int, statuses: list[str]
) -> None:
    def fails(*args: Any) -> None:
        raise ConversationPersistFailed()

    with monkeypatch.context() as patch:
        patch.setattr("convengine.engine.steps.actions.pending_action._run_methods", fails)
        assert caller.say("yes")["errorCode"] == "CONVERSATION_PERSIST_FAILED"
    row = CePendingActionExecution.objects.get()
    assert row.status == "CLAIMED"

    settle_execution(row.pk, Settlement(ran, User.objects.create_user("ada"), "The bank says so.", ran or None))
    seen = [caller.say("yes")["context"]["pending_action_runtime"]["status"] for _ in statuses]

    assert (seen, len(runs)) == (statuses, calls)
