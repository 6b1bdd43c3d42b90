"""The answer to an intent collision: the question which intent is meant, worded by a model if there is one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from convengine.engine.clarification.collision import build_question
from convengine.engine.clarification.settings import (
    COLLISION_DERIVATION_HINT,
    COLLISION_SYSTEM_PROMPT,
    COLLISION_USER_PROMPT,
)
from convengine.engine.clarification.stages import (
    INTENT_COLLISION_DETECTED,
    INTENT_COLLISION_RESOLVED,
    RESOLVE_RESPONSE_LLM_ERROR,
    RESOLVE_RESPONSE_LLM_INPUT,
    RESOLVE_RESPONSE_LLM_OUTPUT,
)
from convengine.engine.llm.ask import Question, Stages, ask
from convengine.engine.prompts.fill import fill_prompts_or_audit
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.facts import collect_schema_values
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.trail import FOLDED
from convengine.engine.turn.turn import Turn

Json = Any
#: How many intents the question names if there are no candidates.
_NAMED = 3
_STAGES = Stages(RESOLVE_RESPONSE_LLM_INPUT, RESOLVE_RESPONSE_LLM_OUTPUT, RESOLVE_RESPONSE_LLM_ERROR)


def is_askable(session: Session, snapshot: Snapshot) -> bool:
    asked = session.clarification
    return bool((asked and not blank(asked.question)) or _list_choices(session, snapshot))


def ask_collision_question(session: Session, turn: Turn) -> tuple[Session, str]:
    """Write the question with its two stages and store it in the session.

    If the model fails or a prompt cannot be rendered, the built question is used.
    """
    turn.audit(session, INTENT_COLLISION_DETECTED, intent=session.intent, state=session.state)
    meant = _list_choices(session, turn.snapshot)
    text = _ask_model(session, turn, meant) or _build_question(session, turn.snapshot, meant)
    if session.clarification:
        session = session.evolve(clarification=replace(session.clarification, question=text))
    turn.audit(
        session,
        INTENT_COLLISION_RESOLVED,
        output=text,
        intent=session.intent,
        state=session.state,
        context=session.context,
        schemaJson=collect_schema_values(session),
    )
    return session, text


def _list_choices(session: Session, snapshot: Snapshot) -> list[dict[str, Json]]:
    """The intents to choose from, with display names: the offered ones, else the best scored ones, else the first
    ones.
    """
    params, asked = session.input_params, session.clarification
    for listed in (params.get("intent_top3"), asked.options if asked else ()):
        found = [one for one in listed or () if isinstance(one, Mapping) and snapshot.row(rows.Intent, _read_code(one))]
        if found:
            return [{**one, "name": _get_name(snapshot, _read_code(one))} for one in found]
    shown = [intent.intent_code for intent in snapshot.allowed_intents if not blank(intent.display_name)]
    return [{"intent": intent, "name": _get_name(snapshot, intent)} for intent in shown[:_NAMED]]


def _read_code(one: Mapping[str, Json]) -> str:
    return code(str(one.get("intent") or ""))


def _get_name(snapshot: Snapshot, intent: str) -> str:
    row = snapshot.row(rows.Intent, intent)
    return row.name if row else intent


def _build_question(session: Session, snapshot: Snapshot, meant: Sequence[Mapping[str, Json]]) -> str:
    """The stored question, else a question built from names."""
    asked = session.clarification
    if asked and not blank(asked.question):
        return asked.question
    names = [one["name"] for one in meant]
    return build_question(names) if len(names) > 1 else f"Do you mean {names[0]}?"


def _ask_model(session: Session, turn: Turn, meant: Sequence[Mapping[str, Json]]) -> str:
    """The question in the model's words, or blank."""
    if not turn.ports.model.configured:
        return ""
    prompts = fill_prompts_or_audit(
        session,
        turn,
        RESOLVE_RESPONSE_LLM_ERROR,
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
