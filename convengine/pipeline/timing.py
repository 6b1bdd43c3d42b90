"""The timing record of a turn (pipeline-1 1.5, R62)."""

from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn


def audit_timing(session: Session, turn: Turn, status: str) -> None:
    """Write PIPELINE_TIMING. `status` is COMPLETED, STOPPED or FAILED; `wallMs` covers hooks and the last step too."""
    steps = sorted(turn.timings, key=lambda timing: timing.started_ms)
    turn.audit(
        session,
        Stage.PIPELINE_TIMING,
        totalMs=sum(int(timing.duration_ms) for timing in steps),
        steps=", ".join(f"{t.step}={int(t.duration_ms)}ms{'' if t.success else '(ERR)'}" for t in steps),
        stepList=[
            {
                "step": timing.step,
                "startedAtMs": round(timing.started_ms, 2),
                "durationMs": round(timing.duration_ms, 2),
                "success": timing.success,
            }
            for timing in steps
        ],
        wallMs=round(turn.ports.clock.elapsed_ms(), 2),
        status=status,
    )
