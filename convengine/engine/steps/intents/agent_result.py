"""The consequence of the intent agent's answer: a question, a rejection, or an intent (pipeline-1 14.5, A6 to A15)."""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from convengine.engine.clarification import collision
from convengine.engine.clarification.agent_answer import AgentAnswer, Score, map_spellings
from convengine.engine.rules.apply import run_phase
from convengine.engine.steps.intents.settings import (
    COLLISION_GAP_THRESHOLD,
    COLLISION_MIN_CONFIDENCE,
    MIN_CONFIDENCE,
    RESET_STATE_ON_SAME_INTENT,
)
from convengine.engine.steps.intents.stages import (
    INTENT_AGENT_ACCEPTED,
    INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW,
    INTENT_AGENT_COLLISION,
    INTENT_AGENT_NEEDS_CLARIFICATION,
    INTENT_AGENT_REJECTED,
    INTENT_AGENT_SCORES,
)
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.scope import IDLE, INTENT_COLLISION, is_state_resolved
from convengine.engine.turn.session import Clarification, ReplyOverride, Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn

RESOLVER = "AgentIntentResolver"
#: How many scores are top scores and possible collision candidates.
_TOP = 3


class AgentOutcome(Enum):
    """The outcome of asking the agent."""

    ACCEPTED = auto()
    ASKED = auto()
    NOTHING = auto()
    #: The model is unavailable: the resolution goes on as if there were none.
    UNAVAILABLE = auto()


@dataclass(frozen=True)
class AgentResult:
    """The session after asking the agent, and the outcome."""

    session: Session
    outcome: AgentOutcome


@dataclass(frozen=True)
class _AnswerReading:
    """An answer during its evaluation."""

    answer: AgentAnswer
    intent: str
    state: str
    needs: bool
    question: str
    #: The scores that are too close, best first.
    close: tuple[Score, ...] = ()


def evaluate_agent_answer(session: Session, turn: Turn, answer: AgentAnswer) -> AgentResult:
    """Evaluate a readable answer."""
    session = _store_scores(session, turn, answer)
    reading = _AnswerReading(answer, answer.intent, answer.state, answer.needs_clarification, answer.question)
    reading, session = _find_collision(reading, session, turn)
    held_by_schema = _is_held_by_schema(reading, turn.snapshot)
    if held_by_schema:
        details = {"intent": reading.intent, "state": reading.state, "question": reading.question}
        turn.audit(session, INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW, **details)
        state = IDLE if reading.state == INTENT_COLLISION else reading.state
        reading = replace(reading, needs=False, question="", state=state)
    else:
        reading = _ensure_question(reading, session, turn.snapshot)
    return _ask_user(reading, session, turn) if reading.needs else _accept_or_reject(reading, session, turn)


def reject_answer(session: Session, turn: Turn, reason: str, **details: Any) -> AgentResult:
    """Reject the answer and record the reason."""
    turn.audit(session, INTENT_AGENT_REJECTED, reason=reason, **details)
    return AgentResult(session, AgentOutcome.NOTHING)


def accept_intent(
    session: Session, turn: Turn, intent: str, state: str, confidence: float, scores: tuple[Score, ...], **details: Any
) -> AgentResult:
    """Accept: set the intent in its row's spelling and the state, drop questions, run POST_AGENT_INTENT rules."""
    wanted, note = _choose_state(session, turn, intent, state)
    moved = session.move_to(intent=map_spellings(turn.snapshot)[intent], state=wanted, cause="INTENT_RESOLUTION")
    moved = collision.drop_questions(moved).evolve(intent_source="AGENT").with_params({"intent_resolved_by": "AGENT"})
    after = run_phase(RulePhase.POST_AGENT_INTENT, RESOLVER, moved, turn)
    turn.audit(
        after,
        INTENT_AGENT_ACCEPTED,
        intent=after.intent,
        state=after.state,
        confidence=confidence,
        scores=[score.to_json() for score in scores[:_TOP]],
        **details,
        **note,
    )
    return AgentResult(after, AgentOutcome.ACCEPTED)


def _store_scores(session: Session, turn: Turn, answer: AgentAnswer) -> Session:
    scores, followups = [score.to_json() for score in answer.scores], list(answer.followups)
    session = session.with_params({"intent_scores": scores, "intent_top3": scores[:_TOP], "followups": followups})
    turn.audit(session, INTENT_AGENT_SCORES, scores=scores, followups=followups)
    return session


def _find_collision(reading: _AnswerReading, session: Session, turn: Turn) -> tuple[_AnswerReading, Session]:
    """True when the best two are too close, and no question was asked before."""
    scores = reading.answer.scores
    if len(scores) < 2 or collision.is_pending(session):
        return reading, session
    gap, best = turn.config(session, COLLISION_GAP_THRESHOLD), scores[0].confidence
    close = tuple(score for score in scores[:_TOP] if round(best - score.confidence, 6) <= gap)
    if len(close) < 2 or best < turn.config(session, COLLISION_MIN_CONFIDENCE):
        return reading, session
    reading = replace(
        reading,
        close=close,
        state=INTENT_COLLISION,
        needs=True,
        intent=reading.intent or code(close[0].intent),
        question=reading.question or _get_first_followup(reading) or _build_question(scores, turn.snapshot),
    )
    candidates = [{"code": score.intent, "confidence": score.confidence} for score in scores[:_TOP]]
    session = session.with_params({"intent_collision_candidates": candidates})
    turn.audit(
        session,
        INTENT_AGENT_COLLISION,
        intent=reading.intent,
        state=reading.state,
        question=reading.question,
        candidates=candidates,
        scores=[score.to_json() for score in scores],
    )
    return reading, session


