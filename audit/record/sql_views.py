"""The views `ce_audit` and `ce_llm_call_log` on the rows of turns, per database.

Each makes rows of the JSON lists in `events`, so that a filter on conversation, turn or row uses the indexes of
`ce_conversation_history`. A list that cannot be read is one event EVENTS_UNREADABLE with number 0, and the other turns
are shown. Migrations call `create_views`.
"""

from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.models import F, Func, TextField
from django.db.models.lookups import Contains, IContains

from audit.record.events import CALL_COLUMNS, IDS_PER_ROW, NO_EVENTS, NO_VALUE, REMEDY
from audit.record.step_times import STEPS
from convengine.engine.pipeline.stages import EVENTS_UNREADABLE, STEP_ENTER, STEP_EXIT

VIEWS = ("ce_audit", "ce_llm_call_log")
_OF_ROW = "h.conversation_id, h.turn_id, h.turn_no, h.config_version"
#: What PostgreSQL raises for a text that is no JSON, another type, and a value that it cannot decompress.
_DAMAGES = "data_exception OR program_limit_exceeded OR data_corrupted OR internal_error"
#: An entry that is no event: without a number.
_NO_EVENT = '$[*] ? (!(@.seq.type() == "number"))'
#: A function catches what a view cannot: the failure of one row.
_FUNCTIONS = {
    "ce_readable": f"""
CREATE OR REPLACE FUNCTION ce_readable(document text) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    RETURN document || '';
EXCEPTION WHEN {_DAMAGES} THEN
    RETURN '';
END $$""",
    "ce_list_events": f"""
CREATE OR REPLACE FUNCTION ce_list_events(record_id bigint, began timestamptz, document text)
RETURNS TABLE (audit_id bigint, stage text, payload_json jsonb, created_at timestamptz, seq integer)
LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE reason text; entries jsonb;
BEGIN
    BEGIN
        entries := document::jsonb;
        RETURN QUERY
        SELECT record_id * {IDS_PER_ROW} + (e.entry ->> 'seq')::bigint, e.entry ->> 'stage',
               CASE WHEN e.entry ? 'changed' THEN e.entry -> 'payload' ||
                        jsonb_build_object('_meta', jsonb_build_object('changed', e.entry -> 'changed'))
                    WHEN e.entry ? 'session' THEN e.entry -> 'payload' ||
                        jsonb_build_object('_meta', jsonb_build_object('session', e.entry -> 'session'))
                    ELSE e.entry -> 'payload' END,
               began + (e.entry ->> 'ms')::bigint * interval '1 millisecond', (e.entry ->> 'seq')::integer
          FROM jsonb_array_elements(entries) AS e(entry)
         WHERE e.entry ->> 'stage' IS NOT NULL
        UNION ALL
        SELECT record_id * {IDS_PER_ROW} + s.seq, s.stage, s.payload, began + s.ms * interval '1 millisecond', s.seq
          FROM jsonb_array_elements(entries) AS e(entry), jsonb_array_elements(e.entry -> '{STEPS}') AS t(step),
               LATERAL (
                   VALUES ((t.step ->> 0)::integer, '{STEP_ENTER}', (t.step ->> 1)::bigint, jsonb_build_object(
                              'step', t.step -> 2, 'stepClass', (t.step ->> 3) || '.' || (t.step ->> 2))),
                          ((t.step ->> 4)::integer, '{STEP_EXIT}', (t.step ->> 5)::bigint, jsonb_build_object(
                              'step', t.step -> 2, 'stepClass', (t.step ->> 3) || '.' || (t.step ->> 2),
                              'outcome', t.step -> 6, 'durationMs', t.step -> 7))
               ) AS s(seq, stage, ms, payload)
         WHERE s.seq IS NOT NULL;
        IF jsonb_path_exists(entries, '{_NO_EVENT}') THEN
            reason := '{NO_EVENTS}';
        END IF;
    EXCEPTION
        WHEN data_corrupted OR internal_error THEN
            reason := '{NO_VALUE}';
        WHEN data_exception OR program_limit_exceeded THEN
            reason := '{NO_EVENTS}';
    END;
    IF reason IS NOT NULL THEN
        RETURN QUERY SELECT record_id * {IDS_PER_ROW}, '{EVENTS_UNREADABLE}',
                            jsonb_build_object('reason', reason, 'remedy', '{REMEDY}'), began, 0;
    END IF;
END $$""",
    "ce_list_calls": f"""
CREATE OR REPLACE FUNCTION ce_list_calls(record_id bigint, document text)
RETURNS TABLE (llm_call_id bigint, created_at timestamptz,
               {", ".join(f"{name} {kind}" for name, kind in CALL_COLUMNS.items())})
LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
    RETURN QUERY
    SELECT record_id * {IDS_PER_ROW} + (c.entry ->> 'no')::bigint, (c.entry ->> 'created_at')::timestamptz,
           {", ".join(f"(c.entry ->> '{name}')::{kind}" for name, kind in CALL_COLUMNS.items())}
      FROM jsonb_array_elements(document::jsonb) AS e(entry), jsonb_array_elements(e.entry -> 'calls') AS c(entry);
EXCEPTION WHEN {_DAMAGES} THEN
    -- The view of the events says so.
    RETURN;
END $$""",
}
_POSTGRESQL = {
    "ce_audit": f"""
CREATE OR REPLACE VIEW ce_audit AS
SELECT e.audit_id, {_OF_ROW}, e.stage, e.payload_json, e.created_at, e.seq
  FROM ce_conversation_history h, LATERAL ce_list_events(h.history_id, h.created_at, h.events) AS e""",
    "ce_llm_call_log": f"""
CREATE OR REPLACE VIEW ce_llm_call_log AS
SELECT c.llm_call_id, {_OF_ROW}, c.created_at, {", ".join(f"c.{name}" for name in CALL_COLUMNS)}
  FROM ce_conversation_history h, LATERAL ce_list_calls(h.history_id, h.events) AS c
 WHERE h.model_calls > 0""",
}
#: The entries of a document that is JSON; none of another.
_ENTRIES = "json_each(CASE WHEN json_valid(h.events) THEN h.events ELSE '[]' END)"
#: An entry that is no object has no keys.
_ENTRY = "CASE e.type WHEN 'object' THEN e.value ELSE '{}' END"
_IS_EVENT = f"json_type({_ENTRY}, '$.seq') IS 'integer'"
_STEP = (
    "json_extract(t.value, '$[2]'), 'stepClass', json_extract(t.value, '$[3]') || '.' || json_extract(t.value, '$[2]')"
)


