"""SET_DIALOGUE_ACT: override the dialogue act."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from convengine.engine.rules.actions.contract import (
    Action,
    ActionValueError,
    Write,
    audit_action,
    require_value,
)
from convengine.engine.rules.stages import SET_DIALOGUE_ACT
from convengine.engine.text.compare import blank
from convengine.engine.turn.codec import loads
from convengine.engine.turn.enums import DialogueAct, RuleAction
from convengine.engine.turn.owned_params import DialogueParams
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

VALUE = "a dialogue act"
#: Source of a dialogue act that a rule set.
SOURCE = "RULE"
USAGE = f'Use one of {", ".join(DialogueAct)}, or JSON with "dialogueAct".'


@dataclass(frozen=True)
class ActOverride:
    """The act and the other parts of the value; None for missing parts."""

    act: DialogueAct
    confidence: float | None = None
    source: str | None = None
    #: The key was given: a blank query clears the rewritten one.
    sets_query: bool = False
    query: str | None = None


def parse(value: str | None) -> ActOverride:
    """An act name, or JSON {dialogueAct, confidence?, source?, standaloneQuery?}. Raises ActionValueError."""
    text = require_value("SET_DIALOGUE_ACT", value, VALUE)
    if not text.startswith("{"):
        return ActOverride(_read_act(text))
    try:
        wanted = loads(text)
    except ValueError:
        raise ActionValueError(USAGE) from None
    query = _get_either(wanted, "standaloneQuery", "standalone_query")
    return ActOverride(
        _read_act(_get_either(wanted, "dialogueAct", "dialogue_act")),
        _read_confidence(wanted.get("confidence")),
        str(source) if not blank(source := _get_either(wanted, "source", "dialogueActSource")) else None,
        "standaloneQuery" in wanted or "standalone_query" in wanted,
        str(query) if query is not None else None,
    )


def apply(rule: Rule, session: Session, turn: Turn) -> Session:
    """Write the act to the input params, the query to the session. Raises ActionValueError."""
    wanted = parse(rule.action_value)
    # Without a source, the rule is the source: the old one did not find this act.
    session = session.with_values(
        DialogueParams(dialogue_act=wanted.act.value, dialogue_act_source=wanted.source or SOURCE)
    )
    if wanted.confidence is not None:
        session = session.with_values(DialogueParams(dialogue_act_confidence=wanted.confidence))
    if wanted.sets_query:
        session = session.with_query(wanted.query)
        session = session.evolve(query_rewritten=session.standalone_query is not None)
    audit_action(
        rule,
        session,
        turn,
        SET_DIALOGUE_ACT,
        dialogueAct=wanted.act.value,
        dialogueActConfidence=session.dialogue.dialogue_act_confidence,
        dialogueActSource=session.dialogue.dialogue_act_source,
        standaloneQuery=session.standalone_query,
    )
    return session


def _get_either(wanted: dict[str, Any], name: str, alias: str) -> Any:
    return wanted.get(name, wanted.get(alias))


def _read_act(name: object) -> DialogueAct:
    """The act of a name. Raises ActionValueError."""
    act = DialogueAct.read(name)
    if act is None:
        raise ActionValueError(USAGE)
    return act


def _read_confidence(value: object) -> float | None:
    """A confidence from 0 to 1. Returns None for what is no number. Raises ActionValueError for another number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 <= value <= 1:
        raise ActionValueError("confidence must be between 0 and 1.", "OUT_OF_RANGE")
    return float(value)


def _list_writes(override: ActOverride) -> Iterator[Write]:
    yield Write(("inputParams", "dialogue_act"), override.act.value)
    if override.sets_query:
        yield Write(("standaloneQuery",), override.query)


ACTION = Action(
    RuleAction.SET_DIALOGUE_ACT.value,
    RuleAction.SET_DIALOGUE_ACT.label,
    help="Overrides the dialogue act. Only works in the phase “After the dialogue act”.",
    value=VALUE,
    picker="act",
    parse=parse,
    apply=apply,
    describe=lambda override: f"set dialogue act to {override.act.value}",
    writes=_list_writes,
)
