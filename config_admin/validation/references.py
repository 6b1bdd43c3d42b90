"""Which rows name which: what a deletion or a renamed code would break (tables 1.8, IN_USE)."""

from collections.abc import Iterator

from config_admin.validation import relations
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.text.compare import code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot

#: How many rows a message names, besides the total number.
_SHOWN = 10


def referring(snapshot: Snapshot, row: Row) -> tuple[Row, ...]:
    """The rows that name this intent, tool or rule, including disabled ones."""
    if isinstance(row, rows.Intent):
        return tuple(_of_intent(snapshot, code(row.intent_code)))
    if isinstance(row, rows.Tool):
        return tuple(_of_tool(snapshot, row.tool_code.strip().lower()))
    if isinstance(row, rows.Rule):
        return relations.all_by(snapshot, rows.Verbose, _rule).get(row.rule_id, ())
    return ()


def links(found: tuple[Row, ...]) -> str:
    """`ce_rule 41, ce_response 7`, for messages."""
    shown = ", ".join(f"{row.table} {row.pk}" for row in found[:_SHOWN])
    return f"{shown} …" if len(found) > _SHOWN else shown


def _of_intent(snapshot: Snapshot, intent: str) -> Iterator[Row]:
    for row_type in rows.ROW_TYPES:
        if row_type is not rows.Intent and "intent_code" in rows.columns(row_type):
            yield from relations.all_by(snapshot, row_type, relations.intent_key).get(intent, ())
    for rule in relations.all_by(snapshot, rows.Rule, _target_intent).get(intent, ()):
        if code(rule.intent_code) != intent:
            yield rule
    reading = live_settings.read(snapshot, RESET_INTENT_CODES)
    if reading.row and intent in reading.value:
        yield reading.row


def _rule(verbose: rows.Verbose) -> int | None:
    return verbose.rule_id


def _target_intent(rule: rows.Rule) -> str | None:
    return code(rule.action_value) if code(rule.action) == "SET_INTENT" else None


def _of_tool(snapshot: Snapshot, tool_code: str) -> Iterator[Row]:
    yield from relations.all_by(snapshot, rows.DirectTool, relations.tool_code_key).get(tool_code, ())
    yield from relations.all_by(snapshot, rows.Verbose, relations.tool_code_key).get(tool_code, ())
