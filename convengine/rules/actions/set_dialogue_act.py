"""SET_DIALOGUE_ACT: overrule what the user was found to do with the message (pipeline-2 7.4)."""

import json
from dataclasses import dataclass
from typing import Any

from convengine.domain.enums import DialogueAct
from convengine.domain.rows import Rule
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.rules.actions.contract import ActionValueError, audit, one_of, required

VALUE = "a dialogue act"
#: Where an act comes from that a rule has set.
SOURCE = "RULE"
USAGE = f'Use one of {one_of(list(DialogueAct))}, or JSON with "dialogueAct".'


@dataclass(frozen=True)
class ActOverride:
    """The act, and what else the value says; null where it says nothing."""

    act: DialogueAct
    confidence: float | None = None
    source: str | None = None
    #: The key was given: a blank query clears the rewrite.
    sets_query: bool = False
    query: str | None = None


def parse(value: str | None) -> ActOverride:
    """An act name, or JSON {dialogueAct, confidence?, source?, standaloneQuery?}. Raises ActionValueError."""
    text = required("SET_DIALOGUE_ACT", value, VALUE)
    if not text.startswith("{"):
        return ActOverride(_act(text))
    try:
        said = json.loads(text)
    except ValueError:
        raise ActionValueError(USAGE) from None
    query = _either(said, "standaloneQuery", "standalone_query")
    return ActOverride(
        _act(_either(said, "dialogueAct", "dialogue_act")),
        _confidence(said.get("confidence")),
        str(source) if not blank(source := _either(said, "source", "dialogueActSource")) else None,
        "standaloneQuery" in said or "standalone_query" in said,
        str(query) if query is not None else None,
    )


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Write the act to the input params, the query to the session. Raises ActionValueError."""
    said = parse(rule.action_value)
    # With no source given it is the rule: the old one would claim an act that it did not find (pipeline-1 8.6).
    params: dict[str, Any] = {"dialogue_act": said.act.value, "dialogue_act_source": said.source or SOURCE}
    if said.confidence is not None:
        params["dialogue_act_confidence"] = said.confidence
    session = session.with_params(params)
    if said.sets_query:
        session = session.with_query(said.query)
        session = session.evolve(query_rewritten=session.standalone_query is not None)
    audit(
        rule,
        session,
        turn,
        Stage.SET_DIALOGUE_ACT,
        dialogueAct=said.act.value,
        dialogueActConfidence=session.input_params.get("dialogue_act_confidence"),
        dialogueActSource=session.input_params.get("dialogue_act_source"),
        standaloneQuery=session.standalone_query,
    )
    return session


def _either(said: dict[str, Any], one: str, other: str) -> Any:
    return said.get(one, said.get(other))


def _act(name: object) -> DialogueAct:
    act = DialogueAct.read(name)
    if act is None:
        raise ActionValueError(USAGE)
    return act


def _confidence(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 <= value <= 1:
        raise ActionValueError("confidence must be between 0 and 1.", "OUT_OF_RANGE")
    return float(value)