def _add_ms(ms: str) -> str:
    """The time of an event, in SQLite."""
    return (
        f"strftime('%Y-%m-%d %H:%M:%f', substr(h.created_at, 1, 23), '+' || ({ms} / 1000.0) || ' seconds') "
        "|| substr(h.created_at, 24)"
    )


def _select_steps(at: int, stage: str, payload: str) -> str:
    """The events of the lists of steps whose number is at a place of an item, in SQLite."""
    seq = f"json_extract(t.value, '$[{at}]')"
    return f"""SELECT h.history_id * {IDS_PER_ROW} + {seq}, {_OF_ROW}, '{stage}', json_object('step', {payload}),
       {_add_ms(f"json_extract(t.value, '$[{at + 1}]')")}, {seq}
  FROM ce_conversation_history h, {_ENTRIES} e, json_each({_ENTRY}, '$.{STEPS}') t
 WHERE t.type = 'array' AND {seq} IS NOT NULL"""


_EXIT_STEP = f"{_STEP}, 'outcome', json_extract(t.value, '$[6]'), 'durationMs', json_extract(t.value, '$[7]')"
_SQLITE = {
    "ce_audit": f"""
CREATE VIEW IF NOT EXISTS ce_audit AS
SELECT h.history_id * {IDS_PER_ROW} + json_extract(e.value, '$.seq') AS audit_id, {_OF_ROW},
       json_extract(e.value, '$.stage') AS stage,
       CASE WHEN json_type(e.value, '$.payload') IS NOT 'object' THEN json_extract(e.value, '$.payload')
            WHEN json_type(e.value, '$.changed') IS NOT NULL THEN
                json_set(json_extract(e.value, '$.payload'), '$._meta',
                         json_object('changed', json_extract(e.value, '$.changed')))
            WHEN json_type(e.value, '$.session') IS NOT NULL THEN
                json_set(json_extract(e.value, '$.payload'), '$._meta',
                         json_object('session', json_extract(e.value, '$.session')))
            ELSE json_extract(e.value, '$.payload') END AS payload_json,
       {_add_ms("json_extract(e.value, '$.ms')")} AS created_at,
       json_extract(e.value, '$.seq') AS seq
  FROM ce_conversation_history h, {_ENTRIES} e
 WHERE {_IS_EVENT} AND json_extract({_ENTRY}, '$.stage') IS NOT NULL
UNION ALL
{_select_steps(0, STEP_ENTER, _STEP)}
UNION ALL
{_select_steps(4, STEP_EXIT, _EXIT_STEP)}
UNION ALL
SELECT h.history_id * {IDS_PER_ROW}, {_OF_ROW}, '{EVENTS_UNREADABLE}',
       json_object('reason', '{NO_EVENTS}', 'remedy', '{REMEDY}'), h.created_at, 0
  FROM ce_conversation_history h
 WHERE h.events IS NOT NULL
   AND CASE WHEN json_valid(h.events) THEN json_type(h.events) <> 'array' OR
                EXISTS (SELECT 1 FROM {_ENTRIES} e WHERE NOT {_IS_EVENT}) ELSE 1 END""",
    "ce_llm_call_log": f"""
CREATE VIEW IF NOT EXISTS ce_llm_call_log AS
SELECT h.history_id * {IDS_PER_ROW} + json_extract(c.value, '$.no') AS llm_call_id, {_OF_ROW},
       replace(substr(json_extract(c.value, '$.created_at'), 1, 26), 'T', ' ') AS created_at,
       {", ".join(f"json_extract(c.value, '$.{name}') AS {name}" for name in CALL_COLUMNS)}
  FROM ce_conversation_history h, {_ENTRIES} e, json_each({_ENTRY}, '$.calls') c
 WHERE h.model_calls > 0 AND c.type = 'object'""",
}


