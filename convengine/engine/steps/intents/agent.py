"""The intent agent: a model chooses among the allowed intents (pipeline-1 14.5, A1 to A5).

Without a model it is skipped with a reason.
"""

from collections.abc import Sequence
from typing import Any

from convengine.engine.clarification import collision
from convengine.engine.clarification.agent_answer import ANSWER_SCHEMA, map_spellings, read_answer
from convengine.engine.errors import ConvEngineError
from convengine.engine.llm.ask import Question, Stages, ask
from convengine.engine.prompts.fill import fill_prompts
from convengine.engine.steps.intents.agent_result import (
    AgentOutcome,
    AgentResult,
    accept_intent,
    evaluate_agent_answer,
    reject_answer,
)
from convengine.engine.steps.intents.settings import AGENT_FAMILY, FAIL_TURN_ON_LLM_ERROR, SYSTEM_PROMPT, USER_PROMPT
from convengine.engine.steps.intents.stages import (
    INTENT_AGENT_LLM_ERROR,
    INTENT_AGENT_LLM_INPUT,
    INTENT_AGENT_LLM_OUTPUT,
    INTENT_AGENT_SKIPPED,
)
from convengine.engine.text.compare import blank
from convengine.engine.turn.scope import IDLE
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

_STAGE = "INTENT_AGENT"


def resolve_by_agent(session: Session, turn: Turn, collided: Sequence[str]) -> AgentResult:
    """Ask the agent about the message. `collided` are the intents between which phrases could not decide.

    Raises the model's fault if FAIL_TURN_ON_LLM_ERROR is set.
    """
    if reason := _find_skip_reason(session, turn):
        if not blank(session.user_text):
            turn.audit(session, INTENT_AGENT_SKIPPED, reason=reason)
        return AgentResult(session, AgentOutcome.UNAVAILABLE)
    result = _ask_agent(_clear_earlier_answer(session, collided), turn)
    return AgentResult(result.session.with_params({"agentResolver": False}), result.outcome)


def _find_skip_reason(session: Session, turn: Turn) -> str | None:
    """Why the agent is not asked."""
    if blank(session.user_text):
        return "blank text"
    if not turn.snapshot.allowed_intents:
        return "no allowed intents"
    return None if turn.ports.model.configured else "LLM_NOT_CONFIGURED"


def _clear_earlier_answer(session: Session, collided: Sequence[str]) -> Session:
    """Clear an earlier answer and set the candidates of the phrases."""
    return session.with_params(
        {
            "intent_scores": [],
            "intent_top3": [],
            "followups": [],
            "intent_collision_candidates": [{"code": intent, "confidence": None} for intent in collided],
            "agentResolver": True,
        }
    )


def _ask_agent(session: Session, turn: Turn) -> AgentResult:
    try:
        question = _build_question(session, turn)
    except ConvEngineError as error:
        return _report_unavailable(session, turn, error, "PromptRender")
    reply = ask(session, turn, question)
    if not blank(reply.text):
        output = reply.text if reply.value is None else reply.value
        session = session.evolve(last_llm_output=output, last_llm_stage=_STAGE)
    if isinstance(reply.value, dict):
        return evaluate_agent_answer(session, turn, read_answer(reply.value, turn.snapshot))
    if reply.error is None or not blank(reply.text):
        return reject_answer(session, turn, "invalid json")
    return _report_unavailable(
        session, turn, reply.error.error(step=AGENT_FAMILY), reply.error.name, reply.error.message
    )


def _build_question(session: Session, turn: Turn) -> Question:
    system, user = turn.config(session, SYSTEM_PROMPT), turn.config(session, USER_PROMPT)
    prompts = fill_prompts(session, turn, system=system, user=user, selected=AGENT_FAMILY)
    prompt_texts = {"systemPrompt": prompts.system, "userPrompt": prompts.user}
    return Question(
        _STAGE,
        prompts.system,
        prompts.user,
        json_schema=ANSWER_SCHEMA,
        lenient=True,
        stages=Stages(INTENT_AGENT_LLM_INPUT, INTENT_AGENT_LLM_OUTPUT),
        told={
            "templateFromCeConfig (AgentIntentResolver)": AGENT_FAMILY,
            **prompt_texts,
            "system_prompt": prompts.system,
            "user_prompt": prompts.user,
            "schema": ANSWER_SCHEMA,
        },
    )


def _report_unavailable(
    session: Session, turn: Turn, error: ConvEngineError, name: str, message: str | None = None
) -> AgentResult:
    """Handle an unavailable model: the turn goes on, and an open question of the agent may still be answered by number
    or name.
    """
    details: dict[str, Any] = {"message": message or error.message, "exception": name, "errorCode": error.code}
    turn.audit(session, INTENT_AGENT_LLM_ERROR, **details)
    if turn.config(session, FAIL_TURN_ON_LLM_ERROR):
        raise error
    chosen = collision.find_chosen_intent(session)
    if chosen is not None and chosen in map_spellings(turn.snapshot):
        return accept_intent(session, turn, chosen, IDLE, 1.0, (), by="OPTION")
    return AgentResult(session, AgentOutcome.UNAVAILABLE)
