"""A message, event or alert that ends the process that works on it: three processes end, and nobody else waits."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from convengine.server.database.sql import database_time
from convengine.server.jobs.outbox import MOST_DEATHS, OutboxStatus
from convengine.server.webhooks.models import CeWebhook
from tests.convengine.server.jobs.outbox_users import USERS, User
from tests.fakes.http_server import Reply, serving
from tests.fakes.smtp_server import serve_mail
from tests.live.channel_users import ENVIRONMENT, open_shop
from tests.live.configuration import configure
from tests.live.processes import Server
from tests.worlds import create_help_desk

pytestmark = pytest.mark.long
#: All have the same outbox: one whose work is a turn is enough for each change.
EACH_TIME = ("queued messages",)
OTHERS = 16


@pytest.mark.parametrize(
    "user",
    [pytest.param(user, id=user.name, marks=[pytest.mark.nightly] * (user.name not in EACH_TIME)) for user in USERS],
)
def test_a_deadly_row_ends_three_processes_and_all_others_are_sent(
    user: User, servers: Callable[..., list[Server]], tmp_path: Path
) -> None:
    create_help_desk()
    configure("Session/LEASE_SECONDS", 5)
    with serving(Reply()) as receiver, serve_mail() as mailbox, open_shop():
        running = servers(
            2,
            **ENVIRONMENT,
            CE_EXTENSIONS="tests.live.deadly",
            CE_TEST_STRUCK=str(tmp_path),
            CE_JOBS_IN_PROCESS="true",
            CE_JOB_TICK_SECONDS="1",
            CE_JOB_LEASE_SECONDS="5",
            CE_WEBHOOK_PRIVATE_HOSTS="127.0.0.1",
            CE_NOTIFICATION_FROM="desk@example.com",
            CE_EMAIL_HOST="127.0.0.1",
            CE_EMAIL_PORT=str(mailbox.port),
        )
        now = database_time()
        deadly = user.create("deadly", "1", now)
        CeWebhook.objects.update(url=receiver.address)
        rows = [user.create("hours", str(number), now) for number in range(1, OTHERS + 1)]
        until = time.monotonic() + 300
        while waiting := type(deadly)._default_manager.filter(status=OutboxStatus.PENDING).count():
            assert time.monotonic() < until, (waiting, *(server.text()[-3_000:] for server in running))
            time.sleep(0.2)

    deadly.refresh_from_db()
    assert (deadly.status, deadly.attempts, deadly.deaths) == (OutboxStatus.FAILED, MOST_DEATHS, MOST_DEATHS)
    assert len(list(tmp_path.iterdir())) == MOST_DEATHS
    others = type(deadly)._default_manager.filter(pk__in=[row.pk for row in rows])
    assert list(others.values_list("status", "error")) == [(OutboxStatus.SENT.value, "")] * OTHERS
