"""What a message is to the form at hand: a yes, a change, a wish to try again, or none of these (pipeline-1 10.2)."""

from typing import Any

from convengine.correction.interaction import choose_interaction
from convengine.correction.patch import Patch, patch_of
from convengine.domain.catalogue.interaction import REGEX_RETRY
from convengine.domain.enums import DecisionKind, DialogueAct, RoutingDecision
from convengine.domain.rows import PromptTemplate
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import norm
from convengine.domain.turn import Turn
from convengine.prompts.contract import capabilities
from convengine.rules.pattern_settings import pattern_of
from convengine.schemas.facts import FACT_FIELDS, locked, usable_form, with_facts
from convengine.schemas.form import Form
from convengine.schemas.select import decide_schema

#: Session fields that routing may change.
ROUTE_FIELDS = FACT_FIELDS | {"context"}


def route(session: Session, turn: Turn) -> Session:
    """Rules COR-1 to COR-10. What is decided stands in `routing_decision`."""
    act = DialogueAct.read(session.input_params.get("dialogue_act"))
    answered = act is DialogueAct.ANSWER
    first = RoutingDecision.HANDLE_AS_ANSWER if answered else RoutingDecision.CONTINUE_STANDARD_FLOW
    session = session.with_params(
        {
            "routing_decision": first.value,
            "skip_schema_extraction": False,
            "correction_applied": False,
            "correction_target_field": None,
        }
    )
    retry = _asks_again(session, turn)
    if session.reset_only or not (retry or act in (DialogueAct.AFFIRM, DialogueAct.EDIT)):
        return session
    may = _allowed(session, turn)
    if retry and "retry" in may:
        session = _routed(session, RoutingDecision.RETRY_IN_PLACE)
        _tell(session, turn, Stage.CORRECTION_STEP_RETRY_REQUESTED)
    elif act is DialogueAct.AFFIRM and "affirm" in may:
        return _confirmed(session, turn)
    elif act is DialogueAct.EDIT and "edit" in may:
        return _edited(session, turn)
    return session


def _asks_again(session: Session, turn: Turn) -> bool:
    text = norm(session.user_text)
    return bool(text) and pattern_of(session, turn, REGEX_RETRY).fits(text)


def _allowed(session: Session, turn: Turn) -> frozenset[str]:
    """What the template in force allows, with its DECISION event."""
    if not turn.snapshot.rows(PromptTemplate):
        return frozenset()
    choice = choose_interaction(turn.snapshot, session.intent, session.state)
    turn.decide(
        session,
        DecisionKind.TEMPLATE,
        key={"use": "INTERACTION", "intent": session.intent, "state": session.state},
        winner=choice.winner,
        candidates=choice.candidates(),
        cut=choice.cut,
    )
    return capabilities(choice.winner) if choice.winner else frozenset()


def _confirmed(session: Session, turn: Turn) -> Session:
    """COR-6 and COR-7: a yes to a complete form goes on; to an incomplete one it says what is missing."""
    row = decide_schema(session, turn)
    form = usable_form(session, turn, row)
    if row is None or form is None:
        return session
    status = form.status(session.context)
    if not status.complete:
        _tell(session, turn, Stage.CORRECTION_STEP_CONFIRM_REFUSED, missingFields=list(status.missing))
        return session
    session = _routed(locked(with_facts(session, row, status), True), RoutingDecision.PROCEED_CONFIRMED)
    _tell(session, turn, Stage.CORRECTION_STEP_CONFIRM_ACCEPT)
    return session


def _edited(session: Session, turn: Turn) -> Session:
    """COR-8 and COR-9: change the values in place, all that the text names or none."""
    row = decide_schema(session, turn)
    form = usable_form(session, turn, row)
    if row is None or form is None:
        return session
    patch = _patch(session, form)
    if not patch.changes:
        _tell(session, turn, Stage.CORRECTION_STEP_PATCH_NOT_APPLIED, reason=patch.reason, field=patch.field)
        return session
    before, fields = session.context, [change.field.path for change in patch.changes]
    session = session.with_context({change.field.path: change.value for change in patch.changes})
    status = form.status(session.context)
    session = _routed(locked(with_facts(session, row, status), status.complete), RoutingDecision.APPLY_CORRECTION)
    session = session.with_params(
        {"correction_applied": True, "correction_target_field": fields[0], "correction_fields": fields}
    )
    for change in patch.changes:
        path = change.field.path
        _tell(
            session,
            turn,
            Stage.CORRECTION_STEP_CORRECTION_PATCH_APPLIED,
            field=path,
            value=change.value,
            previousValue=before.get(path),
        )
    return session


def _patch(session: Session, form: Form) -> Patch:
    try:
        return patch_of(session.user_text or "", form, session.context)
    except Exception as error:
        # 10.4 (8): whatever goes wrong, nothing was applied, and the turn goes on without the change.
        return Patch(reason="ERROR", field=f"{type(error).__name__}: {error}")


def _routed(session: Session, decision: RoutingDecision) -> Session:
    return session.with_params(
        {"routing_decision": decision.value, "skip_schema_extraction": True, "skip_intent_resolution": True}
    )


def _tell(session: Session, turn: Turn, stage: Stage, **about: Any) -> None:
    turn.audit(
        session,
        stage,
        **about,
        intent=session.intent,
        state=session.state,
        routingDecision=session.input_params["routing_decision"],
    )
