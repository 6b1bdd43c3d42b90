"""The server is killed around the task of a rule; the same call, sent again, does not run it twice."""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from audit.models import CeAudit
from config_admin.models import CeIntent, CeIntentClassifier, CeResponse, CeRule
from config_admin.releases.change_set import change_set
from convengine.server.sessions.models import CePendingActionExecution
from tests.api import make_key
from tests.live.client import MESSAGE, TURN, post
from tests.live.configuration import configure
from tests.live.processes import Server

#: After the claim; after the run, whose end is not yet stored; when it is; after the rules; at the commit.
PLACES = ("claimed", "ran", "noted", "after RulesStep", "commit 0")
#: Only the killed process knew how the task ended.
IN_DOUBT = ("claimed", "ran")
DONE, WAITS = "Refunded.", "We are looking into your refund."
PHASE = {"phase": "PRE_RESPONSE_RESOLUTION", "intent_code": "REFUND", "state_code": "ANY"}


def in_conversation() -> tuple[str, dict[str, Any]]:
    """A conversation whose id the caller chose."""
    return TURN, {"conversationId": str(uuid.uuid4()), "message": "refund my order"}


def without_id() -> tuple[str, dict[str, Any]]:
    """The first turn of a conversation that the call opens."""
    return TURN, {"message": "refund my order"}


def in_thread() -> tuple[str, dict[str, Any]]:
    """The first message of a thread, which begins a session."""
    thread = {"workspace_id": "default", "channel": "web", "remote_jid": str(uuid.uuid4())}
    return MESSAGE, {**thread, "user_message": "refund my order"}


@pytest.fixture
def effects(tmp_path: Path) -> Path:
    """Where the task leaves a line each time it runs."""
    path = tmp_path / "effects"
    path.touch()
    return path


@pytest.fixture
def server(doomed: Callable[..., Server], effects: Path) -> Server:
    """A server with a rule that pays at once, and one that says when it is not known whether it paid."""
    with change_set(reason="refunds by a rule"):
        CeResponse.objects.all().delete()
        CeIntent.objects.create(intent_code="REFUND", description="refunds")
        CeIntentClassifier.objects.create(
            intent_code="REFUND", state_code="IDLE", rule_type="CONTAINS", pattern="refund"
        )
        CeRule.objects.create(
            **PHASE, rule_type="EXACT", match_pattern="ANY", action="SET_TASK", action_value="refund", priority=1
        )
        CeRule.objects.create(
            **PHASE, rule_type="JSON_PATH", priority=2, action="SET_STATE", action_value="WAITS",
            match_pattern="$[?(@.inputParams.rule_task_error.errorType == 'ALREADY_CLAIMED')]",
        )  # fmt: skip
        for state, text in (("ANY", DONE), ("WAITS", WAITS)):
            CeResponse.objects.create(intent_code="REFUND", state_code=state, response_type="EXACT", exact_text=text)
    configure("Session/LEASE_SECONDS", 5)
    return doomed(CE_EXTENSIONS="tests.live.doom,tests.live.refund", CE_TEST_EFFECTS=str(effects))


@pytest.mark.long
@pytest.mark.parametrize(
    "call", [in_conversation, *(pytest.param(call, marks=pytest.mark.nightly) for call in (without_id, in_thread))]
)
def test_a_task_of_a_rule_runs_once_for_a_call_that_is_sent_again(
    server: Server, effects: Path, tmp_path: Path, call: Callable[[], tuple[str, dict[str, Any]]]
) -> None:
    secret = make_key()
    for number, place in enumerate(PLACES):
        path, body = call()
        key = str(uuid.uuid4())
        before = len(effects.read_text().splitlines())

        killed = post(
            server.port, secret, body, path=path, **{"Idempotency-Key": key, "X-Doom": f"{number} kill {place}"}
        )
        assert killed is None
        assert (tmp_path / str(number)).exists(), place
        answer = post(server.port, secret, body, path=path, **{"Idempotency-Key": key})
        repeated = post(server.port, secret, body, path=path, **{"Idempotency-Key": key})

        assert answer is not None
        assert repeated is not None
        assert (answer.status, repeated.headers["X-Idempotent-Replay"]) == (200, "true"), answer.body
        check_answer(answer.body.get("turn", answer.body), place)
        assert len(effects.read_text().splitlines()) - before == (place != "claimed")
    runs = Counter(effects.read_text().splitlines())
    assert set(runs.values()) == {1}
    assert len(runs) == len(PLACES) - 1


def check_answer(turn: Mapping[str, Any], place: str) -> None:
    """It says what is known, and the record names the claim."""
    row = CePendingActionExecution.objects.get(conversation_id=turn["conversationId"])
    events = CeAudit.objects.filter(conversation_id=turn["conversationId"], turn_no=turn["turnNo"])
    if place in IN_DOUBT:
        assert (turn["payload"]["value"], row.status, row.finished_at) == (WAITS, "CLAIMED", None)
        assert events.get(stage__startswith="RULE_ERROR").payload_json["errorType"] == "ALREADY_CLAIMED"
        return
    assert (turn["payload"]["value"], turn["context"]["refund"], row.status) == (DONE, "paid", "EXECUTED")
    payload = events.get(stage__startswith="SET_TASK").payload_json
    assert (payload["executionId"], payload["reused"]) == (row.pk, True)
