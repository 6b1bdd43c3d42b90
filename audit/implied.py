"""What an event says that follows from the rest of it: left out when it is stored, put back by every reader (R33)."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, lru_cache, partial
from typing import Any

from audit.stage_names import base_name, source_name
from convengine.domain.enums import RulePhase
from convengine.domain.stages import Stage
from convengine.pipeline.timing import NOBODY_ASKED, STEP_KEYS, in_words, packed, unpacked
from convengine.rules.telling import flags
from convengine.rules.verdict import NOT_MET

Json = Any
_STEP_ENTER, _STEP_EXIT = Stage.STEP_ENTER.value, Stage.STEP_EXIT.value
_NOT_MET: Mapping[str, Json] = {"matched": False, "reason": NOT_MET}
#: Where a rule holds, and where the answer is made, the event shows what was seen.
_FOLDED: Mapping[str, Json] = {"context": {"$folded": "context"}, "schemaJson": {"$folded": "schemaJson"}}


def implied(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """What follows at an event from its stage and the other keys; never a key that something follows from."""
    follows = _reader(stage)
    return follows(payload) if follows else {}


@cache
def _reader(stage: str) -> Callable[[Mapping[str, Json]], Mapping[str, Json]] | None:
    """What gives that for one stage; null for the many of which nothing follows."""
    return partial(_of_rules, stage) if stage.startswith("RULE_") else _READERS.get(stage)


def _of_step(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    return {"stepClass": _class_of(str(payload.get("step")))}


def _of_step_exit(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    return {**_of_step(payload), "outcome": "Continue", "durationMs": 0}


def _of_timing(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    asked = NOBODY_ASKED if "wallMs" in payload else {}
    steps = payload.get("stepList") or ()
    return {**(in_words(steps) if isinstance(steps, (list, tuple)) else {}), **asked}


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
    Stage.STEP_ERROR.value: _of_step,
    _STEP_EXIT: _of_step_exit,
    Stage.PIPELINE_TIMING.value: _of_timing,
    Stage.DECISION.value: _of_decision,
    Stage.ASSISTANT_OUTPUT.value: _of_output,
}


def shortened(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """The payload without what follows. A value other than the one that would follow stays."""
    known = implied(stage, payload)
    if not known:
        return payload
    told = {key: value for key, value in payload.items() if key not in known or known[key] != value}
    if "stepList" in told:
        told["stepList"] = packed(told["stepList"])
    if "candidates" in told:
        told["candidates"] = [_short(candidate) for candidate in told["candidates"]]
    return told


def running(stage: str, payload: Mapping[str, Json], meta: Mapping[str, Json], step: str | None) -> str | None:
    """The step that an event belongs to; `step` is that of the event before it."""
    told: str | None = meta.get("step", payload.get("step") if stage == _STEP_ENTER else step)
    return told


def whole(stage: str, payload: Mapping[str, Json], step: str | None = None) -> dict[str, Json]:
    """The payload with what follows, also from the running step; of one that was stored whole, itself."""
    if stage == _STEP_EXIT and step:
        payload = {"step": step, **payload}
    steps = payload.get("stepList")
    if isinstance(steps, str):
        with suppress(ValueError):  # Somebody changed it: then it stays as it stands.
            payload = {**payload, "stepList": unpacked(steps)}
    elif isinstance(steps, list) and any(isinstance(step, list) for step in steps):
        # As it was stored once.
        payload = {**payload, "stepList": [dict(zip(STEP_KEYS, step, strict=True)) for step in steps]}
    if stage.startswith("RULE_") and "candidates" in payload:
        payload = {**payload, "candidates": [_long(candidate) for candidate in payload["candidates"]]}
    return {**implied(stage, payload), **payload}


def _short(candidate: Mapping[str, Json]) -> Mapping[str, Json]:
    """Nearly every rule that was tested and did not hold was not met, and nearly every comparison of it failed."""
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
    """True for a stage whose key holds the user's text: it is left out there, and readers take it from the state."""
    return base_name(stage) == Stage.RULE_NO_MATCH


def _of_pass(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """What follows at an event that tells of a pass of rules: nearly always the first, where the session stands."""
    key = {"phase": payload.get("rulePhase"), "intent": payload.get("intent"), "state": payload.get("state")}
    known = {"pass": 1, "key": key}
    return {**known, "evaluatedState": payload.get("state")} if repeats_text(stage) else known


@cache
def _class_of(step: str) -> str:
    """The class of a built-in step: it lives in the module of its name. Others are stored with theirs."""
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", step.removesuffix("Step")).lower()
    return f"convengine.steps.{module}.{step}"


@lru_cache(maxsize=1024)
def _flags(phase_name: str, stage: str) -> Mapping[str, Json]:
    """What follows from the phase and the stage, the same at every event; nothing for a phase that there is not."""
    phase = RulePhase.read(phase_name)
    if phase is None:
        return {}
    told = _FOLDED if base_name(stage) == Stage.RULE_MATCH else {}
    return {**{key: value for key, value in flags(phase, source_name(stage)).items() if key != "rulePhase"}, **told}
