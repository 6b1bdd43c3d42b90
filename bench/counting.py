"""`python -m bench.counting`: what counting turns for the reports costs.

Counts turns that the database makes out of a few real ones: of a busy week, then of a sparse year, in which nearly
every count has a key of its own.
"""

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from bench import postgres
from bench.postgres import Postgres
from bench.reading.__main__ import with_django

#: Documents of turns differ in the times of their steps.
DOCUMENTS = 200
_TICKS = os.sysconf("SC_CLK_TCK")
#: The seconds in which a million turns have to be counted on that many cores: the database uses one of its own.
LIMIT, CORES = 120, 2


class Traffic(NamedTuple):
    """How turns spread."""

    name: str
    days: int
    turns_of_conversation: int
    intents: int
    states: int
    releases: int


DENSE = Traffic("a busy week", 7, 8, 40, 60, 3)
SPARSE = Traffic("a sparse year", 365, 2, 40, 60, 20)
_CONVERSATIONS = """
INSERT INTO ce_conversation ({columns}, conversation_id, channel, remote_jid)
SELECT {columns}, md5('{name} ' || i)::uuid, CASE WHEN i %% 3 = 0 THEN 'web' ELSE 'api' END, 'visitor {name} ' || i
  FROM generate_series(0, %(turns)s / {turns_of_conversation}) AS i,
       (SELECT * FROM ce_conversation ORDER BY created_at LIMIT 1) AS c"""
_TURNS = """
INSERT INTO ce_conversation_history ({columns}, conversation_id, turn_id, turn_no, created_at, modified_at,
       config_version, intent_code, state_code, intent_before, state_before, duration_ms, model_calls, cost, events)
SELECT {columns_of_t}, md5('{name} ' || i / {turns_of_conversation})::uuid, md5('{name} turn ' || i)::uuid,
       1 + i %% {turns_of_conversation}, at, at, 1 + i * {releases} / (%(turns)s + 1),
       'TOPIC_' || i * 7919 %% {intents}, 'STATE_' || i * 104729 %% {states},
       CASE WHEN i %% {turns_of_conversation} > 0 THEN 'TOPIC_' || (i - 1) * 7919 %% {intents} END,
       CASE WHEN i %% {turns_of_conversation} > 0 THEN 'STATE_' || (i - 1) * 104729 %% {states} END,
       10 + i * 31 %% 900, d.calls, CASE WHEN d.calls > 0 THEN 0.0004 END, d.events
  FROM (SELECT i, now() - interval '1 day' - (%(turns)s - i) * (interval '{days} days' / %(turns)s) AS at
          FROM generate_series(0::bigint, %(turns)s - 1) AS i) AS p
  JOIN bench_document d ON d.number = i %% {documents}
  JOIN ce_conversation_history t ON t.history_id = d.template ORDER BY i"""
_ENTRIES = """
INSERT INTO ce_turn_index (turn_id, at, kind, value, role)
SELECT h.turn_id, h.created_at, e.kind,
       CASE WHEN e.kind = 'STAGE' THEN e.value ELSE (1 + (h.history_id * 31 + e.id) %% 300)::text END, e.role
  FROM ce_conversation_history h JOIN bench_document d ON d.number = (h.history_id - %(first)s - 1) %% {documents}
  JOIN ce_conversation_history t ON t.history_id = d.template JOIN ce_turn_index e ON e.turn_id = t.turn_id
 WHERE h.history_id > %(first)s ORDER BY h.history_id"""


def main() -> int:
    """Returns 0 when turns are counted, and reports read, within their limits."""
    parser = argparse.ArgumentParser(prog="python -m bench.counting", description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000, help="turns to count, 100,000 unless said otherwise")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with postgres.start_postgres() as server, with_django(server):
        return _measure(server, options)


def _measure(server: Postgres, options: argparse.Namespace) -> int:
    from bench import tasks
    from bench.reading.templates import play_templates

    server.hurry(True)
    templates = play_templates(tasks.prepare())
    make_documents([*templates.answered, *templates.failed[:1]])
    holds = []
    for traffic in (DENSE, SPARSE):
        make_turns(traffic, options.turns)
        server.hurry(False)
        holds.append(measure_counting(server, traffic, options.turns))
        server.hurry(True)
    return 0 if all(holds) else 1


