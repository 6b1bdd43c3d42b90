"""PostgreSQL leaders and servers are killed under load: nothing acknowledged is lost, and nothing is done twice."""

import itertools
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from django.core.management import call_command

from convengine.server.sessions.models import (
    CeConversation,
    CeConversationHistory,
    CeIdempotency,
    CePendingActionExecution,
)
from convengine.server.webhooks.models import CeWebhookDelivery
from tests.cluster.__main__ import receivers
from tests.cluster.customers import Acknowledged, Crowd
from tests.cluster.machine import Cluster, wait_until
from tests.cluster.world import DONE, NO_ADVICE

pytestmark = pytest.mark.cluster

CUSTOMERS = int(os.environ.get("CE_TEST_CUSTOMERS", "32"))
FAIL_OVERS = int(os.environ.get("CE_TEST_FAIL_OVERS", "3"))
KILLS = int(os.environ.get("CE_TEST_KILLS", "20"))
#: Nothing is killed after this time, for a long run on a slow machine.
MINUTES = float(os.environ.get("CE_TEST_MINUTES", "60"))
#: Errors with which a turn may have failed: its server or its database died.
EXPECTED_ERRORS = {"LEASE_EXPIRED", "CONVERSATION_PERSIST_FAILED"}


class Killing:
    """Kills servers one after the other, as long as another one answers."""

    def __init__(self, cluster: Cluster, kills: int) -> None:
        self._cluster, self.left, self.count = cluster, kills, 0
        self._numbers = itertools.cycle(range(1, cluster.count + 1))
        #: The killed servers that do not answer yet, and when each is looked at again.
        self._down: dict[int, float] = {}
        self._next = time.monotonic()

    def go_on(self) -> None:
        """The next step, if it is time. Called again and again, from one thread; it does not wait."""
        now = time.monotonic()
        for number in [number for number, at in self._down.items() if at < now]:
            self._down[number] = now + 1
            # Also one that ended at its start because the database was out, as a supervisor would.
            if not self._cluster.web[number - 1].is_running:
                self._cluster.web[number - 1].start()
            elif self._cluster.answers(number):
                del self._down[number]
        if self.left and now > self._next and len(self._down) < self._cluster.count - 1:
            self._kill(next(number for number in self._numbers if number not in self._down))

    def _kill(self, number: int) -> None:
        self.left -= 1
        self.count += 1
        self._cluster.web[number - 1].kill()
        self._down[number] = time.monotonic() + 0.5
        self._next = time.monotonic() + random.uniform(0.5, 2)

    @property
    def is_over(self) -> bool:
        return not self.left and not self._down


def fail_over(cluster: Cluster, meanwhile: Callable[[], None]) -> float:
    """Kill the leader; returns the seconds until another node leads. The dead one comes back as a replica."""
    dead = cluster.leader()
    assert dead
    dead.kill()
    seconds = wait_until("Another leader", lambda: cluster.leader() not in (None, dead), meanwhile=meanwhile)
    dead.patroni.start()
    cluster.wait_until_healthy(meanwhile)
    return seconds


def test_no_acknowledged_turn_is_lost_and_nothing_is_done_twice(cluster: Cluster, secret: str, effects: Path) -> None:
    crowd, killing = Crowd(cluster.port("front"), secret, CUSTOMERS), Killing(cluster, KILLS)
    crowd.start()
    time.sleep(5)
    gaps: list[float] = []
    over = time.monotonic() + MINUTES * 60
    for number in range(FAIL_OVERS):
        if time.monotonic() > over:
            break
        gaps.append(fail_over(cluster, killing.go_on))
        print(f"fail-over {number + 1}: {gaps[-1]:.1f} s; {killing.left} kills left", flush=True)
        until = time.monotonic() + 5
        while time.monotonic() < until:
            killing.go_on()
            time.sleep(0.1)
    while not killing.is_over:
        killing.left *= time.monotonic() < over
        killing.go_on()
        time.sleep(0.1)
    time.sleep(5)
    crowd.end()

    turns = crowd.acknowledged
    report(turns, crowd.refusals, gaps, killing.count)
    assert crowd.faults == []
    wait_until_settled()
    check_turns(turns)
    check_numbers()
    check_effects(turns, effects)
    check_events(turns)
    call_command("audit_verify", workers=1)


