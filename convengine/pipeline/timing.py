"""The timing record of a turn (pipeline-1 1.5, R62)."""

from collections.abc import Mapping, Sequence
from typing import Any

from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn

#: What `stepList` says of each step.
STEP_KEYS = ("step", "startedAtMs", "durationMs", "success")


def audit_timing(session: Session, turn: Turn, status: str) -> None:
    """Write PIPELINE_TIMING. `status` is COMPLETED, STOPPED or FAILED; `wallMs` covers hooks and the last step too."""
    steps = [
        {"step": step, "startedAtMs": _hundredths(started), "durationMs": _hundredths(took), "success": success}
        for step, started, took, success, _ in sorted(turn.timings, key=lambda timing: timing.started_ms)
    ]
    turn.audit(
        session,
        Stage.PIPELINE_TIMING,
        **in_words(steps),
        stepList=steps,
        wallMs=round(turn.ports.clock.elapsed_ms(), 2),
        status=status,
    )


def _hundredths(milliseconds: float) -> float:
    return int(milliseconds * 100) / 100


def in_words(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`totalMs` and `steps`, the same list as text: both follow from `stepList`."""
    return {
        "totalMs": sum(int(step["durationMs"]) for step in steps),
        "steps": ", ".join(
            f"{step['step']}={int(step['durationMs'])}ms{'' if step['success'] else '(ERR)'}" for step in steps
        ),
    }
