"""Which `ce_verbose` row is used for an event."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from convengine.engine.rules.conditions.evaluate import compile_path
from convengine.engine.rules.conditions.nodes import PathError
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import StepMatch
from convengine.engine.turn.scope import ANY, list_buckets
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

_STEP_POINTS: Mapping[str, int] = {StepMatch.REGEX: 150, StepMatch.JSON_PATH: 100}


class Signal(NamedTuple):
    """An event, by the names that rows match on."""

    step: str
    determinant: str
    error: bool = False
    rule_id: Any = None
    tool_code: str | None = None
    #: False for an event that another one also reports: without a row it publishes nothing, not even an error.
    generic: bool = True


def list_candidates(snapshot: Snapshot, signal: Signal, intent: str | None, state: str | None) -> list[rows.Verbose]:
    """The rows of the scope and the determinant. Blank codes have none."""
    if any(blank(name) for name in (intent, state, signal.step, signal.determinant)):
        return []
    by_event = snapshot.index(rows.Verbose, _event_key, _order_key)
    return [
        row
        for determinant in dict.fromkeys((code(signal.determinant), ANY))
        for bucket in dict.fromkeys(list_buckets(intent, state))
        if snapshot.is_active(bucket[0])
        for row in by_event.get((determinant, *bucket), ())
    ]


def choose_best(
    candidates: list[rows.Verbose], signal: Signal, metadata: Callable[[], Mapping[str, Json]]
) -> rows.Verbose | None:
    """The matching row with the most points; ties by priority, then id. Priority never outweighs a point."""
    matching = [row for row in candidates if _matches(row, signal, metadata)]
    return min(matching, key=lambda row: (-score_row(row), row.priority, row.verbose_id), default=None)


def score_row(row: rows.Verbose) -> int:
    """How specific a matching row is."""
    match = code(row.step_match)
    step = _STEP_POINTS.get(match, 0 if code(row.step_value) == ANY else 225)
    return (
        400 * (code(row.intent_code) != ANY)
        + 300 * (code(row.state_code) != ANY)
        + 250 * (code(row.determinant) not in ("", ANY))
        + step
        + 200 * (row.rule_id is not None)
        + 150 * (not blank(row.tool_code))
    )


def _matches(row: rows.Verbose, signal: Signal, metadata: Callable[[], Mapping[str, Json]]) -> bool:
    if row.rule_id is not None and str(row.rule_id) != str(signal.rule_id):
        return False
    if not blank(row.tool_code) and code(row.tool_code) != code(signal.tool_code):
        return False
    match = code(row.step_match)
    try:
        if match == StepMatch.REGEX:
            return compile_pattern(row.step_value).occurs_in(signal.step)
        if match == StepMatch.JSON_PATH:
            return any(_says_yes(value) for value in compile_path(row.step_value).find(metadata()))
    except (PatternError, PathError):
        return False
    return code(row.step_value) in (code(signal.step), ANY)


def _says_yes(value: Json) -> bool:
    if value is None or isinstance(value, bool):
        return value is True
    return str(value).strip().lower() not in ("", "false")


def _event_key(row: rows.Verbose) -> tuple[str, str, str]:
    return code(row.determinant) or ANY, code(row.intent_code), code(row.state_code)


def _order_key(row: rows.Verbose) -> tuple[int, int]:
    return row.priority, row.verbose_id
