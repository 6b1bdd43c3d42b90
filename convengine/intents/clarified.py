"""The answer to a collision of intents: the question which one is meant, in a model's words where there is one.

pipeline-1 14.6, pipeline-2 9.7
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from convengine.domain import rows
from convengine.domain.catalogue.intents import (
    COLLISION_DERIVATION_HINT,
    COLLISION_SYSTEM_PROMPT,
    COLLISION_USER_PROMPT,
)
from convengine.domain.facts import schema_values
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import Stage
from convengine.domain.text import blank, code
from convengine.domain.trail import FOLDED
from convengine.domain.turn import Turn
from convengine.intents.collision import question
from convengine.llm.ask import Question, Stages, ask
from convengine.prompts.fill import filled_or_told

Json = Any
#: How many intents are named where nobody says which ones are meant.
_NAMED = 3
_STAGES = Stages(Stage.RESOLVE_RESPONSE_LLM_INPUT, Stage.RESOLVE_RESPONSE_LLM_OUTPUT, Stage.RESOLVE_RESPONSE_LLM_ERROR)


def is_askable(session: Session, snapshot: Snapshot) -> bool:
    """True when there is anything to ask about."""
    asked = session.clarification
    return bool((asked and not blank(asked.question)) or _meant(session, snapshot))


def clarified(session: Session, turn: Turn) -> tuple[Session, str]:
    """The question, with its two stages; the session remembers it as it was put.

    A model that is out, and prompts that cannot be rendered, leave the question that was built.
    """
    turn.audit(session, Stage.INTENT_COLLISION_DETECTED, intent=session.intent, state=session.state)
    meant = _meant(session, turn.snapshot)
    text = _worded(session, turn, meant) or _built(session, turn.snapshot, meant)
    if session.clarification:
        session = session.evolve(clarification=replace(session.clarification, question=text))
    turn.audit(
        session,
        Stage.INTENT_COLLISION_RESOLVED,
        output=text,
        intent=session.intent,
        state=session.state,
        context=session.context,
        schemaJson=schema_values(session),
    )
    return session, text


def _meant(session: Session, snapshot: Snapshot) -> list[dict[str, Json]]:
    """The intents to choose from, each with its display name: those offered, else the best scored, else the first."""
    params, asked = session.input_params, session.clarification
    for listed in (params.get("intent_top3"), asked.options if asked else ()):
        found = [one for one in listed or () if isinstance(one, Mapping) and snapshot.row(rows.Intent, _code(one))]
        if found:
            return [{**one, "name": _name(snapshot, _code(one))} for one in found]
    shown = [intent.intent_code for intent in snapshot.allowed_intents if not blank(intent.display_name)]
    return [{"intent": intent, "name": _name(snapshot, intent)} for intent in shown[:_NAMED]]


def _code(one: Mapping[str, Json]) -> str:
    return code(str(one.get("intent") or ""))


def _name(snapshot: Snapshot, intent: str) -> str:
    row = snapshot.row(rows.Intent, intent)
    return row.name if row else intent


def _built(session: Session, snapshot: Snapshot, meant: Sequence[Mapping[str, Json]]) -> str:
    """The stored question; else one made of names."""
    asked = session.clarification
    if asked and not blank(asked.question):
        return asked.question
    names = [one["name"] for one in meant]
    return question(names) if len(names) > 1 else f"Do you mean {names[0]}?"


def _worded(session: Session, turn: Turn, meant: Sequence[Mapping[str, Json]]) -> str:
    """The question in the model's words; blank when it has none."""
    if not turn.ports.model.configured:
        return ""
    prompts = filled_or_told(
        session,
        turn,
        Stage.RESOLVE_RESPONSE_LLM_ERROR,
        system=turn.config(session, COLLISION_SYSTEM_PROMPT),
        user=turn.config(session, COLLISION_USER_PROMPT),
        hint=turn.config(session, COLLISION_DERIVATION_HINT),
        selected={"configType": COLLISION_SYSTEM_PROMPT.type},
        intent_top3=meant,
        followups=session.input_params.get("followups") or [],
    )
    if prompts is None:
        return ""
    reply = ask(
        session,
        turn,
        Question(
            "COLLISION",
            prompts.system,
            prompts.asked,
            context=session.context,
            stages=_STAGES,
            told={
                "system_prompt": prompts.system,
                "user_prompt": prompts.user,
                "derivation_hint": prompts.hint,
                "session": FOLDED,
            },
            answered="output",
        ),
    )
    return "" if reply.error else reply.text.strip()
