"""Which rows name which: what a deletion or a renamed code would break (tables 1.8, IN_USE)."""

from collections.abc import Iterator

from config_admin.validation import relations
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.text.compare import code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot

#: How many rows a message names, besides the total number.
_MAX_SHOWN = 10


def find_references(snapshot: Snapshot, row: Row) -> tuple[Row, ...]:
    """The rows that name this intent, tool or rule, including disabled ones."""
    if isinstance(row, rows.Intent):
        return tuple(_find_references_to_intent(snapshot, code(row.intent_code)))
    if isinstance(row, rows.Tool):
        return tuple(_find_references_to_tool(snapshot, row.tool_code.strip().lower()))
    if isinstance(row, rows.Rule):
        return relations.index_rows(snapshot, rows.Verbose, _get_rule).get(row.rule_id, ())
    return ()


def format_references(found: tuple[Row, ...]) -> str:
    """`ce_rule 41, ce_response 7`, for messages."""
    shown = ", ".join(f"{row.table} {row.pk}" for row in found[:_MAX_SHOWN])
    return f"{shown} …" if len(found) > _MAX_SHOWN else shown


def _find_references_to_intent(snapshot: Snapshot, intent: str) -> Iterator[Row]:
    for row_type in rows.ROW_TYPES:
        if row_type is not rows.Intent and "intent_code" in rows.columns(row_type):
            yield from relations.index_rows(snapshot, row_type, relations.intent_key).get(intent, ())
    for rule in relations.index_rows(snapshot, rows.Rule, _get_target_intent).get(intent, ()):
        if code(rule.intent_code) != intent:
            yield rule
    reading = live_settings.read(snapshot, RESET_INTENT_CODES)
    if reading.row and intent in reading.value:
        yield reading.row


def _get_rule(verbose: rows.Verbose) -> int | None:
    return verbose.rule_id


def _get_target_intent(rule: rows.Rule) -> str | None:
    return code(rule.action_value) if code(rule.action) == "SET_INTENT" else None


def _find_references_to_tool(snapshot: Snapshot, tool_code: str) -> Iterator[Row]:
    yield from relations.index_rows(snapshot, rows.DirectTool, relations.tool_code_key).get(tool_code, ())
    yield from relations.index_rows(snapshot, rows.Verbose, relations.tool_code_key).get(tool_code, ())
