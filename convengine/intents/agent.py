"""The intent agent: a model that chooses among the allowed intents (pipeline-1 14.5, A1 to A5).

Without a model it is skipped, and says why (law 6, R45).
"""

from collections.abc import Sequence
from typing import Any

from convengine.domain.catalogue.intents import (
    AGENT_FAMILY,
    FAIL_TURN_ON_LLM_ERROR,
    SYSTEM_PROMPT,
    USER_PROMPT,
)
from convengine.domain.scope import IDLE
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.errors import ConvEngineError
from convengine.intents import collision
from convengine.intents.answer import ANSWER_SCHEMA, read_answer, spelling
from convengine.intents.verdict import Heard, Outcome, accepted, rejected, weigh
from convengine.llm.ask import Question, Stages, ask
from convengine.prompts.fill import filled

_STAGE = "INTENT_AGENT"


def resolve_by_agent(session: Session, turn: Turn, collided: Sequence[str]) -> Heard:
    """What the agent makes of the message. `collided` are the intents that the classifiers could not decide between.

    Raises the model's fault as the turn's error where FAIL_TURN_ON_LLM_ERROR says so, and nothing else.
    """
    if reason := _not_asked(session, turn):
        if not blank(session.user_text):
            turn.audit(session, Stage.INTENT_AGENT_SKIPPED, reason=reason)
        return Heard(session, Outcome.OUT)
    heard = _asked(_started(session, collided), turn)
    return Heard(heard.session.with_params({"agentResolver": False}), heard.outcome)


def _not_asked(session: Session, turn: Turn) -> str | None:
    """Why there is nothing to ask (A1, R45); a blank text is nobody's business."""
    if blank(session.user_text):
        return "blank text"
    if not turn.snapshot.allowed_intents:
        return "no allowed intents"
    return None if turn.ports.model.configured else "LLM_NOT_CONFIGURED"


def _started(session: Session, collided: Sequence[str]) -> Session:
    """A2: nothing of an earlier answer is left, and the classifiers' candidates are known (fix W-38)."""
    return session.with_params(
        {
            "intent_scores": [],
            "intent_top3": [],
            "followups": [],
            "intent_collision_candidates": [{"code": intent, "confidence": None} for intent in collided],
            "agentResolver": True,
        }
    )


def _asked(session: Session, turn: Turn) -> Heard:
    try:
        question = _question(session, turn)
    except ConvEngineError as error:
        return _out(session, turn, error, "PromptRender")
    reply = ask(session, turn, question)
    if not blank(reply.text):
        said = reply.text if reply.value is None else reply.value
        session = session.evolve(last_llm_output=said, last_llm_stage=_STAGE)
    if isinstance(reply.value, dict):
        return weigh(session, turn, read_answer(reply.value, turn.snapshot))
    if reply.error is None or not blank(reply.text):
        return rejected(session, turn, "invalid json")
    return _out(session, turn, reply.error.error(step=AGENT_FAMILY), reply.error.name, reply.error.message)


def _question(session: Session, turn: Turn) -> Question:
    system, user = turn.config(session, SYSTEM_PROMPT), turn.config(session, USER_PROMPT)
    prompts = filled(session, turn, system=system, user=user, selected=AGENT_FAMILY)
    both = {"systemPrompt": prompts.system, "userPrompt": prompts.user}
    return Question(
        _STAGE,
        prompts.system,
        prompts.user,
        json_schema=ANSWER_SCHEMA,
        lenient=True,
        stages=Stages(Stage.INTENT_AGENT_LLM_INPUT, Stage.INTENT_AGENT_LLM_OUTPUT),
        told={
            "templateFromCeConfig (AgentIntentResolver)": AGENT_FAMILY,
            **both,
            "system_prompt": prompts.system,
            "user_prompt": prompts.user,
            "schema": ANSWER_SCHEMA,
        },
    )


def _out(session: Session, turn: Turn, error: ConvEngineError, name: str, message: str | None = None) -> Heard:
    """A3: the turn goes on; an open question of the agent's own may still be answered by number or name."""
    about: dict[str, Any] = {"message": message or error.message, "exception": name, "errorCode": error.code}
    turn.audit(session, Stage.INTENT_AGENT_LLM_ERROR, **about)
    if turn.config(session, FAIL_TURN_ON_LLM_ERROR):
        raise error
    chosen = collision.answered_intent(session)
    if chosen is not None and chosen in spelling(turn.snapshot):
        return accepted(session, turn, chosen, IDLE, 1.0, (), by="OPTION")
    return Heard(session, Outcome.OUT)
