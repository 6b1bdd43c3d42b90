"""Duration of verifying many turns: `python -m bench.verifying [--turns 100000]`.

The turns are copies of one real turn, each sealed in its own conversation's chain.
"""

import argparse
import os
import time
import uuid
from typing import Any

from bench.postgres import start_postgres
from bench.processes import cpu_seconds

_TURNS_OF_A_CONVERSATION = 10


def main() -> int:
    """Returns 0 when the record is intact and was verified in time."""
    parser = argparse.ArgumentParser(prog="python -m bench.verifying", description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=8.0, help="the time that 100,000 turns may take")
    options = parser.parse_args()
    with start_postgres() as server:
        server.create("verifying")
        os.environ |= {"DATABASE_URL": server.url("verifying"), "CE_DEBUG": "false", "CE_SECRET_KEY": "bench"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "convengine.settings"
        import django

        django.setup()
        events = _fill(options.turns)
        print(f"{options.turns:,} turns with {events:,} events", flush=True)
        return _verify(options.turns, options.seconds, server.pid)


def _verify(turns: int, seconds: float, postgres: int) -> int:
    from audit.integrity import verify_all

    started, before = time.perf_counter(), cpu_seconds([os.getpid(), postgres])
    report = verify_all.verify_all()
    took, spent = time.perf_counter() - started, cpu_seconds([os.getpid(), postgres]) - before
    print(report.summary())
    for finding in report.findings[:5]:
        print(f"  {finding}")
    limit = seconds * turns / 100_000
    print(
        f"{took:.1f} s with {os.cpu_count()} processors; goal {limit:.1f} s; "
        f"{spent / report.turns * 1e6:.0f} µs of processor time a turn"
    )
    return 0 if report.intact and took <= limit else 1


def _fill(turns: int) -> int:
    """Copy one turn this often; returns the number of events."""
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    template = _one_turn()
    _copies(template, turns // _TURNS_OF_A_CONVERSATION)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ce_turn_index (turn_id, at, kind, value, role) "
            "SELECT h.turn_id, i.at, i.kind, i.value, i.role "
            "FROM (SELECT * FROM ce_conversation_history WHERE turn_id <> %s ORDER BY history_id) h, "
            "LATERAL (SELECT * FROM ce_turn_index WHERE turn_id = %s ORDER BY id) i",
            [template["turn_id"], template["turn_id"]],
        )
        for table in ("ce_conversation_history", "ce_turn_index", "ce_conversation"):
            cursor.execute(f"ANALYZE {table}")
        cursor.execute("SELECT sum(last_seq) FROM ce_conversation_history")
        return int(cursor.fetchone()[0])


def _one_turn() -> dict[str, Any]:
    """A record of an ordinary turn in a world of rules."""
    from django.test.utils import setup_test_environment

    from bench import worlds
    from convengine.server.sessions.models import CeConversation, CeConversationHistory
    from tests.api import Caller
    from tests.performance.counting import say

    setup_test_environment()
    worlds.load(rules=100, patterns=20)
    caller = Caller()
    say(caller, 1)
    record: dict[str, Any] = dict(CeConversationHistory.objects.values().get())
    CeConversation.objects.filter(pk=caller.conversation_id).update(status="RUNNING")
    return record


def _copies(template: dict[str, Any], conversations: int) -> None:
    from audit.record.document_parts import encode_stored_document
    from audit.seal import Seal, encode_parts
    from convengine.server.interfaces.configuration import configuration
    from convengine.server.sessions.models import CeConversation, CeConversationHistory

    row = CeConversation.objects.values().get()
    release = configuration().content_hash(template["config_version"])
    document = encode_stored_document(template["events"])
    for start in range(0, conversations, 200):
        rows, records = [], []
        for _ in range(start, min(start + 200, conversations)):
            key, previous = uuid.uuid4(), None
            for turn_no in range(1, _TURNS_OF_A_CONVERSATION + 1):
                values = {**template, "conversation_id": key, "turn_no": turn_no, "turn_id": uuid.uuid4()}
                del values["history_id"]
                seal = Seal.create(previous, encode_parts(values, release, document))
                values["seal"], previous = seal.to_bytes(), seal.hash
                records.append(CeConversationHistory(**values))
            more = {"conversation_id": key, "remote_jid": str(key), "chain_head": previous}
            copy = CeConversation(**{**row, **more, "last_turn_no": _TURNS_OF_A_CONVERSATION})
            copy.sign()
            rows.append(copy)
        CeConversation.objects.bulk_create(rows)
        CeConversationHistory.objects.bulk_create(records)


if __name__ == "__main__":
    raise SystemExit(main())