def make_documents(templates: list[int]) -> None:
    """The documents of real turns, with other times of their steps, and with a model call in each third."""
    from django.db import connection

    from bench.reading.generate import CALL
    from convengine.engine.pipeline.stages import PIPELINE_TIMING
    from convengine.server.sessions.models import CeConversationHistory

    choose = random.Random(1)
    texts = dict(CeConversationHistory._base_manager.filter(pk__in=templates).values_list("pk", "events"))
    rows = []
    for number in range(DOCUMENTS):
        template = templates[number % len(templates)]
        document = json.loads(texts[template] or "[]")
        timing = next(entry["payload"] for entry in document if entry["stage"] == PIPELINE_TIMING)
        for step in choose.sample(timing["stepList"], 3):
            step["durationMs"] = round(choose.expovariate(0.1), 2)
        if number % 3 == 0:
            document.append({"seq": 0, "stage": None, "calls": [{**CALL, "latency_ms": choose.randint(200, 3000)}]})
        rows.append((number, template, int(number % 3 == 0), json.dumps(document, separators=(",", ":"))))
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_document (number int, template bigint, calls int, events text)")
        cursor.executemany("INSERT INTO bench_document VALUES (%s, %s, %s, %s)", rows)


def make_turns(traffic: Traffic, turns: int) -> None:
    """As many turns as that, with their conversations and entries of the index."""
    from django.db import connection

    names = {**traffic._asdict(), "documents": DOCUMENTS}
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(history_id) FROM ce_conversation_history")
        values = {"turns": turns, "first": cursor.fetchone()[0]}
        columns = _list_columns(cursor, "ce_conversation", ("conversation_id", "channel", "remote_jid"))
        cursor.execute(_CONVERSATIONS.format(columns=columns, **names), values)
        given = _TURNS[_TURNS.index("{columns}, ") + 11 : _TURNS.index(")\nSELECT")].replace("\n", " ").split(",")
        columns = _list_columns(cursor, "ce_conversation_history", ("history_id", *map(str.strip, given)))
        of_t = ", ".join(f"t.{column}" for column in columns.split(", "))
        cursor.execute(_TURNS.format(columns=columns, columns_of_t=of_t, **names), values)
        cursor.execute(_ENTRIES.format(**names), values)
        cursor.execute("VACUUM ANALYZE")


def _list_columns(cursor: Any, table: str, without: tuple[str, ...]) -> str:
    cursor.execute("SELECT column_name FROM information_schema.columns WHERE table_name = %s ORDER BY 1", [table])
    return ", ".join(name for (name,) in cursor.fetchall() if name not in without)


def measure_counting(server: Postgres, traffic: Traffic, turns: int) -> bool:
    """Count them, then all turns again, and print what it took."""
    from django.db import connection

    from audit.reports.counting import count_new_turns
    from audit.reports.job import count_again

    took = measure(server, lambda: [None for _ in count_new_turns(timedelta())])
    again = measure(server, lambda: [None for _ in count_again()])
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FILTER (WHERE is_hour), count(*) FILTER (WHERE NOT is_hour) FROM ce_turn_count")
        hours, days = cursor.fetchone()
        cursor.execute("SELECT max(history_id) FROM ce_conversation_history")
        (all_turns,) = cursor.fetchone()
    million = (took.process + took.database) * 1e6 / turns
    print(
        f"{turns:,} turns of {traffic.name}: per 100,000 turns {took.process * 1e5 / turns:.1f} s of processor time "
        f"here and {took.database * 1e5 / turns:.1f} s of the database, {took.wall * 1e5 / turns:.1f} s; a million: "
        f"{million:.0f} s of processor time, {million / CORES:.0f} s on {CORES} free cores (limit {LIMIT}); "
        f"{hours:,} counts by hour, {days:,} by day",
        f"counted again: {again.database * 1e5 / all_turns:.1f} s of the database and "
        f"{again.wall * 1e5 / all_turns:.1f} s per 100,000 turns",
        sep="\n",
        flush=True,
    )
    return million / CORES <= LIMIT


class Cost(NamedTuple):
    """What something took, in seconds."""

    wall: float
    process: float
    database: float


def measure(server: Postgres, work: Callable[[], Any]) -> Cost:
    """Do something, and measure it."""
    started, process, database = time.perf_counter(), time.process_time(), _read_database_time(server)
    work()
    return Cost(time.perf_counter() - started, time.process_time() - process, _read_database_time(server) - database)


def _read_database_time(server: Postgres) -> float:
    """The seconds of processor time of all processes of the server, also of those that have ended."""
    ticks = 0
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split() if folder.name.isdigit() else []
        except OSError:
            continue
        if fields and int(fields[1]) == server.pid:
            ticks += int(fields[11]) + int(fields[12])
        if folder.name == str(server.pid):
            ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


if __name__ == "__main__":
    sys.exit(main())
