"""Ask the intent agent, and act on its answer: a question, a rejection, or an intent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from convengine.engine.clarification import collision
from convengine.engine.clarification.agent_answer import (
    AGENT_FAMILY,
    ANSWER_SCHEMA,
    SYSTEM_PROMPT,
    USER_PROMPT,
    AgentAnswer,
    Score,
    map_spellings,
    read_answer,
)
from convengine.engine.errors import ConvEngineError
from convengine.engine.llm.ask import ModelQuestion, Stages, ask
from convengine.engine.prompts.fill import fill_prompts
from convengine.engine.steps.intents.classifiers import choose_first_state
from convengine.engine.steps.intents.enter_intent import enter_intent, find_first_state
from convengine.engine.steps.intents.settings import (
    COLLISION_GAP_THRESHOLD,
    COLLISION_MIN_CONFIDENCE,
    FAIL_TURN_ON_LLM_ERROR,
    MIN_CONFIDENCE,
    RESET_STATE_ON_SAME_INTENT,
)
from convengine.engine.steps.intents.stages import (
    INTENT_AGENT_ACCEPTED,
    INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW,
    INTENT_AGENT_COLLISION,
    INTENT_AGENT_LLM_ERROR,
    INTENT_AGENT_LLM_INPUT,
    INTENT_AGENT_LLM_OUTPUT,
    INTENT_AGENT_NEEDS_CLARIFICATION,
    INTENT_AGENT_REJECTED,
    INTENT_AGENT_SCORES,
    INTENT_AGENT_SKIPPED,
)
from convengine.engine.steps.intents.subject import stay_at_question
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.owned_params import RoutingParams
from convengine.engine.turn.scope import INTENT_COLLISION
from convengine.engine.turn.session import Clarification, ReplyOverride, Session
from convengine.engine.turn.turn import Turn

_STAGE = "INTENT_AGENT"
RESOLVER = "AgentIntentResolver"
#: How many scores are top scores and possible collision candidates.
_TOP = 3


class AgentOutcome(Enum):
    """The outcome of asking the agent."""

    ACCEPTED = auto()
    ASKED = auto()
    NOTHING = auto()
    #: The message is taken up at the open question: answered in between, or asked whether to leave the form.
    STAYED = auto()
    #: The model is unavailable: the resolution goes on as if there were none.
    UNAVAILABLE = auto()


@dataclass(frozen=True)
class AgentResult:
    session: Session
    outcome: AgentOutcome


def resolve_by_agent(session: Session, turn: Turn, collided: Sequence[str], *, may_stay: bool = True) -> AgentResult:
    """Ask the agent about the message. `collided` are the intents between which phrases could not decide.

    `may_stay`: an intent that answers and returns, or that would leave a form, does not end the open question.

    Raises the model's fault if FAIL_TURN_ON_LLM_ERROR is set.
    """
    if reason := _find_skip_reason(session, turn):
        if not blank(session.user_text):
            turn.audit(session, INTENT_AGENT_SKIPPED, reason=reason)
        return AgentResult(session, AgentOutcome.UNAVAILABLE)
    # An earlier answer is cleared, and the candidates are those of the phrases.
    candidates = [{"code": intent, "confidence": None} for intent in collided]
    session = session.with_values(
        RoutingParams(
            intent_scores=[],
            intent_top3=[],
            followups=[],
            intent_collision_candidates=candidates,
            agentResolver=True,
        )
    )
    result = _ask_agent(session, turn, may_stay=may_stay)
    return AgentResult(result.session.with_values(RoutingParams(agentResolver=False)), result.outcome)


def _find_skip_reason(session: Session, turn: Turn) -> str | None:
    """Why the agent is not asked. Returns None if it is."""
    if blank(session.user_text):
        return "blank text"
    if not turn.snapshot.allowed_intents:
        return "no allowed intents"
    return None if turn.ports.model.configured else "LLM_NOT_CONFIGURED"


def _ask_agent(session: Session, turn: Turn, *, may_stay: bool) -> AgentResult:
    """Ask the model and act on its answer; an unreadable answer is rejected, a fault reported.

    The model that named the dialogue act is not asked again if it scored the intents, too. Raises the fault if
    FAIL_TURN_ON_LLM_ERROR is set.
    """
    if (scores := session.dialogue.dialogue_act_llm_intents) is not None:
        answer = read_answer({"intentScores": scores}, turn.snapshot)
        return evaluate_agent_answer(session, turn, answer, may_stay=may_stay)
    try:
        question = _build_agent_question(session, turn)
    except ConvEngineError as error:
        return _report_unavailable(session, turn, error, "PromptRender")
    reply = ask(session, turn, question)
    if not blank(reply.text):
        output = reply.text if reply.value is None else reply.value
        session = session.evolve(last_llm_output=output, last_llm_stage=_STAGE)
    if isinstance(reply.value, dict):
        return evaluate_agent_answer(session, turn, read_answer(reply.value, turn.snapshot), may_stay=may_stay)
    if reply.error is None or not blank(reply.text):
        return reject_answer(session, turn, "invalid json")
    return _report_unavailable(
        session, turn, reply.error.error(step=AGENT_FAMILY), reply.error.name, reply.error.message
    )


def _build_agent_question(session: Session, turn: Turn) -> ModelQuestion:
    """The question to the model. Raises ConvEngineError for a prompt that cannot be filled."""
    system, user = turn.config(session, SYSTEM_PROMPT), turn.config(session, USER_PROMPT)
    prompts = fill_prompts(session, turn, system=system, user=user, selected=AGENT_FAMILY)
    prompt_texts = {"systemPrompt": prompts.system, "userPrompt": prompts.user}
    return ModelQuestion(
        _STAGE,
        prompts.system,
        prompts.user,
        json_schema=ANSWER_SCHEMA,
        lenient=True,
        stages=Stages(INTENT_AGENT_LLM_INPUT, INTENT_AGENT_LLM_OUTPUT),
        audit_payload={
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
    """Handle an unavailable model: the turn goes on, and the message may still choose an option of the open question.

    Raises the error if FAIL_TURN_ON_LLM_ERROR is set.
    """
    details: dict[str, Any] = {"message": message or error.message, "exception": name, "errorCode": error.code}
    turn.audit(session, INTENT_AGENT_LLM_ERROR, **details)
    if turn.config(session, FAIL_TURN_ON_LLM_ERROR):
        raise error
    chosen = collision.find_chosen_intent(session, turn)
    if chosen is not None and chosen in map_spellings(turn.snapshot):
        return accept_intent(session, turn, chosen, 1.0, (), by="OPTION")
    return AgentResult(session, AgentOutcome.UNAVAILABLE)


def evaluate_agent_answer(session: Session, turn: Turn, answer: AgentAnswer, *, may_stay: bool = True) -> AgentResult:
    """Act on a readable answer: ask the user, accept its intent, or reject it. `may_stay` as in `resolve_by_agent`."""
    scores, followups = [score.to_json() for score in answer.scores], list(answer.followups)
    session = session.with_values(RoutingParams(intent_scores=scores, intent_top3=scores[:_TOP], followups=followups))
    turn.audit(session, INTENT_AGENT_SCORES, scores=scores, followups=followups)
    answer, session = _find_collision(answer, session, turn)
    snapshot = turn.snapshot
    with_form = snapshot.table(rows.OutputSchema).memo.get(
        "intents", lambda: frozenset(code(schema.intent_code) for schema in snapshot.enabled_rows(rows.OutputSchema))
    )
    # A form asks its own questions, but between two forms somebody still has to choose.
    between_forms = len(answer.close) > 1 and all(code(score.intent) in with_form for score in answer.close[:2])
    if answer.needs_clarification and answer.intent in with_form and not between_forms:
        details = {"intent": answer.intent, "question": answer.question}
        turn.audit(session, INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW, **details)
        answer = replace(answer, needs_clarification=False, question="", is_collision=False)
    else:
        answer = _ensure_question(answer, session, turn)
    if answer.needs_clarification:
        return _ask_user(answer, session, turn)
    return _accept_or_reject(answer, session, turn, may_stay=may_stay)


def reject_answer(session: Session, turn: Turn, reason: str, **details: Any) -> AgentResult:
    turn.audit(session, INTENT_AGENT_REJECTED, reason=reason, **details)
    return AgentResult(session, AgentOutcome.NOTHING)


def accept_intent(
    session: Session, turn: Turn, intent: str, confidence: float, scores: tuple[Score, ...], **details: Any
) -> AgentResult:
    """Set the intent in its row's spelling, in the state in which it begins, and record it.

    `intent` must be an allowed one. `details` are further keys of the event.
    """
    spelled = map_spellings(turn.snapshot)[intent]
    state = _choose_state(session, turn, intent)
    after = enter_intent(session, turn, spelled, state, "AGENT", RulePhase.POST_AGENT_INTENT, RESOLVER)
    turn.audit(
        after,
        INTENT_AGENT_ACCEPTED,
        intent=after.intent,
        state=after.state,
        confidence=confidence,
        scores=[score.to_json() for score in scores[:_TOP]],
        **details,
    )
    return AgentResult(after, AgentOutcome.ACCEPTED)


def _find_collision(answer: AgentAnswer, session: Session, turn: Turn) -> tuple[AgentAnswer, Session]:
    """The answer with its scores that are too close and a question about them, and the session with the candidates.

    Both are unchanged if the best is clear or too unsure, or if a question between intents is open already.
    """
    scores = answer.scores
    if len(scores) < 2 or collision.is_pending(session):
        return answer, session
    gap, best = turn.config(session, COLLISION_GAP_THRESHOLD), scores[0].confidence
    close = tuple(score for score in scores[:_TOP] if round(best - score.confidence, 6) <= gap)
    if len(close) < 2 or best < turn.config(session, COLLISION_MIN_CONFIDENCE):
        return answer, session
    answer = replace(
        answer,
        close=close,
        is_collision=True,
        needs_clarification=True,
        intent=answer.intent or code(close[0].intent),
        question=answer.question or _get_first_followup(answer) or _ask_which_intent(session, turn, scores),
    )
    candidates = [{"code": score.intent, "confidence": score.confidence} for score in scores[:_TOP]]
    session = session.with_values(RoutingParams(intent_collision_candidates=candidates))
    turn.audit(
        session,
        INTENT_AGENT_COLLISION,
        intent=answer.intent,
        state=INTENT_COLLISION,
        question=answer.question,
        candidates=candidates,
        scores=[score.to_json() for score in scores],
    )
    return answer, session


def _ensure_question(answer: AgentAnswer, session: Session, turn: Turn) -> AgentAnswer:
    """The answer with a missing question filled in: the follow-up, else a built one between two intents.

    An answer that needs no question is unchanged. A collision for which there is no question counts as none.
    """
    needs_question = answer.needs_clarification or answer.is_collision
    if answer.question or not needs_question:
        return replace(answer, needs_clarification=needs_question)
    if followup := _get_first_followup(answer):
        return replace(answer, needs_clarification=True, question=followup)
    scores = answer.scores
    if answer.is_collision and len(scores) > 1 and not collision.is_pending(session):
        question = _ask_which_intent(session, turn, scores)
        return replace(answer, needs_clarification=True, question=question, close=scores[:2])
    # A collision without a question is none, because the state would wait for an answer to nothing.
    return replace(answer, is_collision=False)


def _ask_user(answer: AgentAnswer, session: Session, turn: Turn) -> AgentResult:
    """Ask the question, in state INTENT_COLLISION for a collision. An answer without one is rejected."""
    if not answer.question:
        if answer.clarification_resolved and collision.is_pending(session):
            session = session.evolve(clarification=None)
        return reject_answer(session, turn, "needsClarification without question")
    intent = map_spellings(turn.snapshot).get(answer.intent)
    state = INTENT_COLLISION if answer.is_collision else _choose_state(session, turn, answer.intent)
    clarification = Clarification(answer.question, collision.AGENT, collision.list_options(turn.snapshot, answer.close))
    session = session.move_to(intent=intent, state=state, cause="INTENT_RESOLUTION").evolve(clarification=clarification)
    override = session.reply_override
    if state != INTENT_COLLISION and (override is None or override.source == "DISAMBIGUATION"):
        session = session.evolve(reply_override=ReplyOverride(answer.question, collision.AGENT))
    turn.audit(
        session,
        INTENT_AGENT_NEEDS_CLARIFICATION,
        intent=session.intent,
        state=session.state,
        question=answer.question,
        followups=list(answer.followups),
    )
    return AgentResult(session, AgentOutcome.ASKED)


def _accept_or_reject(answer: AgentAnswer, session: Session, turn: Turn, *, may_stay: bool) -> AgentResult:
    """Accept an allowed intent with enough confidence, or reject it. With `may_stay`, an open question may stay."""
    allowed = map_spellings(turn.snapshot)
    scores = [score.to_json() for score in answer.scores]
    if not answer.intent:
        return reject_answer(session, turn, "blank intent", allowedIntents=list(allowed.values()), scores=scores)
    details = {"intent": answer.intent}
    if answer.intent not in allowed:
        return reject_answer(session, turn, "Intent not in allowed intents", **details)
    if answer.confidence < turn.config(session, MIN_CONFIDENCE):
        return reject_answer(session, turn, "low confidence", **details, confidence=answer.confidence)
    if may_stay and (staying := stay_at_question(session, turn, answer.intent)):
        return AgentResult(staying, AgentOutcome.STAYED)
    return accept_intent(session, turn, answer.intent, answer.confidence, answer.scores)


def _choose_state(session: Session, turn: Turn, intent: str) -> str | None:
    """The state in which the intent begins. Returns None to keep the state: a model names no state."""
    first = find_first_state(turn.snapshot, intent)
    return choose_first_state(session, turn, intent, first, RESET_STATE_ON_SAME_INTENT)


def _get_first_followup(answer: AgentAnswer) -> str:
    return next(iter(answer.followups), "")


def _ask_which_intent(session: Session, turn: Turn, scores: tuple[Score, ...]) -> str:
    names = [collision.get_intent_name(turn.snapshot, score.intent) for score in scores[:2]]
    return collision.build_question(session, turn, names)
