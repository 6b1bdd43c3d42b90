"""The timing record of a turn (pipeline-1 1.5, R62)."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any

from convengine.engine.pipeline.stages import PIPELINE_TIMING
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


def audit_timing(session: Session, turn: Turn, status: str) -> None:
    """Write PIPELINE_TIMING. `status` is COMPLETED, STOPPED or FAILED; `wallMs` includes hooks and the last step.

    `llmMs` is the time of all attempts of all model calls, `toolMs` that of tools.
    """
    # Cut start and end to hundredths, not the length, so that the end stays exact.
    steps = [
        {
            "step": step,
            "startedAtMs": (start := int(started * 100)) / 100,
            "durationMs": (int((started + took) * 100) - start) / 100,
            "success": success,
        }
        for step, started, took, success, *_ in sorted(turn.timings, key=_started)
    ]
    turn.audit(
        session,
        PIPELINE_TIMING,
        **describe_steps(steps),
        stepList=steps,
        wallMs=round(turn.ports.clock.elapsed_ms(), 2),
        llmMs=sum(call.answer.latency_ms for call in turn.model_calls),
        llmCalls=len(turn.model_calls),
        toolMs=int(turn.tool_ms),
        status=status,
    )


#: The values of a turn without model and tool calls.
NOBODY_ASKED = {"llmMs": 0, "llmCalls": 0, "toolMs": 0}
_started = attrgetter("started_ms")
#: Keys of a step in `stepList`.
STEP_KEYS = ("step", "startedAtMs", "durationMs", "success")
_values = itemgetter(*STEP_KEYS)


def describe_steps(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`totalMs` and `steps`, the same list as text; both follow from `stepList`."""
    took = [int(step["durationMs"]) for step in steps]
    words = [
        f"{step['step']}={duration}ms{'' if step['success'] else '(ERR)'}"
        for step, duration in zip(steps, took, strict=True)
    ]
    return {"totalMs": sum(took), "steps": ", ".join(words)}


def pack_steps(steps: Sequence[Mapping[str, Any]]) -> str | Sequence[Mapping[str, Any]]:
    """Encode a list of steps as one text: name, start and length in hundredths of a millisecond, a mark for a failure.

    The ending `Step` of a name is left out; other names end with a dot. If a name would be ambiguous, the list stays a
    list.
    """
    names = [_shorten_name(step["step"]) for step in steps]
    if None in names:
        return steps
    return "|".join(
        [
            f"{name} {round(at * 100)} {round(took * 100)}{'' if well else ' !'}"
            for name, (_, at, took, well) in zip(names, map(_values, steps), strict=True)
        ]
    )


@lru_cache(maxsize=1024)
def _shorten_name(name: str) -> str | None:
    if " " in name or "|" in name:
        return None
    return name[:-4] if name[-4:] == "Step" else f"{name}."


def unpack_steps(text: str) -> list[dict[str, Any]]:
    """Decode the text of `packed`."""
    parts = [entry.split(" ") for entry in text.split("|")] if text else []
    return [
        {
            "step": name[:-1] if name[-1:] == "." else f"{name}Step",
            "startedAtMs": int(start) / 100,
            "durationMs": int(took) / 100,
            "success": not failed,
        }
        for name, start, took, *failed in parts
    ]