def has_in_document(text: str, *, any_case: bool = False) -> Any:
    """A condition on turns: the stored events have this text. Those that cannot be read do not have it."""
    return (IContains if any_case else Contains)(ReadableEvents(), text)


class ReadableEvents(Func):
    """The events of a turn; blank if PostgreSQL cannot read them, which would end the query."""

    function = "ce_readable"
    output_field = TextField()

    def __init__(self) -> None:
        super().__init__(F("events"))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """SQLite reads any bytes."""
        return super().as_sql(compiler, connection, template="%(expressions)s", **context)


def create_views(schema_editor: Any) -> None:
    """Make both views. On PostgreSQL, their functions and existing views are replaced; SQLite keeps existing views."""
    vendor = schema_editor.connection.vendor
    for statement in (*(_FUNCTIONS.values() if vendor == "postgresql" else ()), *list_view_stmts(vendor)):
        schema_editor.execute(statement.strip(), params=None)


def list_view_stmts(vendor: str) -> list[str]:
    return [statement.strip() for statement in (_POSTGRESQL if vendor == "postgresql" else _SQLITE).values()]


def list_changed_functions() -> Iterator[str]:
    """The names of the functions of the views that are missing or not as the product makes them; none in SQLite."""
    for name, statement in _FUNCTIONS.items() if connection.vendor == "postgresql" else ():
        with connection.cursor() as cursor:
            cursor.execute("SELECT prosrc FROM pg_proc WHERE oid = to_regproc(%s)", [name])
            row = cursor.fetchone()
        if row is None or row[0] != statement.split("$$")[1]:
            yield name


def drop_views(schema_editor: Any) -> None:
    for name in reversed(VIEWS):
        schema_editor.execute(f"DROP VIEW IF EXISTS {name}")
    for name in _FUNCTIONS if schema_editor.connection.vendor == "postgresql" else ():
        schema_editor.execute(f"DROP FUNCTION IF EXISTS {name}")
