"""Decide the intent of a turn: keep it, or ask the classifiers, then the agent (pipeline-1 14)."""

from convengine.domain import rows
from convengine.domain.catalogue.intents import STICKY_INTENT, USE_STANDALONE_QUERY
from convengine.domain.enums import RulePhase
from convengine.domain.scope import INTENT_COLLISION, UNKNOWN, resolved, state_resolved
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, code, truthy
from convengine.domain.turn import Turn
from convengine.intents import collision
from convengine.intents.agent import resolve_by_agent
from convengine.intents.classifiers import Classified, classify, state_after
from convengine.intents.collection import collecting
from convengine.intents.force import explicit_signal
from convengine.intents.verdict import Heard, Outcome
from convengine.rules.apply import RULE_FIELDS, run_phase

#: Session fields that resolving an intent may change.
RESOLVE_FIELDS = RULE_FIELDS | {
    "intent", "state", "transitions", "intent_locked", "intent_lock_reason", "intent_source", "clarification",
    "reply_override", "input_params", "last_llm_output", "last_llm_stage",
}  # fmt: skip
_ENDS_SESSION = ("CONFIRMATION", "ABANDON")
_DECIDED = ("EXECUTE_PENDING_ACTION", "REJECT_PENDING_ACTION")


def resolve_intent(session: Session, turn: Turn) -> Session:
    """The gate of 14.2, first hit wins; exactly one closing stage follows INTENT_RESOLVE_START."""
    turn.audit(
        session,
        Stage.INTENT_RESOLVE_START,
        previousIntent=session.intent,
        intentLocked=session.intent_locked,
        intentLockReason=session.intent_lock_reason,
    )
    if session.reset_only:
        return _no_change(session, turn, "reset_only")
    if turn.request.resolved and session.input_params.get("message_intent") in _ENDS_SESSION:
        # What accepts a result, or gives a task up, is about no other intent.
        return _no_change(session, turn, "session_ends")
    if signal := _forced(session, turn):
        turn.audit(session, Stage.INTENT_RESOLVE_FORCED, signal=signal, reason=session.intent_lock_reason)
        released = session.evolve(intent_locked=False, intent_lock_reason=None)
        return _without_old_question(_resolve(released, turn))
    if kept := _kept(session, turn):
        return kept
    return _resolve(session, turn)


def _forced(session: Session, turn: Turn) -> str | None:
    if session.input_params.get("policy_decision") in _DECIDED:
        return None
    return explicit_signal(session, turn)


def _kept(session: Session, turn: Turn) -> Session | None:
    if session.intent_locked:
        turn.audit(
            session,
            Stage.INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION,
            intent=session.intent,
            state=session.state,
            intentLocked=True,
            intentLockReason=session.intent_lock_reason,
        )
        return _without_old_question(session)
    if not (resolved(session.intent) and state_resolved(session.state)):
        return None
    if turn.config(session, STICKY_INTENT) and not collision.pending(session) and collecting(session, turn):
        turn.audit(
            session,
            Stage.INTENT_RESOLVE_SKIPPED_STICKY_INTENT,
            intent=session.intent,
            state=session.state,
            stickyIntentEnabled=True,
            reason="SCHEMA_INCOMPLETE",
        )
        return session.evolve(intent_locked=True, intent_lock_reason="SCHEMA_INCOMPLETE")
    if truthy(session.input_params.get("skip_intent_resolution")):
        turn.audit(
            session,
            Stage.INTENT_RESOLVE_SKIPPED_POLICY,
            intent=session.intent,
            state=session.state,
            dialogueAct=session.input_params.get("dialogue_act"),
            policyDecision=session.input_params.get("policy_decision"),
            skipIntentResolution=True,
            reason="POLICY_DECISION",
        )
        return session
    return None


def _resolve(session: Session, turn: Turn) -> Session:
    """14.3: classifiers, then the agent, then the question that is left when neither could decide."""
    found = _classified(session, turn)
    row = found.winner or (collision.answered(session, turn.snapshot) if not found.collided else None)
    if row is not None:
        return _by_classifier(session, turn, row)
    heard = resolve_by_agent(session, turn, found.intents if found.collided else ())
    if heard.outcome is Outcome.ACCEPTED:
        return _tell(heard.session, turn, Stage.INTENT_RESOLVED_BY_AGENT, agent=heard.session.intent)
    if heard.outcome is Outcome.ASKED:
        return _question(heard.session, turn)
    return _unresolved(heard, turn, found)


def _unresolved(heard: Heard, turn: Turn, found: Classified) -> Session:
    """Nobody decided. Where nobody could be asked, the user is, if the classifiers know what to offer (R45)."""
    session = heard.session
    if found.collided and heard.outcome is Outcome.OUT:
        return _question(collision.asked(session, turn.snapshot, found.hits), turn)
    if code(session.state) == INTENT_COLLISION:
        again = collision.asked_again(session)
        if again is not None:
            return _question(again, turn)
        # The intent of before the question was not meant either: left with state UNKNOWN it would fit no row (R38).
        gave_up = session.moved(intent=UNKNOWN, state=UNKNOWN, cause="INTENT_RESOLUTION").evolve(clarification=None)
        return _no_change(gave_up, turn, "NO_RESOLVER_MATCHED")
    return _no_change(session, turn, "BLANK_TEXT" if blank(session.user_text) else "NO_RESOLVER_MATCHED")


def _classified(session: Session, turn: Turn) -> Classified:
    found = classify(session, turn, session.user_text)
    if not found.hits and session.standalone_query and turn.config(session, USE_STANDALONE_QUERY):
        return classify(session, turn, session.standalone_query)
    return found


def _by_classifier(session: Session, turn: Turn, row: rows.Classifier) -> Session:
    moved = session.moved(
        intent=code(row.intent_code), state=state_after(session, turn, row), cause="INTENT_RESOLUTION"
    )
    moved = collision.without_questions(moved).evolve(intent_source="CLASSIFIER")
    moved = moved.with_params({"intent_resolved_by": "CLASSIFIER"})
    after = run_phase(RulePhase.POST_CLASSIFIER_INTENT, "IntentResolutionStep Classifier", moved, turn)
    return _tell(after, turn, Stage.INTENT_RESOLVED_BY_CLASSIFIER, classifier=row.intent_code)


def _tell(
    session: Session, turn: Turn, stage: Stage, *, classifier: str | None = None, agent: str | None = None
) -> Session:
    turn.audit(
        session,
        stage,
        resolvedIntent=session.intent,
        source=session.intent_source,
        classifierIntent=classifier,
        agentIntent=agent,
    )
    return session


def _question(session: Session, turn: Turn) -> Session:
    asked = session.clarification
    turn.audit(
        session,
        Stage.INTENT_RESOLVE_NEEDS_CLARIFICATION,
        intent=session.intent,
        state=session.state,
        question=asked.question if asked else None,
        reason=asked.reason if asked else None,
        options=list(asked.options) if asked else [],
    )
    return session


def _no_change(session: Session, turn: Turn, reason: str) -> Session:
    turn.audit(session, Stage.INTENT_RESOLVE_NO_CHANGE, reason=reason)
    return session


def _without_old_question(session: Session) -> Session:
    return session.evolve(clarification=None) if collision.pending(session) else session
