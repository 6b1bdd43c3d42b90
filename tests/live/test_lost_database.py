"""The database goes away under turns: they fail whole, and leave nobody waiting."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings
from django.db import connection

from convengine.server.sessions.models import CeConversation
from tests.api import make_key
from tests.live import ledger
from tests.live.client import Talk
from tests.live.processes import Server
from tests.worlds import create_help_desk

ON_POSTGRES = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")


@pytest.mark.long
def test_a_turn_that_the_database_refuses_is_a_failed_turn_and_the_next_one_runs_at_once(
    doomed: Callable[..., Server],
) -> None:
    create_help_desk()
    server, secret = doomed(), make_key()

    for number, place in enumerate(["commit 0"] if ON_POSTGRES else ["commit 0", "commit 2", "commit"]):
        one = Talk(secret)
        one.say(server.port, "hours")
        lost = one.say(server.port, "fees", doom=f"{number} refuse {place}", key=one.conversation_id)
        again = one.say(server.port, "fees", key=one.conversation_id)

        assert lost
        assert again
        assert (lost.status, lost.body["errorCode"]) == (503, "CONVERSATION_PERSIST_FAILED")
        assert (again.status, again.body["turnNo"]) == (200, 3)
        # Not LEASE_EXPIRED: the turn itself left its record, and gave the lease back.
        row = CeConversation.objects.get(pk=one.conversation_id)
        record = row.turns.get(turn_no=2)
        assert (record.status, record.error_code) == ("FAILED", lost.body["errorCode"])
        assert record.assistant_output is None
        assert (row.version, row.turn_count, row.lease_token) == (2, 2, None)


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has no connections that end")
def test_a_turn_whose_connection_ends_commits_once_on_a_new_one(doomed: Callable[..., Server]) -> None:
    create_help_desk()
    server, secret = doomed(), make_key()
    talks = []

    # `committed`: the commit is stored, and nobody has heard of it.
    for number, place in enumerate(["lease", "before RulesStep", "commit 0", "committed"]):
        talks.append(Talk(secret))
        talks[-1].say(server.port, "hours")
        reply = talks[-1].say(server.port, "fees", doom=f"{number} cut {place}", key=talks[-1].conversation_id)
        assert reply
        assert (place, reply.status, reply.body.get("turnNo")) == (place, 200, 2)

    assert ledger.check(talks) == {"OK": 8}


@pytest.mark.long
@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has no connections that a restart would end")
def test_after_a_restart_of_the_database_no_call_meets_a_dead_connection(servers: Callable[..., list[Server]]) -> None:
    create_help_desk()
    (server,), talks = servers(1, threads=6), [Talk(make_key()) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda talk: talk.say(server.port, "hours"), talks))

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    replies = [talk.say(server.port, "fees") for talk in talks]

    assert [reply and reply.status for reply in replies] == [200] * 6
    assert ledger.check(talks) == {"OK": 12}
