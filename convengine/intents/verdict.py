"""What becomes of the intent agent's answer: a question, a rejection, or an intent (pipeline-1 14.5, A6 to A15)."""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from convengine.domain import rows
from convengine.domain.catalogue.intents import (
    COLLISION_GAP_THRESHOLD,
    COLLISION_MIN_CONFIDENCE,
    MIN_CONFIDENCE,
    RESET_STATE_ON_SAME_INTENT,
)
from convengine.domain.enums import RulePhase
from convengine.domain.scope import IDLE, INTENT_COLLISION, state_resolved
from convengine.domain.session import Clarification, ReplyOverride, Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.intents import collision
from convengine.intents.answer import AgentAnswer, Score, spelling
from convengine.rules.apply import run_phase

RESOLVER = "AgentIntentResolver"
#: How many scores are called the top ones, and may be collision candidates.
_TOP = 3


class Outcome(Enum):
    """How asking the agent ended."""

    ACCEPTED = auto()
    ASKED = auto()
    NOTHING = auto()
    #: Nobody could be asked: the resolution goes on as if there were no model.
    OUT = auto()


@dataclass(frozen=True)
class Heard:
    """The session after the agent was asked, and how that ended."""

    session: Session
    outcome: Outcome


@dataclass(frozen=True)
class _Reading:
    """An answer while the rules look at it."""

    answer: AgentAnswer
    intent: str
    state: str
    needs: bool
    question: str
    #: The scores too close to call, the best first.
    close: tuple[Score, ...] = ()


def weigh(session: Session, turn: Turn, answer: AgentAnswer) -> Heard:
    """Rules A6 to A15 in order, on an answer that was read."""
    session = _with_scores(session, turn, answer)
    reading = _Reading(answer, answer.intent, answer.state, answer.needs_clarification, answer.question)
    reading, session = _collision(reading, session, turn)
    held = _held_by_schema(reading, turn.snapshot)
    if held:
        told = {"intent": reading.intent, "state": reading.state, "question": reading.question}
        turn.audit(session, Stage.INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW, **told)
        state = IDLE if reading.state == INTENT_COLLISION else reading.state
        reading = replace(reading, needs=False, question="", state=state)
    else:
        reading = _with_question(reading, session, turn.snapshot)
    return _asked(reading, session, turn) if reading.needs else _judged(reading, session, turn)


def rejected(session: Session, turn: Turn, reason: str, **about: Any) -> Heard:
    """The session as it is; why the answer is not taken stands in the trail."""
    turn.audit(session, Stage.INTENT_AGENT_REJECTED, reason=reason, **about)
    return Heard(session, Outcome.NOTHING)


def accepted(
    session: Session, turn: Turn, intent: str, state: str, confidence: float, scores: tuple[Score, ...], **about: Any
) -> Heard:
    """A15: the intent in its row's spelling, the state by 14.7, no open question, then POST_AGENT_INTENT rules."""
    wanted, note = _state_given(session, turn, intent, state)
    moved = session.moved(intent=spelling(turn.snapshot)[intent], state=wanted, cause="INTENT_RESOLUTION")
    moved = (
        collision.without_questions(moved).evolve(intent_source="AGENT").with_params({"intent_resolved_by": "AGENT"})
    )
    after = run_phase(RulePhase.POST_AGENT_INTENT, RESOLVER, moved, turn)
    turn.audit(
        after,
        Stage.INTENT_AGENT_ACCEPTED,
        intent=after.intent,
        state=after.state,
        confidence=confidence,
        scores=[score.stored() for score in scores[:_TOP]],
        **about,
        **note,
    )
    return Heard(after, Outcome.ACCEPTED)


def _with_scores(session: Session, turn: Turn, answer: AgentAnswer) -> Session:
    scores, followups = [score.stored() for score in answer.scores], list(answer.followups)
    session = session.with_params({"intent_scores": scores, "intent_top3": scores[:_TOP], "followups": followups})
    turn.audit(session, Stage.INTENT_AGENT_SCORES, scores=scores, followups=followups)
    return session


def _collision(reading: _Reading, session: Session, turn: Turn) -> tuple[_Reading, Session]:
    """A7: the best two are too close, and nothing was asked before."""
    scores = reading.answer.scores
    if len(scores) < 2 or collision.pending(session):
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
        question=reading.question or _first(reading) or _built(scores, turn.snapshot),
    )
    candidates = [{"code": score.intent, "confidence": score.confidence} for score in scores[:_TOP]]
    session = session.with_params({"intent_collision_candidates": candidates})
    turn.audit(
        session,
        Stage.INTENT_AGENT_COLLISION,
        intent=reading.intent,
        state=reading.state,
        question=reading.question,
        candidates=candidates,
        scores=[score.stored() for score in scores],
    )
    return reading, session


