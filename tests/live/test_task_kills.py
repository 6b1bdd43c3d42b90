"""The server is killed around a task: the task never runs twice, and the answer names an unknown result."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import CeAudit
from config_admin.models import CeIntent, CePendingAction, CeResponse, CeRule
from config_admin.releases.change_set import change_set
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CePendingActionExecution
from tests.api import make_key
from tests.live import ledger
from tests.live.client import Talk
from tests.live.configuration import configure
from tests.live.processes import Server

#: Right after the claim; right after the run, whose end is not yet noted, or is.
PLACES = ["claimed", "claimed", "ran", "noted"]
CLIENTS = 3
#: A message dies of its neighbours' kills as well, and is then said again elsewhere; more of that is no chance.
PATIENCE = 6
LEFT_OPEN, DONE = "We are looking into your refund.", "Refunded."
OUTCOMES = ("PENDING_ACTION_EXECUTED", "PENDING_ACTION_FAILED", "PENDING_ACTION_SKIPPED", "PENDING_ACTION_REJECTED")


def refunds() -> None:
    """ORDER/CONFIRM waits for a yes that pays; ORDER/DONE is where it was paid."""
    with change_set(reason="refunds"):
        CeResponse.objects.all().delete()
        CeIntent.objects.create(intent_code="ORDER", description="orders")
        CePendingAction.objects.create(
            intent_code="ORDER", state_code="CONFIRM", action_key="REFUND", bean_name="refund", method_names="refund"
        )
        CeRule.objects.create(
            phase="PRE_RESPONSE_RESOLUTION", intent_code="ORDER", state_code="CONFIRM", rule_type="JSON_PATH",
            match_pattern="$[?(@.inputParams.pending_action_result == 'EXECUTED')]",
            action="SET_STATE", action_value="DONE",
        )  # fmt: skip
        begun = "context.pending_action_runtime.status == 'IN_PROGRESS'"
        confirm = f"{{% if {begun} %}}{LEFT_OPEN}{{% else %}}Shall I pay it back?{{% endif %}}"
        for state, text in (("CONFIRM", confirm), ("DONE", DONE)):
            CeResponse.objects.create(intent_code="ORDER", state_code=state, response_type="EXACT", exact_text=text)


def waiting_for_a_yes(count: int) -> list[Talk]:
    secret = make_key()
    talks = [Talk(secret) for _ in range(count)]
    CeConversation.objects.bulk_create(
        CeConversation(
            conversation_id=talk.conversation_id,
            remote_jid=talk.conversation_id,
            intent_code="ORDER",
            state_code="CONFIRM",
        )
        for talk in talks
    )
    return talks


class Killing:
    """Clients that say yes side by side, each yes with a place where it kills the server."""

    def __init__(self, server: Server, struck: Path, places: list[str]) -> None:
        self.server, self.struck = server, struck
        self.places: Queue[str] = Queue()
        for place in places:
            self.places.put(place)
        self.fresh = list(enumerate(waiting_for_a_yes(PATIENCE * len(places))))
        #: Every talk that began, by conversation.
        self.talks: dict[str, Talk] = {}
        #: Where each was killed that did not die of a neighbour.
        self.killed: dict[str, str] = {}

    def run(self) -> None:
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(lambda _: self._client(), range(CLIENTS)))

    def _client(self) -> None:
        for place in self._next_places():
            assert self.fresh, f"The server does not come back: {self.server.text()}"
            number, talk = self.fresh.pop()
            reply = talk.say(self.server.port, "yes", doom=f"{number} kill {place}")
            assert reply is None, f"The turn never came to {place!r}: {reply}"
            self.talks[talk.conversation_id] = talk
            if (self.struck / str(number)).exists():
                self.killed[talk.conversation_id] = place
            else:
                self.places.put(place)

    def _next_places(self) -> Iterator[str]:
        while True:
            try:
                yield self.places.get_nowait()
            except Empty:
                return

    def say_yes(self, talks: Iterable[Talk]) -> None:
        with ThreadPoolExecutor(4 * CLIENTS) as pool:
            assert all(reply and reply.status == 200 for reply in pool.map(self._yes, talks))

    def _yes(self, talk: Talk) -> Any:
        return talk.say(self.server.port, "yes")


def read_action_outcome(talk: Talk) -> tuple[str, dict[str, Any]]:
    """What the trail of the last turn says became of the action."""
    turn_no = talk.acknowledged[-1].reply.body["turnNo"]
    event = CeAudit.objects.get(conversation_id=talk.conversation_id, turn_no=turn_no, stage__in=OUTCOMES)
    return event.stage.removeprefix("PENDING_ACTION_"), event.payload_json


def count_runs(effects: Path) -> Counter[str]:
    """How often the task ran for which conversation."""
    return Counter(line.partition(":")[0] for line in effects.read_text().splitlines())


def claims(**values: Any) -> dict[str, CePendingActionExecution]:
    """The claims by conversation: there is one for each."""
    found = CePendingActionExecution.objects.filter(**values)
    return {str(row.conversation_id): row for row in found}


def check_answer(talk: Talk, execution: CePendingActionExecution) -> None:
    """The answer and the trail of the last turn say what became of the action."""
    (check_left_open if execution.status == "CLAIMED" else check_done)(talk, execution)


def check_left_open(talk: Talk, execution: CePendingActionExecution) -> None:
    """Nobody knows how it ended: nothing runs, and that is told."""
    last, (stage, payload) = talk.acknowledged[-1].reply, read_action_outcome(talk)
    assert (stage, payload["reason"], execution.finished_at) == ("SKIPPED", "ALREADY_CLAIMED", None)
    assert "A person must check" in payload["reasonText"]
    assert (last.said, last.body["state"]) == (LEFT_OPEN, "CONFIRM")


def check_done(talk: Talk, execution: CePendingActionExecution) -> None:
    """It ran, in this very turn or in one that died."""
    last, (stage, payload) = talk.acknowledged[-1].reply, read_action_outcome(talk)
    assert (stage, payload["executionId"], execution.status) == ("EXECUTED", execution.pk, "EXECUTED")
    assert payload.get("reused", False) is (str(execution.turn_id) != last.body["turnId"])
    assert (last.said, last.body["state"], last.body["context"]["refund"]) == (DONE, "DONE", "paid")


def check_killed_turn(execution: CePendingActionExecution) -> None:
    """The turn that made the claim has a record, which says that it died."""
    first, second = CeConversationHistory.objects.filter(conversation=execution.conversation_id).order_by("turn_no")
    assert (first.turn_id, first.status, first.error_code) == (execution.turn_id, "FAILED", "LEASE_EXPIRED")
    assert second.status == "OK"


def list_claimed(client: Client) -> set[str]:
    """The conversations whose actions the admin lists for a person to decide, on all pages."""
    first = reverse("admin:ce_sessions_cependingactionexecution_changelist") + "?status__exact=CLAIMED"
    url, found = first, set()
    while url:
        changes = client.get(url).context["cl"]
        found |= {str(row.conversation_id) for row in changes.result_list}
        older = changes.paginator.older
        url = older and f"{first}&{older.removeprefix('?')}"
    return found


@pytest.fixture
def effects(tmp_path: Path) -> Path:
    """Where the task leaves a line each time it runs."""
    path = tmp_path / "effects"
    path.touch()
    return path


@pytest.fixture
def server(doomed: Callable[..., Server], effects: Path) -> Server:
    refunds()
    configure("Session/LEASE_SECONDS", 5)
    return doomed(CE_EXTENSIONS="tests.live.doom,tests.live.refund", CE_TEST_EFFECTS=str(effects))


@pytest.mark.long
@pytest.mark.parametrize("kills", [12, pytest.param(100, marks=pytest.mark.nightly)])
def test_a_task_whose_server_is_killed_runs_once_at_most_and_is_never_lost_in_silence(
    server: Server, effects: Path, tmp_path: Path, admin_client: Client, kills: int
) -> None:
    places = random.sample(PLACES * (kills // len(PLACES)), kills)
    killing = Killing(server, tmp_path, places)

    killing.run()
    before = count_runs(effects)
    killing.say_yes(killing.talks.values())

    assert Counter(killing.killed.values()) == Counter(places)
    after, executions = count_runs(effects), claims()
    assert max(after.values()) == 1
    # Whatever died of a neighbour may have died anywhere: it ran by now, or is left to a person.
    assert executions.keys() == killing.talks.keys()
    assert {name for name, row in executions.items() if row.status != "CLAIMED"} <= after.keys()
    for name, talk in killing.talks.items():
        check_answer(talk, executions[name])
    for name, place in killing.killed.items():
        assert executions[name].status == ("EXECUTED" if place == "noted" else "CLAIMED")
        assert before[name] == after[name] == (place != "claimed")
        check_killed_turn(executions[name])
    assert list_claimed(admin_client) == claims(status="CLAIMED").keys()

    # Beyond the limits of a proposal as well.
    insistent = [killing.talks[name] for name in list(claims(status="CLAIMED"))[:8]]
    for _ in range(5):
        killing.say_yes(insistent)
    for talk in insistent:
        check_left_open(talk, executions[talk.conversation_id])
    assert count_runs(effects) == after
    ledger.check(killing.talks.values())
