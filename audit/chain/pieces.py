"""What a turn leaves as the pieces that its seal is over: the same bytes from a trail and from stored rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from audit.stage_names import base_name
from convengine.codec import in_order
from convengine.domain.chain import EVENTS, PROMPTS, STEPS, Pieces
from convengine.domain.stages import Stage

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_OF_STEPS = (Stage.STEP_ENTER.value, Stage.STEP_EXIT.value)
#: How many decimals the columns have.
_DECIMALS = {"temperature": Decimal("0.01"), "cost": Decimal("0.000000001")}
#: The columns of a model call that are sealed, in order.
CALL = (
    *("conversation_id", "turn_id", "turn_no", "config_version", "created_at", "intent_code", "state_code"),
    *("provider", "model", "temperature", "prompt_text", "user_context", "response_text", "success", "error_message"),
    *("purpose", "attempt", "latency_ms", "input_tokens", "output_tokens", "cost", "template_id"),
)
#: Of each stage that was met: its group, and its name as bytes.
_known: dict[str, tuple[str, bytes]] = {}


def microseconds(at: datetime) -> int:
    """A time as a whole number."""
    return (at - _EPOCH) // _MICROSECOND


def group_of(stage: str) -> str:
    """The group that events of a stage belong to."""
    return (_known.get(stage) or _learned(stage))[0]


def of_events(rows: Iterable[tuple[int, str, Any, int]], payloads: Sequence[bytes], start: int) -> Pieces:
    """Events (seq, stage, …, milliseconds since `start`) with their payloads as they are hashed, by group."""
    steps: list[bytes] = []
    prompts: list[bytes] = []
    others: list[bytes] = []
    places = {STEPS: steps, PROMPTS: prompts, EVENTS: others}
    for (seq, stage, _, at_ms), payload in zip(rows, payloads, strict=True):
        group, name = _known.get(stage) or _learned(stage)
        places[group].append(b"%d %d %b %b" % (seq, start + 1000 * at_ms, name, payload))
    return places


def event(seq: int, stage: str, at: int, payload: bytes) -> bytes:
    """The piece of one event; `at` in microseconds, the payload as it is hashed."""
    return b"%d %d %b %b" % (seq, at, (_known.get(stage) or _learned(stage))[1], payload)


def of_deciding(rows: Iterable[tuple[str, str, str, datetime]]) -> list[bytes]:
    """Rows (table, key, role, time) that decided, in order."""
    return list(in_order([[*names, microseconds(at)] for *names, at in rows])[1])


def of_calls(rows: Iterable[Mapping[str, Any]]) -> list[bytes]:
    """Model calls, by the names of their columns, in order."""
    return list(in_order([[_value(name, row[name]) for name in CALL] for row in rows])[1])


def joined(*all_of: Pieces) -> Pieces:
    """Pieces of several kinds in one."""
    return {group: pieces for one in all_of for group, pieces in one.items() if pieces}


def _value(name: str, value: Any) -> Any:
    """A value of a model call, the same whichever database it went through."""
    if value is None:
        return None
    if name in _DECIMALS:
        return str(Decimal(str(value)).quantize(_DECIMALS[name], ROUND_HALF_UP))
    if name == "success":
        return bool(value)
    if isinstance(value, datetime):
        return microseconds(value)
    return value if isinstance(value, (int, str)) else str(value)


def _learned(stage: str) -> tuple[str, bytes]:
    name = base_name(stage)
    if name in _OF_STEPS:
        group = STEPS
    else:
        asked = name.endswith(("_LLM_INPUT", "_LLM_OUTPUT")) or name == Stage.PROMPT_RENDERING
        group = PROMPTS if asked else EVENTS
    found = _known[stage] = group, stage.encode("utf-8", "replace")
    return found
