"""What an event says that follows from the rest of it: left out when it is stored, put back by every reader (R33)."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from audit.stage_names import base_name, source_name
from convengine.domain.enums import RulePhase
from convengine.domain.stages import Stage
from convengine.pipeline.timing import in_words, packed, unpacked
from convengine.rules.telling import flags

Json = Any


def implied(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """What follows at an event from its stage and the other keys; never a key that something follows from."""
    if stage in (Stage.STEP_ENTER, Stage.STEP_ERROR):
        return {"stepClass": _class_of(str(payload.get("step")))}
    if stage == Stage.STEP_EXIT:
        return {"stepClass": _class_of(str(payload.get("step"))), "outcome": "Continue", "durationMs": 0}
    if stage == Stage.PIPELINE_TIMING:
        return in_words(payload.get("stepList") or ())
    if stage.startswith("RULE_") and (phase := RulePhase.read(payload.get("rulePhase"))):
        return {**_flags(phase, source_name(stage)), **_of_pass(stage, payload)}
    return {}


def shortened(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """The payload without what follows. A value other than the one that would follow stays."""
    known = implied(stage, payload)
    if not known:
        return payload
    told = {key: value for key, value in payload.items() if key not in known or known[key] != value}
    return {**told, "stepList": packed(told["stepList"])} if "stepList" in told else told


def whole(stage: str, payload: Mapping[str, Json]) -> dict[str, Json]:
    """The payload with what follows; of one that was stored whole, as without `_meta`, itself."""
    if isinstance(steps := payload.get("stepList"), str):
        payload = {**payload, "stepList": unpacked(steps)}
    return {**implied(stage, payload), **payload}


@cache
def repeats_text(stage: str) -> bool:
    """True for a stage whose key holds the user's text: it is left out there, and readers take it from the state."""
    return base_name(stage) == Stage.RULE_NO_MATCH


def _of_pass(stage: str, payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """What follows at an event that tells of a pass of rules: nearly always the first, where the session stands."""
    if "candidates" not in payload:
        return {}
    key = {"phase": payload.get("rulePhase"), "intent": payload.get("intent"), "state": payload.get("state")}
    known = {"pass": 1, "key": key}
    return {**known, "evaluatedState": payload.get("state")} if repeats_text(stage) else known


@cache
def _class_of(step: str) -> str:
    """The class of a built-in step: it lives in the module of its name. Others are stored with theirs."""
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", step.removesuffix("Step")).lower()
    return f"convengine.steps.{module}.{step}"


@cache
def _flags(phase: RulePhase, source: str) -> Mapping[str, Json]:
    return {key: value for key, value in flags(phase, source).items() if key != "rulePhase"}
