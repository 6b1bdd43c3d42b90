"""`python -m bench.reading`: how fast a large record is read.

Makes one of 10 million audit rows, on a PostgreSQL of its own. Reads every page through its view, once with nothing of
the database in memory, then again. Ends with 1 when a page takes too long.
"""

import argparse
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import postgres
from bench.postgres import Postgres

#: Bytes of disk per audit row, with room for PostgreSQL's write-ahead log.
_BYTES = 1_500


def main() -> int:
    """Returns 0 when every page stays below its limit."""
    parser = argparse.ArgumentParser(prog="python -m bench.reading", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="audit rows, 10 million unless said otherwise")
    parser.add_argument("--plans", type=Path, metavar="FILE", help="write the plans there, not behind the table")
    options = parser.parse_args()
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < options.rows * _BYTES:
        print(f"{tempfile.gettempdir()} has {free / 1e9:.1f} GB; {options.rows:,} rows take about "
              f"{options.rows * _BYTES / 1e9:.1f} GB. Take fewer: --rows.", file=sys.stderr)  # fmt: skip
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with postgres.start_postgres() as server, with_django(server):
        return _measure(server, options)


@contextmanager
def with_django(server: Postgres) -> Iterator[None]:
    """The product's Django in this process, on a database of its own."""
    server.create("record")
    with tempfile.TemporaryDirectory(prefix="ceb-var-") as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "convengine.settings",
            "DATABASE_URL": server.url("record"),
            "CE_SECRET_KEY": "only-for-the-bench",
            "CE_DEBUG": "false",
            "CE_VAR_DIR": folder,
        }
        import django

        django.setup()
        # Intended failures, and the restarts of the server, would fill the log.
        logging.disable(logging.CRITICAL)
        yield


def _measure(server: Postgres, options: argparse.Namespace) -> int:
    from django.db import connection

    from bench import tasks
    from bench.reading.cases import cases
    from bench.reading.generate import generate_record
    from bench.reading.measure import Reader
    from bench.reading.templates import play_templates

    started = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - started:6.0f} s  {text}", flush=True)

    server.hurry(True)
    say("real turns")
    templates = play_templates(tasks.prepare())
    record = generate_record(templates, options.rows, say)
    server.hurry(False)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        size = cursor.fetchone()[0]
    say(
        f"{record.events:,} audit rows, {record.turns:,} turns, {size / 1e9:.1f} GB: one conversation of "
        f"{record.long:,} turns, one participant with {record.many:,} conversations"
    )
    reader = Reader(server)
    print(f"\n{'milliseconds':<58}{'cold':>7}{'warm':>7}{'limit':>7}")
    measured = []
    for case in cases(record):
        measured.append(reader.measure(case))
        print(measured[-1].to_line(), flush=True)
    report = "\n".join(f"\n== {measurement.case.what}\n" + "\n--\n".join(measurement.plans) for measurement in measured)
    if options.plans:
        options.plans.write_text(report + "\n")
    else:
        print(report)
    failed = [measurement for measurement in measured if not measurement.holds]
    say(f"{len(measured) - len(failed)} of {len(measured)} pages stay below their limits")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
