"""`python -m bench.reports`: how fast the reports are when ten million turns of a year are counted.

Writes counts as they would be, without turns, and reads each page over a day, a week and a year.
"""

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

from bench import postgres
from bench.counting import measure
from bench.postgres import Postgres
from bench.reading.__main__ import with_django

TURNS, DAYS, RELEASES, INTENTS = 10_000_000, 365, 20, 40
#: Milliseconds of processor time in which a page has to be there.
LIMIT = 500
ROUNDS = 3
PAGES = ("", "not-understood/", "forms/", "ratings/", "times/", "models/", "rows/")


class Kind(NamedTuple):
    """A kind of counts: how many values it has for an intent, and in all."""

    kind: str
    of_intent: int
    values: int
    #: Before the number of a value.
    prefix: str = ""
    by_hour: bool = False


#: Forty intents, sixty states, three hundred rules.
KINDS = (
    Kind("TURN", 3, 3, by_hour=True),
    Kind("BEGUN", 1, 1, by_hour=True),
    Kind("STAGE", 1, 1, by_hour=True),
    Kind("STATE", 3, 60, "STATE_", by_hour=True),
    Kind("ERROR", 1, 10, "ERROR_", by_hour=True),
    Kind("MODEL_CALLS", 1, 1, by_hour=True),
    Kind("NOT_UNDERSTOOD", 2, 60, "STATE_"),
    Kind("ENTERED", 3, 60, "STATE_"),
    Kind("EXITED", 3, 60, "STATE_"),
    Kind("MODEL", 2, 2, "main/model-"),
    Kind("MODEL_TURN", 2, 2, "main/model-"),
    Kind("ANSWER_DOWN", 2, 60, "ce_response:"),
    Kind("FORM_STARTED", 1, 10, by_hour=True),
    Kind("FORM_ASKED", 4, 40),
    Kind("FORM_GIVEN", 4, 40),
    Kind("ce_intent_classifier", 10, 300),
    Kind("ce_rule", 20, 300),
    Kind("ce_response", 5, 100),
)
#: Kinds whose values end with a range of durations, and before it.
TIMES = {"TIME": [""], "STEP": [f"Step{number}:" for number in range(8)], "MODEL_TIME": ["main/model-1:"]}
_INSERT = """INSERT INTO ce_turn_count
       (is_hour, hour, workspace_id, channel, config_version, intent_code, kind, value, turns, amount)
SELECT %(by_hour)s, time, 'default', 'api', 1 + number * %(releases)s / %(times)s, 'INTENT_' || intent, %(kind)s,
       {value}, %(turns)s, 10 * %(turns)s
  FROM (SELECT row_number() OVER (ORDER BY time) - 1 AS number, time FROM unnest(%(starts)s::timestamptz[]) AS time) s,
       generate_series(1, %(intents)s) AS intent, {values}"""
_PLAIN = "%(prefix)s || 1 + (intent * 7 + index) %% %(values)s"


def main() -> int:
    """Returns 0 when every page stays below the limit."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with postgres.start_postgres() as server, with_django(server):
        from bench import tasks, worlds

        server.hurry(True)
        tasks.prepare()
        worlds.load(300, 100)
        write_counts()
        return read_pages(server)


def write_counts() -> None:
    """The counts of a year by day, and those of its last days by hour."""
    from django.db import connection
    from django.utils import timezone

    from audit.record.days import choose_days, find_next_day, find_next_hour, list_starts

    zone = timezone.get_current_timezone()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE ce_turn_count DROP CONSTRAINT ce_turn_count_once")
        for days, by_hour in ((DAYS, False), (31, True)):
            starts = list_starts(*choose_days(days, timezone.now()), zone, find_next_hour if by_hour else find_next_day)
            for sql, values in _list_inserts(by_hour):
                given: dict[str, Any] = {
                    "starts": starts,
                    "times": len(starts),
                    "releases": RELEASES,
                    "intents": INTENTS,
                }
                turns = TURNS * days // DAYS // len(starts) // INTENTS
                cursor.execute(sql, {**given, **values, "by_hour": by_hour, "turns": max(turns // 10, 1)})
        cursor.execute(
            "ALTER TABLE ce_turn_count ADD CONSTRAINT ce_turn_count_once"
            " UNIQUE (kind, is_hour, hour, value, intent_code, config_version, channel, workspace_id)"
        )
        cursor.execute("VACUUM ANALYZE")


def _list_inserts(by_hour: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    from audit.reports.durations import BOUNDS

    sql = _INSERT.replace("{value}", _PLAIN).replace("{values}", "generate_series(1, %(of_intent)s) AS index")
    for kind in KINDS:
        if kind.by_hour or not by_hour:
            names = {"kind": kind.kind, "prefix": kind.prefix, "values": kind.values, "of_intent": kind.of_intent}
            yield sql, names
    sql = _INSERT.replace("{value}", "value").replace("{values}", "unnest(%(texts)s::text[]) AS value")
    for name, prefixes in TIMES.items():
        if name == "TIME" or not by_hour:
            ranges: Sequence[int] = BOUNDS[10:50] if name == "TIME" else BOUNDS[1:16]
            yield sql, {"kind": name, "texts": [f"{prefix}{bound}" for prefix in prefixes for bound in ranges]}


def read_pages(server: Postgres) -> int:
    """Print the milliseconds of processor time of each page and period."""
    from django.contrib.auth.models import User
    from django.test import Client
    from django.urls import reverse
    from django.utils.timezone import localdate

    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(User.objects.create_superuser(f"reader-{time.time()}"))
    slow = 0
    print(f"{'milliseconds of processor time':<32}{'a day':>8}{'a week':>8}{'a year':>8}")
    for page in PAGES:
        costs = []
        for days in (1, 7, DAYS):
            address = f"{reverse('admin:audit_ceaudit_reports')}{page}"
            given = {"first": (localdate() - timedelta(days=days - 1)).isoformat()}
            client.get(address, given)
            took = [measure(server, partial(client.get, address, given)) for _ in range(ROUNDS)]
            costs.append(1000 * min(cost.process + cost.database for cost in took))
        slow += sum(cost > LIMIT for cost in costs)
        print(f"{page or 'overview':<32}{''.join(f'{cost:>8.0f}' for cost in costs)}", flush=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
