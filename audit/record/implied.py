"""Payload keys that can be recomputed: left out when stored, restored by every reader (R33)."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, lru_cache, partial
from typing import Any

from convengine.engine.pipeline.order import DEFAULT_PIPELINE
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.pipeline.timing import NOBODY_ASKED, STEP_KEYS, describe_steps, pack_steps, unpack_steps
from convengine.engine.rules.phase_events import build_flags
from convengine.engine.rules.stages import RULE_MATCH, RULE_NO_MATCH
from convengine.engine.rules.verdict import NOT_MET
from convengine.engine.stages import base_name, source_name
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.stages import ASSISTANT_OUTPUT, DECISION

Json = Any
_STEP_CLASSES = {path.rpartition(".")[2]: path for path in DEFAULT_PIPELINE}
_STEP_ENTER, _STEP_EXIT = STEP_ENTER, STEP_EXIT
_NOT_MET: Mapping[str, Json] = {"matched": False, "reason": NOT_MET}
#: Events of rules and answers show the state at that moment.
_FOLDED: Mapping[str, Json] = {"context": {"$folded": "context"}, "schemaJson": {"$folded": "schemaJson"}}


def derive_fields(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Payload keys that can be recomputed from the stage and the other keys."""
    follows = _reader(stage)
    return follows(payload) if follows else {}


@cache
def _reader(stage: str) -> Callable[[Mapping[str, Json]], Mapping[str, Json]] | None:
    """The function for one stage; null for the many without such keys."""
    return partial(_of_rules, stage) if stage.startswith("RULE_") else _READERS.get(stage)


def _of_step(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    known = _STEP_CLASSES.get(str(payload.get("step")))
    return {"stepClass": known} if known else {}


def _of_step_exit(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    return {**_of_step(payload), "outcome": "Continue", "durationMs": 0}


def _of_timing(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    asked = NOBODY_ASKED if "wallMs" in payload else {}
    steps = payload.get("stepList") or ()
    return {**(describe_steps(steps) if isinstance(steps, (list, tuple)) else {}), **asked}


def _of_decision(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    winner = payload.get("winner")
    return {"candidates": [] if winner is None else [{"id": winner, "matched": True}]}


def _of_output(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    return _FOLDED if payload.get("responseType") != "POLICY" else {}


def _of_rules(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    known = _flags(str(payload.get("rulePhase")), stage)
    return {**known, **_of_pass(stage, payload)} if known and "candidates" in payload else known


_READERS: Mapping[str, Callable[[Mapping[str, Json]], Mapping[str, Json]]] = {
    _STEP_ENTER: _of_step,
    STEP_ERROR: _of_step,
    _STEP_EXIT: _of_step_exit,
    PIPELINE_TIMING: _of_timing,
    DECISION: _of_decision,
    ASSISTANT_OUTPUT: _of_output,
}


def strip_implied(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """The payload without keys that can be recomputed. A different value stays."""
    known = derive_fields(stage, payload)
    if not known:
        return payload
    told = {key: value for key, value in payload.items() if key not in known or known[key] != value}
    if "stepList" in told:
        told["stepList"] = pack_steps(told["stepList"])
    if "candidates" in told:
        told["candidates"] = [_short(candidate) for candidate in told["candidates"]]
    return told


def running(stage: str, payload: Mapping[str, Json], meta: Mapping[str, Json], step: str | None) -> str | None:
    """The step of an event; `step` is that of the event before it."""
    told: str | None = meta.get("step", payload.get("step") if stage == _STEP_ENTER else step)
    return told


def whole(stage: str, payload: Mapping[str, Json], step: str | None = None) -> dict[str, Json]:
    """The payload with restored keys, also from the current step; one that was stored completely stays unchanged."""
    if stage == _STEP_EXIT and step:
        payload = {"step": step, **payload}
    steps = payload.get("stepList")
    if isinstance(steps, str):
        with suppress(ValueError):  # A changed value stays as it is stored.
            payload = {**payload, "stepList": unpack_steps(steps)}
    elif isinstance(steps, list) and any(isinstance(step, list) for step in steps):
        # The older stored form.
        payload = {**payload, "stepList": [dict(zip(STEP_KEYS, step, strict=True)) for step in steps]}
    if stage.startswith("RULE_") and "candidates" in payload:
        payload = {**payload, "candidates": [_long(candidate) for candidate in payload["candidates"]]}
    return {**derive_fields(stage, payload), **payload}


def _short(candidate: Mapping[str, Json]) -> Mapping[str, Json]:
    """Nearly every tested rule that did not hold had failed comparisons."""
    if candidate.get("matched") is not False or candidate.get("reason") != NOT_MET:
        return candidate
    told = {key: value for key, value in candidate.items() if key not in _NOT_MET}
    if "operands" in told:
        told["operands"] = [
            {key: value for key, value in one.items() if key != "result" or value is not False}
            for one in told["operands"]
        ]
    return told


def _long(candidate: Mapping[str, Json]) -> Mapping[str, Json]:
    if "matched" in candidate:
        return candidate
    operands = [{"result": False, **one} for one in candidate.get("operands", ())]
    return {**candidate, **_NOT_MET, **({"operands": operands} if "operands" in candidate else {})}


@cache
def repeats_text(stage: str) -> bool:
    """True for a stage whose key holds the user's text, which is left out because the state has it."""
    return base_name(stage) == RULE_NO_MATCH


def _of_pass(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Keys that can be recomputed for an event of a pass: nearly always the first pass in the present scope."""
    key = {"phase": payload.get("rulePhase"), "intent": payload.get("intent"), "state": payload.get("state")}
    known = {"pass": 1, "key": key}
    return {**known, "evaluatedState": payload.get("state")} if repeats_text(stage) else known


@lru_cache(maxsize=1024)
def _flags(phase_name: str, stage: str) -> Mapping[str, Json]:
    """Keys that follow from the phase and the stage; nothing for an unknown phase."""
    phase = RulePhase.read(phase_name)
    if phase is None:
        return {}
    told = _FOLDED if base_name(stage) == RULE_MATCH else {}
    return {
        **{key: value for key, value in build_flags(phase, source_name(stage)).items() if key != "rulePhase"},
        **told,
    }
