"""The timing record of a turn."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from convengine.engine.pipeline.stages import PIPELINE_TIMING
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


def audit_timing(session: Session, turn: Turn, status: str) -> None:
    """Write PIPELINE_TIMING. `status` is COMPLETED, STOPPED or FAILED; `wallMs` includes hooks and the last step.

    A step that had nothing to do has the reason in `notNeeded`. `llmMs` is the time of all attempts of all
    model calls, `toolMs` that of tools.
    """
    # Cut start and end to hundredths, not the length, so that the end stays exact.
    steps = [
        {
            "step": step,
            "startedAtMs": (start := int(started * 100)) / 100,
            "durationMs": (int((started + took) * 100) - start) / 100,
            "success": success,
            **({"notNeeded": idle} if idle else {}),
        }
        for step, started, took, success, *_, idle in sorted(turn.timings, key=_started)
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


_started = attrgetter("started_ms")


def describe_steps(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`totalMs` and `steps`, the same list as text; both follow from `stepList`."""
    took = [int(step["durationMs"]) for step in steps]
    words = [
        f"{step['step']}={duration}ms{'' if step['success'] else '(ERR)'}"
        for step, duration in zip(steps, took, strict=True)
    ]
    return {"totalMs": sum(took), "steps": ", ".join(words)}
