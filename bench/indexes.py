"""The cost of the search's indexes for a turn: `python -m bench.indexes`.

An entry costs microseconds of a turn's milliseconds, less than two turns differ by. So the database stores many turn
records in one statement, alternately with and without the indexes, and the difference is compared with a whole turn.
"""

import sys
import time
import uuid
from statistics import median
from typing import Any

from bench import postgres
from bench.reading.__main__ import with_django

#: The indexes of the search that a turn writes to.
SEARCHED = ("ce_history_intent", "ce_history_state", "ce_history_release", "ce_history_error", "ce_history_not_ok")
ROUNDS, RECORDS, TURNS = 15, 5_000, 200


def main() -> int:
    """Print the microseconds per record, and their share of a turn."""
    with postgres.start_postgres() as server, with_django(server):
        from django.db import connection
        from django.test import Client

        from bench import tasks, worlds

        secret = tasks.prepare()
        worlds.load(1_000, 100)
        client, conversation_id, turns = Client(SERVER_NAME="127.0.0.1"), str(uuid.uuid4()), []
        for number in range(TURNS):
            start = time.perf_counter()
            tasks.say(client, secret, conversation_id, number)
            turns.append(time.perf_counter() - start)
        with connection.cursor() as cursor:
            cost = _difference(cursor, conversation_id)
    turn = median(turns)
    print(
        f"a turn record with the {len(SEARCHED)} indexes of the search costs {cost * 1e6:+.1f} µs, "
        f"{cost / turn * 100:+.2f} % of a turn in process ({turn * 1e3:.2f} ms)"
    )
    return 0


def _difference(cursor: Any, conversation_id: str) -> float:
    cursor.execute("SELECT indexname, indexdef FROM pg_indexes WHERE indexname = ANY(%s)", [list(SEARCHED)])
    indexes = dict(cursor.fetchall())
    assert set(indexes) == set(SEARCHED), indexes
    cursor.execute(
        "SELECT string_agg(column_name, ', ') FROM information_schema.columns WHERE table_name = "
        "'ce_conversation_history' AND column_name NOT IN ('history_id', 'turn_no', 'turn_id')"
    )
    columns = cursor.fetchone()[0]
    took: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * ROUNDS):
        has_index = number % 2 == 0
        for name, definition in indexes.items():
            cursor.execute(f"DROP INDEX IF EXISTS {name}")
            if has_index:
                cursor.execute(definition)
        start = time.perf_counter()
        cursor.execute(
            f"""INSERT INTO ce_conversation_history (turn_no, turn_id, {columns})
                SELECT number, gen_random_uuid(), {columns} FROM ce_conversation_history,
                       generate_series(%s::int + 1, %s::int) AS number WHERE conversation_id = %s AND turn_no = 1""",
            [(number + 1) * RECORDS, (number + 2) * RECORDS, conversation_id],
        )
        took[has_index].append((time.perf_counter() - start) / RECORDS)
    return median(took[True]) - median(took[False])


if __name__ == "__main__":
    sys.exit(main())
