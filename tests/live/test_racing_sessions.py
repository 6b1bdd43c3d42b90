"""Messages that arrive at once, over real server processes on PostgreSQL."""

import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest
from django.conf import settings

from audit.models import CeAudit
from config_admin.models import CeResponse
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeThread, CeTurnTicket
from tests.api import make_key
from tests.fakes.openai_server import ModelServer, Says, model_server
from tests.live import ledger
from tests.live.client import MESSAGE, Exchange, Reply, Talk, post
from tests.live.configuration import configure
from tests.live.processes import Server
from tests.live.test_many_clients import at_once
from tests.live.written import written_desk
from tests.worlds import create_help_desk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not settings.DATABASES["default"]["ENGINE"].endswith("postgresql"),
        reason="several servers are for PostgreSQL; what one file takes is in test_many_clients",
    ),
]
Servers = Callable[..., list[Server]]
#: Two processes race as four do, which `make test-nightly` has.
PROCESSES = pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.nightly)])
FIRST_MESSAGES = 64
MESSAGES, CLIENTS = 200, 16
LEASE_SECONDS, MODEL_SECONDS = 5, 3.0
THREAD = {"workspace_id": "default", "channel": "whatsapp", "remote_jid": "+1555"}


@pytest.mark.long
@PROCESSES
def test_64_first_messages_of_one_thread_at_once_make_one_session(servers: Servers, count: int) -> None:
    create_help_desk()
    configure("Session/LEASE_WAIT_SECONDS", 60)
    several, secret = servers(count, threads=64 // count), make_key()

    def arrive(number: int) -> Reply | None:
        body = {**THREAD, "user_message": f"hours {number}"}
        return post(several[number % count].port, secret, body, path=MESSAGE)

    replies = at_once(FIRST_MESSAGES, arrive)

    assert {reply.status for reply in replies} == {200}
    assert len({reply.body["session_id"] for reply in replies}) == 1
    reasons = Counter((reply.body["decision"], reply.body["reason"]) for reply in replies)
    assert reasons == {("new", "first_message"): 1, ("continue", "within_timeout"): FIRST_MESSAGES - 1}
    row = CeConversation.objects.get()
    assert (CeThread.objects.count(), row.last_turn_no) == (1, FIRST_MESSAGES)
    heard = [
        Exchange(turn.user_input, Reply(200, reply.body["turn"], reply.headers))
        for reply in replies
        for turn in row.turns.filter(turn_id=reply.body["turn"]["turnId"])
    ]
    assert {exchange.message for exchange in heard} == {f"hours {number}" for number in range(FIRST_MESSAGES)}
    assert ledger.check([Talk(secret, str(row.pk), heard)]) == {"OK": FIRST_MESSAGES}


@pytest.mark.long
@PROCESSES
def test_200_messages_of_16_clients_are_answered_in_the_order_of_their_tickets(
    servers: Servers, tmp_path: Path, count: int
) -> None:
    create_help_desk()
    configure("Session/LEASE_WAIT_SECONDS", 60)
    notes = tmp_path / "notes"
    told = {"CE_EXTENSIONS": "tests.live.queueing", "CE_TEST_NOTES": str(notes)}
    several, talk = servers(count, threads=32 // count, **told), Talk(make_key())
    waiting: Queue[int] = Queue()
    for number in range(MESSAGES):
        waiting.put(number)

    def speak(client: int) -> list[Reply | None]:
        replies = []
        while True:
            try:
                number = waiting.get_nowait()
            except Empty:
                return replies
            replies.append(talk.say(several[(client + number) % count].port, f"hours {number}"))

    with ThreadPoolExecutor(CLIENTS) as pool:
        replies = [reply for one in pool.map(speak, range(CLIENTS)) for reply in one]

    assert [reply.status if reply else None for reply in replies] == [200] * MESSAGES
    assert sorted(reply.body["turnNo"] for reply in replies if reply) == list(range(1, MESSAGES + 1))
    row = CeConversation.objects.get()
    said = row.turns.order_by("turn_no").values_list("turn_no", "user_input")
    assert [number for number, _ in said] == list(range(1, MESSAGES + 1))
    assert {text for _, text in said} == {f"hours {number}" for number in range(MESSAGES)}
    drawn = sorted(tuple(map(int, line.split())) for line in notes.read_text().splitlines())
    assert [number for number, _ in drawn] == list(range(1, MESSAGES + 1))
    tickets = [ticket for _, ticket in drawn if ticket]
    # Nearly every message met another one's turn, or this would say nothing.
    assert len(tickets) > MESSAGES / 2
    assert tickets == sorted(tickets)
    assert not CeTurnTicket.objects.exists()
    assert ledger.check([talk]) == {"OK": MESSAGES}


@pytest.fixture
def model_desk(servers: Servers) -> Any:
    """Two servers at whose desk a model writes the answer to "fees", for as long as a test says."""
    written_desk()
    configure("Session/LEASE_SECONDS", LEASE_SECONDS)
    CeResponse.objects.filter(intent_code="HOURS").update(
        response_type="EXACT", output_format="TEXT", exact_text="Nine to five.", json_schema=None
    )

    def open_servers(model: ModelServer) -> list[Server]:
        return servers(2, CE_LLM_BASE_URL=model.url, CE_LLM_MODEL="slow")

    return open_servers


def until(model: ModelServer, waiting: int) -> None:
    """Return when so many calls of the model are being answered."""
    deadline = time.monotonic() + 30
    while model.waiting != waiting:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.long
def test_a_message_during_a_model_call_interrupts_its_turn_which_commits_nothing(model_desk: Any) -> None:
    configure("Session/ON_CONCURRENT_TURN", "interrupt")
    with model_server(Says("No fees.", seconds=MODEL_SECONDS)) as model, ThreadPoolExecutor(2) as pool:
        (one, other), talk = model_desk(model), Talk(make_key())
        talk.say(one.port, "hours", params={"tier": "gold"})
        before = CeConversation.objects.values().get()

        running = pool.submit(talk.say, one.port, "fees", params={"tier": "lead"})
        until(model, 1)
        second = pool.submit(talk.say, other.port, "hours")
        until(model, 0)
        over = time.monotonic()
        interrupted = running.result()
        told_after = time.monotonic() - over
        answered = second.result()

    assert interrupted
    assert (interrupted.status, interrupted.body["errorCode"]) == (409, "TURN_INTERRUPTED")
    assert told_after < LEASE_SECONDS - 1
    assert answered
    assert (answered.status, answered.said, answered.body["turnNo"]) == (200, "Nine to five.", 3)
    stopped, ran = CeConversationHistory.objects.filter(turn_no__in=(2, 3)).order_by("turn_no")
    assert (stopped.status, stopped.error_code, stopped.user_input) == ("INTERRUPTED", "TURN_INTERRUPTED", "fees")
    assert stopped.assistant_output is None
    assert (ran.status, ran.facts["interrupted_user_message"]) == ("OK", "fees")
    row = CeConversation.objects.get()
    # What the interrupted turn was sent and found out is nowhere.
    assert (row.input_params_json["tier"], row.intent_code, row.turn_count) == ("gold", "HOURS", 2)
    assert (row.version, row.lease_token, row.lease_interrupted_by) == (before["version"] + 1, None, None)
    moves = CeAudit.objects.filter(stage="SESSION_LIFECYCLE").order_by("turn_no", "seq").values_list("payload_json")
    assert [(move["from"], move["to"], move["turn_no"]) for (move,) in moves] == [
        ("RUNNING", "INTERRUPTED", 2),
        ("INTERRUPTED", "RUNNING", 3),
    ]


@pytest.mark.long
def test_a_killed_worker_frees_its_conversation_within_the_lease_time(model_desk: Any) -> None:
    with model_server(Says("No fees.", seconds=60)) as model, ThreadPoolExecutor(1) as pool:
        (one, other), talk = model_desk(model), Talk(make_key(), str(uuid.uuid4()))
        talk.say(one.port, "hours")
        # Its first turn loads what later ones have.
        Talk(talk.secret).say(other.port, "hours")

        lost = pool.submit(talk.say, one.port, "fees")
        until(model, 1)
        one.kill()
        killed = time.monotonic()
        reply = talk.say(other.port, "hours")
        took = time.monotonic() - killed

        assert lost.result() is None
    assert reply
    assert (reply.status, reply.body["turnNo"]) == (200, 3)
    assert took < LEASE_SECONDS + 1
    record = CeConversationHistory.objects.get(turn_no=2)
    assert (record.status, record.error_code, record.user_input) == ("FAILED", "LEASE_EXPIRED", "fees")
    event = CeAudit.objects.get(turn_no=2, stage="ENGINE_UNKNOWN_FAILURE")
    assert event.payload_json["reason"] == "LEASE_EXPIRED"
    assert ledger.check([talk]) == {"OK": 2, "LEASE_EXPIRED": 1}
