"""The pieces of a turn for its seal: the same bytes from events and from stored rows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.prompts.stages import PROMPT_RENDERING
from convengine.engine.stages import base_name
from convengine.engine.turn.codec import dump_in_order
from convengine.engine.turn.seal import EVENTS, PROMPTS, STEPS, Pieces

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_OF_STEPS = (STEP_ENTER, STEP_EXIT)
#: The number of decimals of the columns.
_DECIMALS = {"temperature": Decimal("0.01"), "cost": Decimal("0.000000001")}
#: The sealed columns of a model call, in order.
CALL = (
    *("conversation_id", "turn_id", "turn_no", "config_version", "created_at", "intent_code", "state_code"),
    *("provider", "model", "temperature", "prompt_text", "user_context", "response_text", "success", "error_message"),
    *("purpose", "attempt", "latency_ms", "input_tokens", "output_tokens", "cost", "template_id"),
)
#: Known stages: group, and name as bytes.
_known: dict[str, tuple[str, bytes]] = {}


def microseconds(at: datetime) -> int:
    """A time as a whole number."""
    return (at - _EPOCH) // _MICROSECOND


def group_of(stage: str) -> str:
    """The group of a stage's events."""
    return (_known.get(stage) or _learn_stage(stage))[0]


def build_event_pieces(rows: Iterable[tuple[int, str, Any, int]], payloads: Sequence[bytes], start: int) -> Pieces:
    """Events (seq, stage, …, milliseconds since `start`) with their hashed payloads, by group."""
    steps: list[bytes] = []
    prompts: list[bytes] = []
    others: list[bytes] = []
    places = {STEPS: steps, PROMPTS: prompts, EVENTS: others}
    for (seq, stage, _, at_ms), payload in zip(rows, payloads, strict=True):
        group, name = _known.get(stage) or _learn_stage(stage)
        places[group].append(b"%d %d %b %b" % (seq, start + 1000 * at_ms, name, payload))
    return places


def encode_event(seq: int, stage: str, at: int, payload: bytes) -> bytes:
    """The piece of one event; `at` in microseconds, the payload in hashed form."""
    return b"%d %d %b %b" % (seq, at, (_known.get(stage) or _learn_stage(stage))[1], payload)


def encode_deciding_rows(rows: Iterable[tuple[str, str, str, datetime]]) -> list[bytes]:
    """Deciding rows (table, key, role, time), in order."""
    return list(dump_in_order([[*names, microseconds(at)] for *names, at in rows])[1])


def encode_calls(rows: Iterable[Mapping[str, Any]]) -> list[bytes]:
    """Model calls, by column name, in order."""
    return list(dump_in_order([[_encode_value(name, row[name]) for name in CALL] for row in rows])[1])


def _encode_value(name: str, value: Any) -> Any:
    """A value of a model call, the same from every database."""
    if value is None:
        return None
    if name in _DECIMALS:
        return str(Decimal(str(value)).quantize(_DECIMALS[name], ROUND_HALF_UP))
    if name == "success":
        return bool(value)
    if isinstance(value, datetime):
        return microseconds(value)
    return value if isinstance(value, (int, str)) else str(value)


def _learn_stage(stage: str) -> tuple[str, bytes]:
    name = base_name(stage)
    if name in _OF_STEPS:
        group = STEPS
    else:
        is_prompt = name.endswith(("_LLM_INPUT", "_LLM_OUTPUT")) or name == PROMPT_RENDERING
        group = PROMPTS if is_prompt else EVENTS
    learned = _known[stage] = group, stage.encode("utf-8", "replace")
    return learned
