"""The timing record of a turn (pipeline-1 1.5, R62)."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any

from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn


def audit_timing(session: Session, turn: Turn, status: str) -> None:
    """Write PIPELINE_TIMING. `status` is COMPLETED, STOPPED or FAILED; `wallMs` covers hooks and the last step too.

    `llmMs` is the time of all tries of all questions to models, `toolMs` that of tools.
    """
    # Begin and end are cut off at hundredths, and not begin and length: so the end stays where it was.
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
        Stage.PIPELINE_TIMING,
        **in_words(steps),
        stepList=steps,
        wallMs=round(turn.ports.clock.elapsed_ms(), 2),
        llmMs=sum(call.answer.latency_ms for call in turn.model_calls),
        llmCalls=len(turn.model_calls),
        toolMs=int(turn.tool_ms),
        status=status,
    )


#: What it says of a turn that asked neither models nor tools.
NOBODY_ASKED = {"llmMs": 0, "llmCalls": 0, "toolMs": 0}
_started = attrgetter("started_ms")
#: What `stepList` says of each step.
STEP_KEYS = ("step", "startedAtMs", "durationMs", "success")
_values = itemgetter(*STEP_KEYS)


def in_words(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`totalMs` and `steps`, the same list as text: both follow from `stepList`."""
    took = [int(step["durationMs"]) for step in steps]
    words = [
        f"{step['step']}={one}ms{'' if step['success'] else '(ERR)'}" for step, one in zip(steps, took, strict=True)
    ]
    return {"totalMs": sum(took), "steps": ", ".join(words)}


def packed(steps: Sequence[Mapping[str, Any]]) -> str | Sequence[Mapping[str, Any]]:
    """A list of steps as one text: name, start and length in hundredths of a millisecond, a mark for a failure.

    Of a name that ends in `Step` that is left out; any other has a dot behind it. With a name that would be taken
    for something else the list stays a list.
    """
    names = [_packed_name(step["step"]) for step in steps]
    if None in names:
        return steps
    return "|".join(
        [
            f"{name} {round(at * 100)} {round(took * 100)}{'' if well else ' !'}"
            for name, (_, at, took, well) in zip(names, map(_values, steps), strict=True)
        ]
    )


@lru_cache(maxsize=1024)
def _packed_name(name: str) -> str | None:
    if " " in name or "|" in name:
        return None
    return name[:-4] if name[-4:] == "Step" else f"{name}."


def unpacked(text: str) -> list[dict[str, Any]]:
    """The list of steps that `packed` made a text of."""
    parts = [one.split(" ") for one in text.split("|")] if text else []
    return [
        {
            "step": name[:-1] if name[-1:] == "." else f"{name}Step",
            "startedAtMs": int(start) / 100,
            "durationMs": int(took) / 100,
            "success": not failed,
        }
        for name, start, took, *failed in parts
    ]