def _is_held_by_schema(reading: _AnswerReading, snapshot: Snapshot) -> bool:
    """True when a form should ask its own questions; between two forms somebody still has to choose."""
    with_form = _list_intents_with_schema(snapshot)
    between_forms = len(reading.close) > 1 and all(code(score.intent) in with_form for score in reading.close[:2])
    return reading.needs and reading.intent in with_form and not between_forms


def _ensure_question(reading: _AnswerReading, session: Session, snapshot: Snapshot) -> _AnswerReading:
    """The answer with a missing question filled in: the follow-up, else a built one, unless it was asked before."""
    if reading.question or not (reading.needs or reading.state == INTENT_COLLISION):
        return replace(reading, needs=reading.needs or reading.state == INTENT_COLLISION)
    if followup := _get_first_followup(reading):
        return replace(reading, needs=True, question=followup)
    scores = reading.answer.scores
    if reading.state == INTENT_COLLISION and len(scores) > 1 and not collision.is_pending(session):
        return replace(reading, needs=True, question=_build_question(scores, snapshot), close=scores[:2])
    # A collision without a question is none, because the state would wait for an answer to nothing.
    return replace(reading, state=IDLE if reading.state == INTENT_COLLISION else reading.state)


def _ask_user(reading: _AnswerReading, session: Session, turn: Turn) -> AgentResult:
    """Ask the question, in state INTENT_COLLISION for a collision."""
    answer = reading.answer
    if not reading.question:
        if answer.clarification_resolved and collision.is_pending(session):
            session = session.evolve(clarification=None)
        return reject_answer(session, turn, "needsClarification without question")
    intent = map_spellings(turn.snapshot).get(reading.intent)
    state, note = _choose_state(session, turn, reading.intent, reading.state)
    clarification = Clarification(
        reading.question, collision.AGENT, collision.list_options(turn.snapshot, reading.close)
    )
    session = session.move_to(intent=intent, state=state, cause="INTENT_RESOLUTION").evolve(clarification=clarification)
    if state != INTENT_COLLISION and not _is_overridden(session):
        session = session.evolve(reply_override=ReplyOverride(reading.question, collision.AGENT))
    turn.audit(
        session,
        INTENT_AGENT_NEEDS_CLARIFICATION,
        intent=session.intent,
        state=session.state,
        question=reading.question,
        followups=list(answer.followups),
        **note,
    )
    return AgentResult(session, AgentOutcome.ASKED)


def _accept_or_reject(reading: _AnswerReading, session: Session, turn: Turn) -> AgentResult:
    """Accept one allowed intent with enough confidence, or reject."""
    answer, allowed = reading.answer, map_spellings(turn.snapshot)
    scores = [score.to_json() for score in answer.scores]
    if not reading.intent:
        return reject_answer(session, turn, "blank intent", allowedIntents=list(allowed.values()), scores=scores)
    details = {"intent": reading.intent, "state": reading.state}
    if reading.intent not in allowed:
        return reject_answer(session, turn, "Intent not in allowed intents", **details)
    if answer.confidence < turn.config(session, MIN_CONFIDENCE):
        return reject_answer(session, turn, "low confidence", **details, confidence=answer.confidence)
    return accept_intent(session, turn, reading.intent, reading.state, answer.confidence, answer.scores)


def _choose_state(session: Session, turn: Turn, intent: str, wanted: str) -> tuple[str | None, dict[str, Any]]:
    """The new state or null, and a note if the model wrote an unknown state."""
    if wanted == INTENT_COLLISION:
        return wanted, {}
    known = wanted in turn.snapshot.known_states
    note = {"unknownState": wanted} if wanted and not known else {}
    same = code(session.intent) == intent and is_state_resolved(session.state)
    if same and not turn.config(session, RESET_STATE_ON_SAME_INTENT):
        return None, note
    return (wanted if known else IDLE), note


def _list_intents_with_schema(snapshot: Snapshot) -> frozenset[str]:
    return snapshot.table(rows.OutputSchema).memo.get(
        "intents", lambda: frozenset(code(schema.intent_code) for schema in snapshot.enabled_rows(rows.OutputSchema))
    )


def _get_first_followup(reading: _AnswerReading) -> str:
    return next(iter(reading.answer.followups), "")


def _build_question(scores: tuple[Score, ...], snapshot: Snapshot) -> str:
    return collision.build_question([collision.get_intent_name(snapshot, score.intent) for score in scores[:2]])


def _is_overridden(session: Session) -> bool:
    """True when an earlier step decided the answer of this turn."""
    return session.reply_override is not None and session.reply_override.source != "DISAMBIGUATION"
