"""A hundred thousand idle sessions are closed while turns go on, and no turn waits for that (sessions 9)."""

import os
import subprocess
import sys
import time
import uuid
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from audit.models import CeAudit
from convengine.domain.turn import TurnRequest
from convengine.sessions.models import CeConversation
from convengine.sessions.turns import take_turn
from tests.live.processes import database_url, end_with_parent
from tests.worlds import desk

SESSIONS = 100_000
#: Milliseconds that a turn may wait for the closer: no longer than one of its transactions.
LIMIT = 50
_COLUMNS = (
    "conversation_id, status, intent_code, state_code, context_json, input_params_json, created_at, updated_at, "
    "version, last_turn_no, turn_count, context_epoch, workspace_id, channel, remote_jid, lifecycle, lifecycle_detail, "
    "context_summary, preferences, last_message_at"
)
_VALUES = """gen_random_uuid(), 'RUNNING', 'HOURS', 'IDLE', '{}', '{}', now() - interval '3 hours',
    now() - interval '2 hours', 3, 3, 3, 0, 'default', 'whatsapp', n::text, 'RUNNING', '{}', '', '{}',
    now() - interval '2 hours'"""
#: The job in a process of its own, as a worker runs it; it writes down how long each transaction lasted.
_CLOSER = """
import sys, time, django
django.setup()
from django.db import transaction
from convengine.jobs import running
from convengine.sessions import closing

class Timed:
    def __enter__(self):
        self.inner = transaction.atomic()
        self.inner.__enter__()
        self.began = time.perf_counter()
    def __exit__(self, *error):
        self.inner.__exit__(*error)
        print((time.perf_counter() - self.began) * 1000, file=sys.stdout)

class Transactions:
    atomic = Timed

closing.transaction = Transactions
running.run("close_sessions", by="test")
"""


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="a hundred thousand sessions are no matter for SQLite")
def test_a_hundred_thousand_idle_sessions_end_while_turns_go_on(tmp_path: Path, record_property: Any) -> None:
    desk()
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO ce_conversation ({_COLUMNS}) SELECT {_VALUES} FROM generate_series(1, {SESSIONS}) n"
        )
        cursor.execute("ANALYZE ce_conversation")
    key, held_in = str(uuid.uuid4()), tmp_path / "held"
    for _ in range(5):
        take_turn(TurnRequest(key, "hours"))

    with held_in.open("w") as told:
        closer = subprocess.Popen(
            [sys.executable, "-c", _CLOSER],
            env={**os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "convengine.settings"},
            stdout=told,
            preexec_fn=end_with_parent,  # noqa: PLW1509
        )
        moments = [time.perf_counter()]
        while closer.poll() is None:
            assert take_turn(TurnRequest(key, "hours"))
            moments.append(time.perf_counter())

    held = sorted(float(line) for line in held_in.read_text().split())
    turns = sorted(after - before for before, after in pairwise(moments))
    record_property("longest transaction of the closer, ms", held[-1])
    print(
        f"{len(held)} transactions of the closer: median {held[len(held) // 2]:.1f} ms, longest {held[-1]:.1f} ms; "
        f"{len(turns)} turns: median {turns[len(turns) // 2] * 1000:.1f} ms, longest {turns[-1] * 1000:.1f} ms"
    )
    assert closer.returncode == 0
    assert CeConversation.objects.filter(lifecycle="ABORTED").count() == SESSIONS
    assert CeAudit.objects.filter(stage="SESSION_LIFECYCLE", turn_no=None).count() == SESSIONS
    # A machine that does something else for a moment is not what this is about.
    assert held[int(len(held) * 0.99)] < LIMIT