def report(turns: Sequence[Acknowledged], refusals: Counter[str], gaps: Sequence[float], kills: int) -> None:
    """Print what happened."""
    pauses = [later.at - earlier.at for earlier, later in itertools.pairwise(turns)]
    print(f"\n{len(gaps)} fail-overs, {kills} kills of servers, {CUSTOMERS} conversations at a time")
    print(f"{len(turns)} turns acknowledged; attempts without acknowledgement: {dict(refusals)}")
    print(f"new leader after {', '.join(f'{seconds:.1f}' for seconds in gaps) or '-'} s")
    print(f"longest wait for an answer {max(turn.seconds for turn in turns):.1f} s, longest pause {max(pauses):.1f} s")


def wait_until_settled() -> None:
    """Leases of turns that died run out, and the next reader records them."""
    from convengine.server.turns.dead_turns import recover_expired_lease

    def is_settled() -> bool:
        held = list(CeConversation.objects.exclude(lease_token=None).values_list("pk", flat=True))
        for key in held:
            recover_expired_lease(str(key))
        return not held

    wait_until("All leases are free", is_settled, 60)


def check_turns(turns: Sequence[Acknowledged]) -> None:
    """What was answered is what is stored."""
    rows = {str(row.turn_id): row for row in CeConversationHistory.objects.filter(status="OK")}
    lost = [turn for turn in turns if turn.answer["turnId"] not in rows]
    assert lost == []
    for turn in turns:
        row = rows[turn.answer["turnId"]]
        assert (str(row.conversation_id), row.turn_no) == (turn.conversation_id, turn.answer["turnNo"])
        assert (row.user_input, row.assistant_output) == (turn.message, turn.answer["payload"])
    answered = Counter(CeIdempotency.objects.values_list("turn_id", flat=True))
    assert max(answered.values()) == 1
    assert len(rows) >= len(turns)


def check_numbers() -> None:
    """Each conversation has one record for each number, and counts the committed ones."""
    records: dict[str, list[CeConversationHistory]] = {}
    for record in CeConversationHistory.objects.order_by("turn_no"):
        records.setdefault(str(record.conversation_id), []).append(record)
    for row in CeConversation.objects.all():
        own = records.get(str(row.pk), [])
        assert [record.turn_no for record in own] == list(range(1, row.last_turn_no + 1))
        committed = [record for record in own if record.status == "OK"]
        assert row.version == row.turn_count == len(committed)
        assert {record.error_code for record in own if record.status != "OK"} <= EXPECTED_ERRORS


def check_events(turns: Sequence[Acknowledged]) -> None:
    """Each action that was reported has its event, and all came to the receiver that answers."""
    good, slow = receivers
    rows = CeWebhookDelivery.objects.filter(webhook__url=good.address)
    print(f"events by status and attempts: {dict(Counter(rows.values_list('status', 'attempts')))}")
    wait_until("All events are sent", lambda: not rows.filter(status="PENDING").exists(), 60)
    arrived = {asked.headers["webhook-id"] for asked in good.asked}
    assert arrived == {str(row.event_id) for row in rows}
    told = {json.loads(row.body)["data"]["turnId"] for row in rows}
    assert {turn.answer["turnId"] for turn in turns if (turn.message, turn.text) == ("yes", DONE)} <= told
    advised = sum(turn.text == NO_ADVICE for turn in turns)
    print(
        f"{len(arrived)} events arrived, the slow receiver was asked {slow.asked} times; {advised} turns had no model"
    )
    assert slow.asked
    assert advised


def check_effects(turns: Sequence[Acknowledged], effects: Path) -> None:
    """Each order was paid once at most, and each that was said to be paid, was."""
    lines = [line.split() for line in effects.read_text().splitlines()]
    by_order, by_key = Counter(order for order, _ in lines), Counter(key for _, key in lines)
    assert max(by_order.values()) == 1, [order for order, count in by_order.items() if count > 1]
    assert max(by_key.values()) == 1
    paid = {turn.order for turn in turns if (turn.message, turn.text) == ("yes", DONE)}
    assert paid <= by_order.keys()
    executions = Counter(CePendingActionExecution.objects.values_list("status", flat=True))
    print(f"{len(lines)} payments, {len(paid)} reported to customers; runs by status: {dict(executions)}")
    # Whatever was paid and not reported is left to a person, or its customer was not answered yet.
    assert len(lines) - len(paid) <= executions["CLAIMED"] + CUSTOMERS
