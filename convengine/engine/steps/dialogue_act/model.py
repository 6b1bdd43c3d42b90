"""The dialogue act and the rewritten message from a model. A fault of the model is not an error here.

Source: pipeline-1 8.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convengine.engine.dialogue import settings as catalogue
from convengine.engine.dialogue.classify import ClassifiedAct
from convengine.engine.errors import ConvEngineError
from convengine.engine.llm.ask import Question, Stages, ask
from convengine.engine.llm.reply import read_confidence
from convengine.engine.prompts.fill import fill_prompts
from convengine.engine.steps.dialogue_act.stages import (
    DIALOGUE_ACT_LLM_ERROR,
    DIALOGUE_ACT_LLM_INPUT,
    DIALOGUE_ACT_LLM_OUTPUT,
)
from convengine.engine.text.compare import blank
from convengine.engine.turn.enums import DialogueAct
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

LOW_CONFIDENCE = "LLM_LOW_CONFIDENCE"
_STAGES = Stages(DIALOGUE_ACT_LLM_INPUT, DIALOGUE_ACT_LLM_OUTPUT)
#: System prompt, user prompt and schema of the call without and with rewriting.
_PLAIN = (catalogue.SYSTEM_PROMPT, catalogue.USER_PROMPT, catalogue.SCHEMA_PROMPT)
_REWRITING = (
    catalogue.QUERY_REWRITE_SYSTEM_PROMPT,
    catalogue.QUERY_REWRITE_USER_PROMPT,
    catalogue.QUERY_REWRITE_SCHEMA_PROMPT,
)


@dataclass(frozen=True)
class ModelAct:
    """The model's act and rewritten query; `unsure` if its confidence is too low."""

    act: ClassifiedAct
    query: str | None = None
    unsure: bool = False


def ask_act(session: Session, turn: Turn) -> ModelAct | None:
    """The model's answer; null if there is no readable one, with DIALOGUE_ACT_LLM_ERROR."""
    rewriting = bool(session.history) and turn.config(session, catalogue.QUERY_REWRITE_ENABLED)
    try:
        question = _build_question(session, turn, rewriting)
    except ConvEngineError as error:
        return _report_no_answer(session, turn, error.message, "PromptRender")
    reply = ask(session, turn, question)
    if isinstance(reply.value, Mapping):
        return _read_answer(reply.value, session, turn)
    if reply.error is None or not blank(reply.text):
        return _report_no_answer(session, turn, "The answer is not a JSON object.", "InvalidJson")
    return _report_no_answer(session, turn, reply.error.message, reply.error.name)


def _build_question(session: Session, turn: Turn, rewriting: bool) -> Question:
    system, user, schema = _REWRITING if rewriting else _PLAIN
    prompts = fill_prompts(
        session, turn, system=turn.config(session, system), user=turn.config(session, user), selected=user.name
    )
    # Not asked again, because the patterns have an act already, and a second call would cost more than it is worth.
    return Question(
        "DIALOGUE_ACT",
        prompts.system,
        prompts.user,
        json_schema=turn.config(session, schema),
        lenient=True,
        stages=_STAGES,
    )


def _read_answer(said: Mapping[str, Any], session: Session, turn: Turn) -> ModelAct | None:
    act = DialogueAct.read(said.get("dialogueAct"))
    if act is None:
        return _report_no_answer(
            session, turn, f"{said.get('dialogueAct')!r} is not a dialogue act.", "UnknownDialogueAct"
        )
    confidence, query = read_confidence(said.get("confidence")) or 0.0, said.get("standaloneQuery")
    return ModelAct(
        ClassifiedAct(act, confidence),
        query.strip() or None if isinstance(query, str) else None,
        confidence < turn.config(session, catalogue.LLM_MIN_CONFIDENCE),
    )


def _report_no_answer(session: Session, turn: Turn, message: str, exception: str) -> ModelAct | None:
    turn.audit(session, DIALOGUE_ACT_LLM_ERROR, message=message, exception=exception)
    return None
