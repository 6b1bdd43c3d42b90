"""IntentResolutionStep: find the intent of the message, and the two steps that act on its result."""

from typing import Any

from convengine.engine.clarification import collision
from convengine.engine.clarification.agent_answer import map_spellings
from convengine.engine.documents.cards import has_better_sections, is_asked_of_section
from convengine.engine.forms.leaving import (
    LeaveDecision,
    ask_to_leave,
    close_leave_question,
    decide_leaving,
    decide_on_leave,
    find_doubtful_subject,
    find_left_schema,
    leave,
    may_want_to_leave,
    stay,
)
from convengine.engine.forms.life import read_on_no
from convengine.engine.forms.message import read_message, understand_message
from convengine.engine.forms.session_form import FACT_FIELDS
from convengine.engine.forms.user_answer import says, says_only
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.rules.apply import RUN_RULES
from convengine.engine.steps.intents.agent import AgentOutcome, AgentResult, accept_intent, resolve_by_agent
from convengine.engine.steps.intents.choose_by_values import fills_offered_form, find_offered_row
from convengine.engine.steps.intents.classifiers import Classification, choose_state, classify
from convengine.engine.steps.intents.digression import (
    digress,
    find_interruption,
    find_returning_row,
    hands_over_itself,
    leaves_form,
    list_answers,
)
from convengine.engine.steps.intents.earlier_message import carry_message
from convengine.engine.steps.intents.enter_intent import enter_intent
from convengine.engine.steps.intents.hold_intent import find_forcing_signal, find_keeping_stage
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES, USE_STANDALONE_QUERY
from convengine.engine.steps.intents.stages import (
    INTENT_MISSING,
    INTENT_RESOLVE_FORCED,
    INTENT_RESOLVE_NEEDS_CLARIFICATION,
    INTENT_RESOLVE_NO_CHANGE,
    INTENT_RESOLVE_SKIPPED_POLICY,
    INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION,
    INTENT_RESOLVE_SKIPPED_STICKY_INTENT,
    INTENT_RESOLVE_START,
    INTENT_RESOLVED_BY_AGENT,
    INTENT_RESOLVED_BY_CLASSIFIER,
    INTENT_UNRESOLVED,
    STATE_MISSING,
)
from convengine.engine.steps.intents.subject import (
    accepts_offered_subject,
    asks_before_leaving,
    asks_to_undo_done_form,
    find_deciding_row,
    find_following_subject,
    find_new_subject,
)
from convengine.engine.text.compare import blank, code
from convengine.engine.threads.lifecycle import BEGIN_TASK
from convengine.engine.threads.message_intent import settle_message_intent
from convengine.engine.turn import rows
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import DialogueAct, ResetReason, RulePhase
from convengine.engine.turn.reset import RESET, reset_session
from convengine.engine.turn.scope import INTENT_COLLISION, UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind

#: Session fields that resolving an intent may change.
RESOLVE_FIELDS = FACT_FIELDS | {
    "intent", "state", "transitions", "intent_locked", "intent_lock_reason", "intent_source", "clarification",
    "reply_override", "routing", "dialogue", "last_llm_output", "last_llm_stage", "context", "digression",
    "earlier_message",
}  # fmt: skip
_ENDS_SESSION = ("CONFIRMATION", "ABANDON")


class ResetResolvedIntentStep(Step):
    """Reset only for an intent that was resolved in this turn; a restored one would reset every turn."""

    after = ("IntentResolutionStep",)
    rank = 1400
    requires_persisted = True
    rights = (RESET,)

    def find_idle_reason(self, session: Session, turn: Turn) -> str | None:
        return "no intent was found in this turn" if session.intent_source is None else None

    def execute(self, session: Session, turn: Turn) -> Continue:
        codes = turn.config(session, RESET_INTENT_CODES) or RESET_INTENT_CODES.default
        if code(session.intent) not in codes:
            return Continue(session)
        matched = {"matchedResetIntentCodes": list(codes), "matchedIntent": session.intent}
        return Continue(reset_session(session, turn, ResetReason.INTENT_RESOLVED_RESET, only=True, **matched))


