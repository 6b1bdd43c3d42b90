"""A record of any size, made by the database out of a few real turns.

Among ordinary conversations of eight turns there are one of thousands of turns and one participant with thousands of
conversations, each spread over the whole year. Each search value has a most common one, and a rarest one, which one
turn in the middle has.
"""

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection

from audit.search.text_index import index_new_turns
from bench.reading.templates import Templates

LONG, MANY = 5_000, 10_000
LONGEST = uuid.UUID("11111111-1111-4111-8111-111111111111")
BUSIEST, RAREST_NAME = "+49170000000", "+49199999999"
RARE, RARE_ROW, RARE_WORD, RARE_ERROR, RARE_STAGE = "RAREST", "424242", "zanzibar", "LLM_TIMEOUT", "POLICY_BLOCK"
#: Indexes of the largest tables are made after the rows.
_LARGE = ("ce_conversation_history", "ce_turn_index")
_PLAN = """
CREATE UNLOGGED TABLE plan AS
WITH told AS (
    SELECT i,
           CASE WHEN i %% %(long)s = 0 THEN %(longest)s::uuid
                WHEN i %% %(busy)s = 1 THEN md5('busiest' || i / %(busy)s)::uuid
                ELSE md5('one of eight ' || i / 64 || '.' || i %% 8)::uuid END AS conversation_id,
           CASE WHEN i %% %(long)s = 0 THEN 'long' WHEN i %% %(busy)s = 1 THEN 'busy' ELSE 'plain' END AS kind
      FROM generate_series(1, %(turns)s) AS i)
SELECT i, conversation_id, kind, gen_random_uuid() AS turn_id,
       row_number() OVER (PARTITION BY conversation_id ORDER BY i)::int AS turn_no,
       CASE WHEN i %% 100 = 99 THEN (%(failed)s::bigint[])[1 + i %% 4] ELSE (%(answered)s::bigint[])[1 + i %% 4] END
           AS template,
       i %% 100 = 99 AS fails,
       now() - (%(turns)s - i) * (interval '365 days' / %(turns)s) AS at,
       (%(releases)s::bigint[])[1 + i * %(release_count)s / (%(turns)s + 1)] AS version,
       i = %(middle)s AS rare
  FROM told ORDER BY i"""
_SESSIONS = """
INSERT INTO ce_conversation ({columns}, conversation_id, channel, remote_jid, created_at, updated_at, last_message_at,
                             last_turn_no, turn_count, lifecycle)
SELECT {columns_of_c}, p.conversation_id,
       CASE WHEN p.kind = 'busy' OR p.channel < '4' THEN 'whatsapp' ELSE 'api' END,
       CASE WHEN p.kind = 'busy' THEN '{busiest}' WHEN p.rare THEN '{rarest}'
            WHEN p.channel < '4' THEN '+49160' || substr(md5(p.conversation_id::text), 1, 6)
            ELSE p.conversation_id::text END,
       p.first, p.last, p.last, p.turns, p.turns, 'COMPLETE'
  FROM (SELECT conversation_id, min(kind) AS kind, min(at) AS first, max(at) AS last, count(*)::int AS turns,
               bool_or(rare) AS rare,
               CASE WHEN bool_or(rare) THEN '0' ELSE substr(conversation_id::text, 1, 1) END AS channel
          FROM plan GROUP BY conversation_id ORDER BY min(i)) AS p, ce_conversation c
 WHERE c.conversation_id = (SELECT conversation_id FROM ce_conversation_history WHERE history_id = %s)"""
_RECORDS = """
INSERT INTO ce_conversation_history ({columns}, conversation_id, turn_id, turn_no, created_at, modified_at,
                                     config_version, user_input, intent_code, state_code, error_code, duration_ms)
SELECT {columns_of_t}, p.conversation_id, p.turn_id, p.turn_no, p.at, p.at, p.version,
       t.user_input || ' My number is ' || p.i || CASE WHEN p.rare THEN '. Greetings from {word}' ELSE '' END,
       CASE WHEN p.rare THEN '{rare}' WHEN p.i %% 3 = 0 THEN 'TOPIC_' || p.i %% 200 ELSE t.intent_code END,
       CASE WHEN p.rare THEN '{rare}' WHEN p.i %% 5 = 0 THEN 'STATE_' || p.i %% 50 ELSE t.state_code END,
       CASE WHEN p.rare THEN '{error}' ELSE t.error_code END,
       (10 + p.i %% 90 + CASE WHEN p.i %% 1000 = 0 THEN 5000 ELSE 0 END)::int
  FROM plan p CROSS JOIN LATERAL (
       SELECT * FROM ce_conversation_history h WHERE h.history_id = p.template OFFSET 0) AS t"""
_ROWS = """
INSERT INTO ce_turn_index (turn_id, at, kind, value, role)
SELECT p.turn_id, p.at, r.kind, r.value, r.role
  FROM plan p JOIN ce_conversation_history t ON t.history_id = p.template JOIN ce_turn_index r ON r.turn_id = t.turn_id
 ORDER BY p.i"""
