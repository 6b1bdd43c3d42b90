"""The views `ce_audit` and `ce_llm_call_log` on the rows of turns, per database (R122).

Each makes rows of the JSON lists in `events`, so that a filter on conversation, turn or row uses the indexes of
`ce_conversation_history`. Migrations call `create_views`.
"""

from typing import Any

from audit.record.events import IDS_PER_ROW

#: Column of a model call: its type on PostgreSQL.
_CALL_COLUMNS = {
    "intent_code": "text",
    "state_code": "text",
    "provider": "text",
    "model": "text",
    "temperature": "numeric(3, 2)",
    "prompt_text": "text",
    "user_context": "text",
    "response_text": "text",
    "success": "boolean",
    "error_message": "text",
    "purpose": "text",
    "attempt": "integer",
    "latency_ms": "integer",
    "input_tokens": "integer",
    "output_tokens": "integer",
    "cost": "numeric(18, 9)",
    "template_id": "bigint",
}
_OF_ROW = "h.conversation_id, h.turn_id, h.turn_no, h.config_version"
_POSTGRESQL = f"""
CREATE OR REPLACE VIEW ce_audit AS
SELECT h.history_id * {IDS_PER_ROW} + (e.entry ->> 'seq')::bigint AS audit_id, {_OF_ROW},
       e.entry ->> 'stage' AS stage,
       CASE WHEN e.entry ? 'changed' THEN
                e.entry -> 'payload' || jsonb_build_object('_meta', jsonb_build_object('changed', e.entry -> 'changed'))
            WHEN e.entry ? 'session' THEN
                e.entry -> 'payload' || jsonb_build_object('_meta', jsonb_build_object('session', e.entry -> 'session'))
            ELSE e.entry -> 'payload' END AS payload_json,
       h.created_at + (e.entry ->> 'ms')::bigint * interval '1 millisecond' AS created_at,
       (e.entry ->> 'seq')::integer AS seq
  FROM ce_conversation_history h, LATERAL jsonb_array_elements(h.events::jsonb) AS e(entry)
 WHERE e.entry ->> 'stage' IS NOT NULL;
CREATE OR REPLACE VIEW ce_llm_call_log AS
SELECT h.history_id * {IDS_PER_ROW} + (c.entry ->> 'no')::bigint AS llm_call_id, {_OF_ROW},
       (c.entry ->> 'created_at')::timestamptz AS created_at,
       {", ".join(f"(c.entry ->> '{name}')::{kind} AS {name}" for name, kind in _CALL_COLUMNS.items())}
  FROM ce_conversation_history h, LATERAL jsonb_array_elements(h.events::jsonb) AS e(entry),
       LATERAL jsonb_array_elements(e.entry -> 'calls') AS c(entry)
 WHERE h.model_calls > 0"""
_SQLITE = f"""
CREATE VIEW IF NOT EXISTS ce_audit AS
SELECT h.history_id * {IDS_PER_ROW} + json_extract(e.value, '$.seq') AS audit_id, {_OF_ROW},
       json_extract(e.value, '$.stage') AS stage,
       CASE WHEN json_type(e.value, '$.changed') IS NOT NULL THEN
                json_set(json_extract(e.value, '$.payload'), '$._meta',
                         json_object('changed', json_extract(e.value, '$.changed')))
            WHEN json_type(e.value, '$.session') IS NOT NULL THEN
                json_set(json_extract(e.value, '$.payload'), '$._meta',
                         json_object('session', json_extract(e.value, '$.session')))
            ELSE json_extract(e.value, '$.payload') END AS payload_json,
       strftime('%Y-%m-%d %H:%M:%f', substr(h.created_at, 1, 23), '+' || (json_extract(e.value, '$.ms') / 1000.0)
                || ' seconds') || substr(h.created_at, 24) AS created_at,
       json_extract(e.value, '$.seq') AS seq
  FROM ce_conversation_history h, json_each(h.events) e
 WHERE json_extract(e.value, '$.stage') IS NOT NULL;
CREATE VIEW IF NOT EXISTS ce_llm_call_log AS
SELECT h.history_id * {IDS_PER_ROW} + json_extract(c.value, '$.no') AS llm_call_id, {_OF_ROW},
       replace(substr(json_extract(c.value, '$.created_at'), 1, 26), 'T', ' ') AS created_at,
       {", ".join(f"json_extract(c.value, '$.{name}') AS {name}" for name in _CALL_COLUMNS)}
  FROM ce_conversation_history h, json_each(h.events) e, json_each(e.value, '$.calls') c
 WHERE h.model_calls > 0"""


def create_views(schema_editor: Any) -> None:
    """Make both views, unless they are there."""
    for statement in list_view_stmts(schema_editor.connection.vendor):
        schema_editor.execute(statement, params=None)


def list_view_stmts(vendor: str) -> list[str]:
    """The statements that make the views."""
    return (_POSTGRESQL if vendor == "postgresql" else _SQLITE).strip().split(";\n")


def drop_views(schema_editor: Any) -> None:
    """Remove both views."""
    for name in ("ce_llm_call_log", "ce_audit"):
        schema_editor.execute(f"DROP VIEW IF EXISTS {name}")