class IntentResolutionStep(Step):
    """Keep the intent while something holds it, else ask the resolvers."""

    after = ("GuardrailStep",)
    rank = 1300
    always_runs = True
    requires_persisted = True
    writes = RESOLVE_FIELDS
    rights = (RUN_RULES, BEGIN_TASK)

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Resolve. On a thread, the message may begin a new session."""
        return Continue(settle_message_intent(carry_message(session, resolve_intent(session, turn), turn), turn))


def resolve_intent(session: Session, turn: Turn) -> Session:
    """Apply the first reason to keep the intent, else resolve it. One closing stage says which it was."""
    turn.audit(
        session,
        INTENT_RESOLVE_START,
        previousIntent=session.intent,
        intentLocked=session.intent_locked,
        intentLockReason=session.intent_lock_reason,
    )
    if session.reset_only or session.digression is not None:  # It only asked for a reset, or for a language.
        return _audit_no_change(session, turn, "reset_only" if session.reset_only else "LANGUAGE")
    if turn.request.resolved and session.dialogue.message_intent in _ENDS_SESSION:
        # Accepting a result or giving up a task has no other intent.
        return _audit_no_change(session, turn, "session_ends")
    if hands_over_itself(session, turn):
        return _audit_no_change(session, turn, "PERSON_WANTED")
    if (decision := decide_leaving(session, turn)) is not None:
        return _settle_leaving(session, turn, decision)
    if accepts_offered_subject(session, turn) or fills_offered_form(session, turn):
        return _settle_leaving(session, turn, LeaveDecision.LEAVE)
    may_leave, session = may_want_to_leave(session, turn), close_leave_question(session)
    if signal := find_forcing_signal(session, turn):
        turn.audit(session, INTENT_RESOLVE_FORCED, signal=signal, reason=session.intent_lock_reason)
        return _drop_old_question(_ask_resolvers(_unlock(session), turn, forced=True))
    if kept_session := _keep_intent(session, turn, may_leave=may_leave):
        return kept_session
    if _has_confirmed_form(session, turn):
        return _audit_no_change(session, turn, "FORM_CONFIRMED")
    return _ask_resolvers(session, turn, may_leave=may_leave)


def _has_confirmed_form(session: Session, turn: Turn) -> bool:
    """True after a yes to the confirmation of a form that a rule acted on: "yes, book it" asks for nothing else."""
    if session.dialogue.dialogue_act != DialogueAct.AFFIRM or not session.transitions:
        return False
    row = turn.snapshot.row(rows.OutputSchema, DialogueState.of(session).last_schema)
    # Only a form with x-on-no asks for a confirmation.
    return row is not None and read_on_no(row) is not None and code(row.intent_code) == code(session.intent)


def _settle_leaving(session: Session, turn: Turn, decision: LeaveDecision) -> Session:
    """Leave the form, ask whether to leave it, or go on with it, and move to the intent that the user wants instead."""
    following = DialogueState.of(session).leaving or ""
    if decision is LeaveDecision.STAY:
        return _audit_no_change(stay(session), turn, "FORM_STAYS")
    if row := find_following_subject(session, turn):
        asks = decision is LeaveDecision.ASK and not leaves_form(row)
        return _change_subject(session, turn, row) if asks else _leave_for(session, turn, row)
    if decision is LeaveDecision.ASK:
        subject = find_doubtful_subject(session, turn)
        return _audit_no_change(ask_to_leave(session, turn, subject), turn, "FORM_LEAVE_ASKED")
    if row := find_offered_row(turn, following):
        return _move_by_classifier(leave(session, turn, following), turn, row)
    if following in map_spellings(turn.snapshot):
        after = accept_intent(leave(session, turn, following), turn, following, 1.0, (), by="OPTION").session
        return _audit_resolution(after, turn, INTENT_RESOLVED_BY_AGENT, agent=after.intent)
    return _audit_no_change(leave(session, turn), turn, "FORM_LEFT")


def _keep_intent(session: Session, turn: Turn, *, may_leave: bool) -> Session | None:
    """The session whose intent is kept, or left for what the message asks for. Returns None if nothing keeps it.

    `may_leave`: the message may want to leave the form, unless a phrase takes it.
    """
    stage = find_keeping_stage(session, turn)
    if stage is None:
        return None
    row = find_interruption(session, turn)
    if row is not None and leaves_form(row):
        return _drop_old_question(_move_by_classifier(_unlock(session), turn, row))
    session = (digress(session, turn, row) if row is not None else None) or session
    if stage is not INTENT_RESOLVE_SKIPPED_POLICY and (subject := find_new_subject(session, turn)):
        return _change_subject(session, turn, subject)
    if may_leave and session.digression is None:
        return _settle_leaving(session, turn, LeaveDecision.ASK)
    where: dict[str, Any] = {"intent": session.intent, "state": session.state}
    if stage is INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION:
        turn.audit(session, stage, **where, intentLocked=True, intentLockReason=session.intent_lock_reason)
        return _drop_old_question(session)
    if stage is INTENT_RESOLVE_SKIPPED_STICKY_INTENT:
        turn.audit(session, stage, **where, stickyIntentEnabled=True, reason="SCHEMA_INCOMPLETE")
        return session.evolve(intent_locked=True, intent_lock_reason="SCHEMA_INCOMPLETE")
    turn.audit(
        session,
        stage,
        **where,
        dialogueAct=session.dialogue.dialogue_act,
        policyDecision=session.routing.policy_decision,
        skipIntentResolution=True,
        reason="POLICY_DECISION",
    )
    return session


def _change_subject(session: Session, turn: Turn, row: rows.Classifier) -> Session:
    """Go on with another intent, or first ask whether to leave the form. The same intent again changes nothing."""
    schema, intent = find_left_schema(session, turn), code(row.intent_code)
    if intent == code(session.intent):
        gives_anything = schema is not None and read_message(session, turn, schema).gives_anything
        return _audit_no_change(session if gives_anything else stay(session), turn, "FORM_STAYS")
    wants_person = leaves_form(row) and says(session, turn, MoveKind.PERSON)
    if not wants_person and schema is not None and decide_on_leave(session, turn, schema, intent) is LeaveDecision.ASK:
        return _audit_no_change(ask_to_leave(session, turn, intent), turn, "FORM_LEAVE_ASKED")
    return _leave_for(session, turn, row)


def _leave_for(session: Session, turn: Turn, row: rows.Classifier) -> Session:
    return _move_by_classifier(leave(_unlock(session), turn, code(row.intent_code)), turn, row)


def _unlock(session: Session) -> Session:
    return session.evolve(intent_locked=False, intent_lock_reason=None)


def _ask_resolvers(session: Session, turn: Turn, *, forced: bool = False, may_leave: bool = False) -> Session:
    """Ask the phrases, then the agent, then the user if neither could decide. `forced`: nothing may hold it.

    `may_leave`: the message may want to leave the form, unless a phrase takes it.
    """
    classification = _classify_message(session, turn)
    if not forced and _is_for_section(session, turn, classification):
        return _end_unresolved(session, turn, "ASKED_OF_SECTION")
    question = None if forced else find_returning_row(session, turn, classification)
    if question is not None and (digressing := digress(session, turn, question)):
        return _audit_no_change(digressing, turn, "DIGRESSION")
    row = find_deciding_row(session, turn, classification, forced=forced)
    if row is not None and not forced:
        if asks_to_undo_done_form(session, turn, row, classification.score):
            return _audit_no_change(session, turn, "FORM_DONE")
        if asks_before_leaving(session, turn, code(row.intent_code)):
            return _change_subject(session, turn, row)
    if row is not None:
        return _move_by_classifier(session, turn, row)
    if may_leave and not classification.hits:
        return _settle_leaving(session, turn, LeaveDecision.ASK)
    collided = classification.intents if classification.has_collision else ()
    agent_result = resolve_by_agent(session, turn, collided, may_stay=not forced)
    return _follow_agent(agent_result, turn) or _leave_unresolved(agent_result, turn, classification)


def _follow_agent(agent_result: AgentResult, turn: Turn) -> Session | None:
    """The session as the agent decided. Returns None if it could not decide."""
    session, outcome = agent_result.session, agent_result.outcome
    if outcome is AgentOutcome.STAYED:
        return _audit_no_change(session, turn, "DIGRESSION" if session.digression else "FORM_LEAVE_ASKED")
    if outcome is AgentOutcome.ACCEPTED:
        return _audit_resolution(session, turn, INTENT_RESOLVED_BY_AGENT, agent=session.intent)
    return _audit_question(session, turn) if outcome is AgentOutcome.ASKED else None


def _leave_unresolved(agent_result: AgentResult, turn: Turn, classification: Classification) -> Session:
    """Nobody decided. If there is no model, ask the user when phrases give options."""
    session, has_no_model = agent_result.session, agent_result.outcome is AgentOutcome.UNAVAILABLE
    if has_no_model and _asks_only_to_undo(session, turn, classification):
        return _audit_no_change(session, turn, "FORM_DONE")
    if has_no_model and classification.has_collision:
        return _audit_question(collision.ask_user(session, turn, classification.hits), turn)
    if code(session.state) == INTENT_COLLISION:
        is_other = has_better_sections(session, turn, classification.best_score)
        is_other = is_other or says_only(session, turn, MoveKind.NEGATE, MoveKind.LEAVE, MoveKind.PERSON)
        if not is_other and (repeated := collision.repeat_question(session)):
            return _audit_question(repeated, turn)
        return _end_unresolved(session, turn, "NO_RESOLVER_MATCHED")
    if has_no_model and (near := _list_askable(session, turn, classification)):
        return _audit_question(collision.ask_user(session, turn, near), turn)
    return _audit_no_change(session, turn, "BLANK_TEXT" if blank(session.user_text) else "NO_RESOLVER_MATCHED")


def _asks_only_to_undo(session: Session, turn: Turn, classification: Classification) -> bool:
    """True for "cancel my tattoo" after the form was done, if none of the intents that it comes near to is for that."""
    near = classification.hits or classification.askable
    return bool(near) and all(asks_to_undo_done_form(session, turn, row, classification.score) for row in near)


def _list_askable(session: Session, turn: Turn, classification: Classification) -> list[rows.Classifier]:
    """The rows of named intents that the message comes near to: "Do you mean …?".

    None while a form is open, and for a wish for a person, which needs no question.
    """
    is_open = find_left_schema(session, turn) is not None
    if is_open or understand_message(session, turn).is_bare_move or says(session, turn, MoveKind.PERSON):
        return []
    near = [row for row in classification.askable if collision.has_name(turn.snapshot, row.intent_code)]
    return [] if near and has_better_sections(session, turn, classification.best_score) else near


def _is_for_section(session: Session, turn: Turn, classification: Classification) -> bool:
    """True if a section has the message in *asked as*, no phrase has the same words, and no pattern matches."""
    is_certain = classification.score == 1 or not all(row.is_phrase for row in classification.hits)
    return not is_certain and is_asked_of_section(session, turn)


def _end_unresolved(session: Session, turn: Turn, reason: str) -> Session:
    """No intent is meant. Nor is the one before an open question: with state UNKNOWN it would match no row."""
    if code(session.state) == INTENT_COLLISION:
        session = session.move_to(intent=UNKNOWN, state=UNKNOWN, cause="INTENT_RESOLUTION").evolve(clarification=None)
    return _audit_no_change(session, turn, reason)


def _classify_message(session: Session, turn: Turn) -> Classification:
    answers = list_answers(session, turn)
    classification = classify(session, turn, session.user_text, answers=answers)
    if not classification.hits and session.standalone_query and turn.config(session, USE_STANDALONE_QUERY):
        return classify(session, turn, session.standalone_query, answers=answers)
    return classification


def _move_by_classifier(session: Session, turn: Turn, row: rows.Classifier) -> Session:
    """Move to the intent and state of a phrase, and run the POST_CLASSIFIER_INTENT rules."""
    state, phase = choose_state(session, turn, row), RulePhase.POST_CLASSIFIER_INTENT
    after = enter_intent(
        session, turn, code(row.intent_code), state, "CLASSIFIER", phase, "IntentResolutionStep Classifier"
    )
    return _audit_resolution(after, turn, INTENT_RESOLVED_BY_CLASSIFIER, classifier=row.intent_code)


def _audit_resolution(
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


def _audit_question(session: Session, turn: Turn) -> Session:
    clarification = session.clarification
    turn.audit(
        session,
        INTENT_RESOLVE_NEEDS_CLARIFICATION,
        intent=session.intent,
        state=session.state,
        question=clarification.question if clarification else None,
        reason=clarification.reason if clarification else None,
        options=list(clarification.options) if clarification else [],
    )
    return session


def _audit_no_change(session: Session, turn: Turn, reason: str) -> Session:
    turn.audit(session, INTENT_RESOLVE_NO_CHANGE, reason=reason)
    return session


def _drop_old_question(session: Session) -> Session:
    return session.evolve(clarification=None) if collision.is_pending(session) else session


class FallbackIntentStateStep(Step):
    """Set a missing intent or state to UNKNOWN, and record it."""

    after = ("ResetResolvedIntentStep",)
    rank = 1500
    always_runs = True
    requires_persisted = True
    writes = frozenset({"intent", "state"})

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Set what is missing. The events have the values before that."""
        before: dict[str, Any] = {
            "intent": session.intent,
            "state": session.state,
            "context": session.context,
            "userText": session.user_text,
        }
        filled = session
        if blank(session.intent):
            turn.audit(session, INTENT_MISSING, **before, fallbackIntent=UNKNOWN)
            filled = filled.evolve(intent=UNKNOWN)
        if blank(session.state):
            turn.audit(session, STATE_MISSING, **before, fallbackState=UNKNOWN)
            filled = filled.evolve(state=UNKNOWN)
        if code(filled.intent) == UNKNOWN and not filled.reset_only:
            turn.audit(filled, INTENT_UNRESOLVED, userText=filled.user_text, reason="NO_INTENT_MATCHED")
        return Continue(filled)