_RARE_ENTRY = """
INSERT INTO ce_turn_index (turn_id, at, kind, value, role)
SELECT turn_id, at, %s, %s, %s FROM plan WHERE rare"""
CALL = {
    "no": 1, "created_at": "2026-01-01T00:00:00+00:00", "intent_code": "DELIVERY", "state_code": "IDLE",
    "provider": "bench", "model": "none", "temperature": None,
    "prompt_text": "You are asked what the customer wants. " * 50, "user_context": "{}",
    "response_text": '{"intent": "DELIVERY", "confidence": 0.9}', "success": True, "error_message": None,
    "purpose": "INTENT_AGENT", "attempt": 1, "latency_ms": 400, "input_tokens": 900, "output_tokens": 12,
    "cost": 0.0004, "template_id": None,
}  # fmt: skip
#: A third of the turns asked a model.
_CALLS = """
UPDATE ce_conversation_history h SET model_calls = 1, cost = 0.0004,
       events = left(events, length(events) - 1) || ',{"seq":0,"stage":null,"calls":[' || %s || ']}]'
  FROM plan p WHERE p.turn_id = h.turn_id AND p.i %% 3 = 0"""
Say = Callable[[str], None]


@dataclass(frozen=True)
class Record:
    """The made record."""

    turns: int
    events: int
    #: The number of turns of the long conversation, and of conversations of the busiest participant.
    long: int
    many: int


def generate_record(templates: Templates, rows: int, say: Say) -> Record:
    """A record of about this many audit rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(last_seq) / 4 FROM ce_conversation_history WHERE history_id = ANY(%s)", [templates.answered]
        )
        events = int(cursor.fetchone()[0])
        turns = rows // events
        long, busy = max(turns // LONG, 4), max(turns // MANY, 6)
        _plan_turns(cursor, templates, turns, long, busy)
        say(f"{turns:,} turns of about {events} events, from {len(templates.answered + templates.failed)} real ones")
        with _without_indexes(cursor, say):
            _records(cursor, templates)
            say("rows that decided, model calls")
            cursor.execute(_ROWS)
            cursor.execute(_RARE_ENTRY, ["ce_rule", RARE_ROW, "RULE"])
            cursor.execute(_RARE_ENTRY, ["STAGE", RARE_STAGE, ""])
            # In any order, and without an index of turns: only a hash finds them at once.
            cursor.execute("SET enable_hashjoin = on")
            cursor.execute("ALTER TABLE ce_conversation_history DISABLE TRIGGER ce_conversation_history_sealed")
            cursor.execute(_CALLS, [json.dumps(CALL)])
            cursor.execute("ALTER TABLE ce_conversation_history ENABLE TRIGGER ce_conversation_history_sealed")
        say("words of turns, as the job indexes them")
        done = sum(count for counts in index_new_turns() for count in counts.values())
        assert done >= turns, done
        say("vacuum")
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("SELECT sum(last_seq) FROM ce_conversation_history")
        return Record(turns, int(cursor.fetchone()[0]), turns // long, (turns - 1) // busy + 1)


def _plan_turns(cursor: Any, templates: Templates, turns: int, long: int, busy: int) -> None:
    cursor.execute(
        _PLAN,
        {
            "turns": turns, "long": long, "busy": busy, "longest": str(LONGEST), "failed": templates.failed,
            "answered": templates.answered, "releases": templates.releases, "release_count": len(templates.releases),
            # A plain answered turn, outside of the long conversations.
            "middle": next(i for i in range(turns // 2, turns) if i % long and i % busy != 1 and i % 100 != 99),
        },
    )  # fmt: skip
    cursor.execute("ANALYZE plan")


def _records(cursor: Any, templates: Templates) -> None:
    of_session = ("conversation_id", "channel", "remote_jid", "created_at", "updated_at", "last_message_at",
                  "last_turn_no", "turn_count", "lifecycle")  # fmt: skip
    columns = _columns(cursor, "ce_conversation", of_session)
    cursor.execute(
        _SESSIONS.format(columns=", ".join(columns), columns_of_c=", ".join(f"c.{column}" for column in columns),
                         busiest=BUSIEST, rarest=RAREST_NAME),
        [templates.answered[0]],
    )  # fmt: skip
    cursor.execute(
        "INSERT INTO ce_thread (workspace_id, channel, remote_jid, created_at) "
        "SELECT DISTINCT workspace_id, channel, remote_jid, now() FROM ce_conversation WHERE channel <> 'api'"
    )
    of_turn = ("history_id", "conversation_id", "turn_id", "turn_no", "created_at", "modified_at", "config_version",
              "user_input", "intent_code", "state_code", "error_code", "duration_ms")  # fmt: skip
    columns = _columns(cursor, "ce_conversation_history", of_turn)
    cursor.execute(
        _RECORDS.format(columns=", ".join(columns), columns_of_t=", ".join(f"t.{column}" for column in columns),
                        word=RARE_WORD, rare=RARE, error=RARE_ERROR),
        [],
    )  # fmt: skip


@contextmanager
def _without_indexes(cursor: Any, say: Say) -> Iterator[None]:
    """All indexes except keys are made again after the rows."""
    cursor.execute(
        "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i "
        "WHERE i.indrelid = ANY(%s::regclass[]) AND NOT i.indisunique",
        [list(_LARGE)],
    )
    indexes = cursor.fetchall()
    for name, _ in indexes:
        cursor.execute(f"DROP INDEX {name}")
    # Rows come in the order in which turns would leave them, without a full sort.
    cursor.execute("SET enable_hashjoin = off; SET enable_mergejoin = off; SET maintenance_work_mem = '512MB'")
    yield
    cursor.execute("RESET ALL")
    cursor.execute("SET maintenance_work_mem = '512MB'")
    say("indexes")
    for _, definition in indexes:
        cursor.execute(definition.replace(" ON ONLY ", " ON "))


def _columns(cursor: Any, table: str, without: Sequence[str]) -> list[str]:
    cursor.execute("SELECT column_name FROM information_schema.columns WHERE table_name = %s ORDER BY 1", [table])
    return [name for (name,) in cursor.fetchall() if name not in without]
