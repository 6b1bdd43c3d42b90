"""What a model takes a message for, and how it restates it (pipeline-1 8.3). A fault of the model is no fault here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convengine.dialogue.classify import FoundAct
from convengine.domain.catalogue import dialogue as catalogue
from convengine.domain.enums import DialogueAct
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.errors import ConvEngineError
from convengine.llm.ask import Question, Stages, ask
from convengine.llm.confidence import confidence_of
from convengine.prompts.fill import filled

LOW_CONFIDENCE = "LLM_LOW_CONFIDENCE"
_STAGES = Stages(Stage.DIALOGUE_ACT_LLM_INPUT, Stage.DIALOGUE_ACT_LLM_OUTPUT)
#: System prompt, user prompt and schema of the call without and with the restating.
_PLAIN = (catalogue.SYSTEM_PROMPT, catalogue.USER_PROMPT, catalogue.SCHEMA_PROMPT)
_REWRITING = (
    catalogue.QUERY_REWRITE_SYSTEM_PROMPT,
    catalogue.QUERY_REWRITE_USER_PROMPT,
    catalogue.QUERY_REWRITE_SCHEMA_PROMPT,
)


@dataclass(frozen=True)
class Said:
    """The model's act and restated query; `unsure` when its confidence is too low to be used."""

    act: FoundAct
    query: str | None = None
    unsure: bool = False


def ask_act(session: Session, turn: Turn) -> Said | None:
    """The model's answer, or null when it gave none that can be read; DIALOGUE_ACT_LLM_ERROR then says why."""
    rewriting = bool(session.history) and turn.config(session, catalogue.QUERY_REWRITE_ENABLED)
    try:
        question = _question(session, turn, rewriting)
    except ConvEngineError as error:
        return _nothing(session, turn, error.message, "PromptRender")
    reply = ask(session, turn, question)
    if isinstance(reply.value, Mapping):
        return _read(reply.value, session, turn)
    if reply.error is None or not blank(reply.text):
        return _nothing(session, turn, "The answer is no JSON object.", "InvalidJson")
    return _nothing(session, turn, reply.error.message, reply.error.name)


def _question(session: Session, turn: Turn, rewriting: bool) -> Question:
    system, user, schema = _REWRITING if rewriting else _PLAIN
    prompts = filled(
        session, turn, system=turn.config(session, system), user=turn.config(session, user), selected=user.name
    )
    # Asked once: the patterns have an act already, and a second question would cost the turn more than it is worth.
    return Question(
        "DIALOGUE_ACT",
        prompts.system,
        prompts.user,
        json_schema=turn.config(session, schema),
        lenient=True,
        stages=_STAGES,
    )


def _read(said: Mapping[str, Any], session: Session, turn: Turn) -> Said | None:
    act = DialogueAct.read(said.get("dialogueAct"))
    if act is None:
        return _nothing(session, turn, f"{said.get('dialogueAct')!r} is no dialogue act.", "UnknownDialogueAct")
    confidence, query = confidence_of(said.get("confidence")) or 0.0, said.get("standaloneQuery")
    return Said(
        FoundAct(act, confidence),
        query.strip() or None if isinstance(query, str) else None,
        confidence < turn.config(session, catalogue.LLM_MIN_CONFIDENCE),
    )


def _nothing(session: Session, turn: Turn, message: str, exception: str) -> Said | None:
    turn.audit(session, Stage.DIALOGUE_ACT_LLM_ERROR, message=message, exception=exception)
    return None
