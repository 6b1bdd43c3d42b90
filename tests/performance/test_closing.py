"""Idle sessions are closed by the thousand while turns go on, and no turn waits for that.

`CE_IDLE_SESSIONS=100000` makes it a hundred thousand, which takes some minutes; what a batch holds is the same.
"""

import os
import random
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from audit.models import CeAudit
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation
from convengine.server.threads.find_session import Thread
from convengine.server.threads.take_message import take_message
from convengine.server.turns.take_turn import take_turn
from tests.live.processes import database_url, end_with_parent
from tests.worlds import create_help_desk

#: SQLite is for a desk, not for so many visitors.
SESSIONS = {"postgresql": int(os.environ.get("CE_IDLE_SESSIONS", "20000")), "sqlite": 2_000}
#: The part of the closer's time that one of its transactions may take; one over all sessions would take all of it.
LARGEST_PART = 1 / 4
#: One turn of so many is in one of the sessions that are being closed.
AMONG_THEM = 10
_COLUMNS = (
    "conversation_id, status, intent_code, state_code, context_json, input_params_json, created_at, updated_at, "
    "version, last_turn_no, turn_count, context_epoch, workspace_id, channel, remote_jid, lifecycle, lifecycle_detail, "
    "context_summary, preferences, last_message_at"
)
_MADE = {
    "postgresql": """SELECT gen_random_uuid(), 'RUNNING', 'HOURS', 'IDLE', '{}', '{}', now() - interval '3 hours',
        now() - interval '2 hours', 3, 3, 3, 0, 'default', 'whatsapp', n::text, 'RUNNING', '{}', '', '{}',
        now() - interval '2 hours' FROM generate_series(1, %s) n""",
    "sqlite": """WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %s)
        SELECT lower(hex(randomblob(16))), 'RUNNING', 'HOURS', 'IDLE', '{}', '{}', datetime('now', '-3 hours'),
        datetime('now', '-2 hours'), 3, 3, 3, 0, 'default', 'whatsapp', CAST(n AS text), 'RUNNING', '{}', '', '{}',
        datetime('now', '-2 hours') FROM s""",
}
#: The job in a process of its own, as a worker runs it; it writes down how long each transaction lasted, and worked.
_CLOSER = """
import time, django
django.setup()
from django.db import transaction
from convengine.server.jobs import running
from convengine.server.threads import idle_sessions

class Timed:
    def __enter__(self):
        self.inner = transaction.atomic()
        self.inner.__enter__()
        self.began, self.worked = time.perf_counter(), time.thread_time()
    def __exit__(self, *error):
        self.inner.__exit__(*error)
        print((time.perf_counter() - self.began) * 1000, (time.thread_time() - self.worked) * 1000)

class Transactions:
    atomic = Timed

idle_sessions.transaction = Transactions
running.run("close_sessions", by="test")
"""


class Waits:
    """How long each statement of the turns took, in milliseconds: none can wait for another's lock for longer."""

    def __init__(self) -> None:
        self.took: list[float] = []

    def __call__(self, execute: Any, *statement: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(*statement)
        finally:
            self.took.append((time.perf_counter() - began) * 1000)


def format_times(numbers: list[float]) -> str:
    """Median, 99 of 100, longest."""
    numbers.sort()
    middle, nearly_all = numbers[len(numbers) // 2], numbers[int(len(numbers) * 0.99)]
    return f"{len(numbers)}, median {middle:.1f} ms, 99% under {nearly_all:.1f} ms, longest {numbers[-1]:.1f} ms"


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_all_idle_sessions_end_while_turns_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_help_desk()
    sessions = SESSIONS[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO ce_conversation ({_COLUMNS}) {_MADE[connection.vendor]}", [sessions])
        cursor.execute("ANALYZE")
    key, held_in, waits, turns, messages = str(uuid.uuid4()), tmp_path / "held", Waits(), list[float](), 0
    for _ in range(5):
        take_turn(TurnRequest(key, "hours"))

    with held_in.open("w") as notes:
        closer = subprocess.Popen(
            [sys.executable, "-c", _CLOSER],
            env={**os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "convengine.settings"},
            stdout=notes,
            preexec_fn=end_with_parent,  # noqa: PLW1509
        )
        with connection.execute_wrapper(waits):
            while closer.poll() is None:
                began = time.perf_counter()
                if len(turns) % AMONG_THEM:
                    take_turn(TurnRequest(key, "hours"))
                else:
                    messages += 1
                    thread = Thread("default", "whatsapp", str(random.randint(1, sessions)))
                    take_message(thread, TurnRequest("", "hours", channel="whatsapp"))
                turns.append((time.perf_counter() - began) * 1000)

    numbers = [float(number) for number in held_in.read_text().split()]
    held, worked = numbers[::2], numbers[1::2]
    with capsys.disabled():
        print(f"\ntransactions of the closer: {format_times(held)}, of its own processor: {format_times(worked)}")
        print(f"turns, {messages} of them in sessions that it closes: {format_times(turns)}")
        print(f"statements of turns, which wait for it no longer than they take: {format_times(waits.took)}")
    assert closer.returncode == 0
    assert CeConversation.objects.filter(lifecycle="ABORTED").count() == sessions
    assert CeAudit.objects.filter(stage="SESSION_LIFECYCLE", turn_no=None).count() == sessions
    # All are measured by the closer's own time, as a machine that does other work makes all of them longer.
    assert worked[len(worked) // 2] < LARGEST_PART * sum(worked)
    assert held[len(held) // 2] < LARGEST_PART * sum(held)
    assert waits.took[int(len(waits.took) * 0.99)] < LARGEST_PART * sum(held)