def _held_by_schema(reading: _Reading, snapshot: Snapshot) -> bool:
    """A8: a form asks its own questions; between two forms somebody has to choose all the same."""
    with_form = _intents_with_schema(snapshot)
    between_forms = len(reading.close) > 1 and all(code(score.intent) in with_form for score in reading.close[:2])
    return reading.needs and reading.intent in with_form and not between_forms


def _with_question(reading: _Reading, session: Session, snapshot: Snapshot) -> _Reading:
    """A9: a question is meant and not put. The follow-up is one; else one is built, unless it was put before."""
    if reading.question or not (reading.needs or reading.state == INTENT_COLLISION):
        return replace(reading, needs=reading.needs or reading.state == INTENT_COLLISION)
    if found := _first(reading):
        return replace(reading, needs=True, question=found)
    scores = reading.answer.scores
    if reading.state == INTENT_COLLISION and len(scores) > 1 and not collision.pending(session):
        return replace(reading, needs=True, question=_built(scores, snapshot), close=scores[:2])
    # A collision that nobody can ask about is none: the state would wait for an answer to nothing.
    return replace(reading, state=IDLE if reading.state == INTENT_COLLISION else reading.state)


def _asked(reading: _Reading, session: Session, turn: Turn) -> Heard:
    """A10 and A11: the question is put, in state INTENT_COLLISION by the collision's answer, else by this turn's."""
    answer = reading.answer
    if not reading.question:
        if answer.clarification_resolved and collision.pending(session):
            session = session.evolve(clarification=None)
        return rejected(session, turn, "needsClarification without question")
    intent = spelling(turn.snapshot).get(reading.intent)
    state, note = _state_given(session, turn, reading.intent, reading.state)
    clarification = Clarification(reading.question, collision.AGENT, collision.options(turn.snapshot, reading.close))
    session = session.moved(intent=intent, state=state, cause="INTENT_RESOLUTION").evolve(clarification=clarification)
    if state != INTENT_COLLISION and not _outspoken(session):
        session = session.evolve(reply_override=ReplyOverride(reading.question, collision.AGENT))
    turn.audit(
        session,
        Stage.INTENT_AGENT_NEEDS_CLARIFICATION,
        intent=session.intent,
        state=session.state,
        question=reading.question,
        followups=list(answer.followups),
        **note,
    )
    return Heard(session, Outcome.ASKED)


def _judged(reading: _Reading, session: Session, turn: Turn) -> Heard:
    """A12 to A15: one intent, allowed and sure enough, or none."""
    answer, allowed = reading.answer, spelling(turn.snapshot)
    scores = [score.stored() for score in answer.scores]
    if not reading.intent:
        return rejected(session, turn, "blank intent", allowedIntents=list(allowed.values()), scores=scores)
    about = {"intent": reading.intent, "state": reading.state}
    if reading.intent not in allowed:
        return rejected(session, turn, "Intent not in allowed intents", **about)
    if answer.confidence < turn.config(session, MIN_CONFIDENCE):
        return rejected(session, turn, "low confidence", **about, confidence=answer.confidence)
    return accepted(session, turn, reading.intent, reading.state, answer.confidence, answer.scores)


def _state_given(session: Session, turn: Turn, intent: str, wanted: str) -> tuple[str | None, dict[str, Any]]:
    """The state to go to, null to stay, and a note where what the model wrote is no state (14.7)."""
    if wanted == INTENT_COLLISION:
        return wanted, {}
    known = wanted in turn.snapshot.known_states
    note = {"unknownState": wanted} if wanted and not known else {}
    same = code(session.intent) == intent and state_resolved(session.state)
    if same and not turn.config(session, RESET_STATE_ON_SAME_INTENT):
        return None, note
    return (wanted if known else IDLE), note


def _intents_with_schema(snapshot: Snapshot) -> frozenset[str]:
    return snapshot.table(rows.OutputSchema).memo.get(
        "intents", lambda: frozenset(code(schema.intent_code) for schema in snapshot.enabled(rows.OutputSchema))
    )


def _first(reading: _Reading) -> str:
    return next(iter(reading.answer.followups), "")


def _built(scores: tuple[Score, ...], snapshot: Snapshot) -> str:
    return collision.question([collision.name_of(snapshot, score.intent) for score in scores[:2]])


def _outspoken(session: Session) -> bool:
    """True when an earlier step decided the answer of this turn."""
    return session.reply_override is not None and session.reply_override.source != "DISAMBIGUATION"
