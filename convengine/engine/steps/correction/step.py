"""CorrectionStep: handle a yes, a change or a retry within the form."""

from convengine.engine.dialogue.settings import REGEX_RETRY
from convengine.engine.forms.session_form import (
    FACT_FIELDS,
    decide_schema,
    get_usable_form,
    lock_intent,
    set_form_facts,
)
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.prompts.select import choose_interaction, find_capabilities
from convengine.engine.rules.patterns import get_pattern
from convengine.engine.steps.correction.correct_form import audit_routing, correct_form
from convengine.engine.steps.correction.stages import (
    CORRECTION_STEP_CONFIRM_ACCEPT,
    CORRECTION_STEP_CONFIRM_REFUSED,
    CORRECTION_STEP_RETRY_REQUESTED,
)
from convengine.engine.text.compare import norm
from convengine.engine.turn.enums import DecisionKind, DialogueAct, RoutingDecision
from convengine.engine.turn.owned_params import RoutingParams
from convengine.engine.turn.rows import PromptTemplate
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

#: Session fields that routing may change.
ROUTE_FIELDS = FACT_FIELDS | {"routing", "context", "fields_read", "reply_override"}


class CorrectionStep(Step):
    """Keep "yes", "change X to Y" and "try again" from being taken for new requests."""

    after = ("InteractionPolicyStep",)
    rank = 900
    always_runs = True
    requires_persisted = True
    writes = ROUTE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Route the turn and set `routing_decision`."""
        return Continue(route_turn(session, turn))


def route_turn(session: Session, turn: Turn) -> Session:
    """Route the message; `routing_decision` has the result."""
    act = DialogueAct.read(session.dialogue.dialogue_act)
    answered = act is DialogueAct.ANSWER
    first = RoutingDecision.HANDLE_AS_ANSWER if answered else RoutingDecision.CONTINUE_STANDARD_FLOW
    session = session.with_values(
        RoutingParams(
            routing_decision=first.value,
            skip_schema_extraction=False,
            correction_applied=False,
            correction_target_field=None,
        )
    )
    text = norm(session.user_text)
    retry = bool(text) and get_pattern(session, turn, REGEX_RETRY).fits(text)
    if session.reset_only:
        return session
    if not (retry or act in (DialogueAct.AFFIRM, DialogueAct.EDIT)):
        return correct_form(session, turn)
    allowed = _find_allowed_interactions(session, turn)
    if retry and "retry" in allowed:
        session = _set_routing(session, RoutingDecision.RETRY_IN_PLACE)
        audit_routing(session, turn, CORRECTION_STEP_RETRY_REQUESTED)
    elif act is DialogueAct.AFFIRM and "affirm" in allowed:
        return _accept_confirmation(session, turn)
    elif act is DialogueAct.EDIT:
        return correct_form(session, turn, allows_edit="edit" in allowed)
    return session


def _find_allowed_interactions(session: Session, turn: Turn) -> frozenset[str]:
    """What the current template allows; nothing without a template. Records the decision."""
    if not turn.snapshot.rows(PromptTemplate):
        return frozenset()
    intent, state = session.intent, session.state
    choice = choose_interaction(turn.snapshot, intent, state)
    template = choice.decide(session, turn, DecisionKind.TEMPLATE, use="INTERACTION", intent=intent, state=state)
    return find_capabilities(template) if template else frozenset()


def _accept_confirmation(session: Session, turn: Turn) -> Session:
    """Go on after a yes to a complete form; after one to an incomplete form, record the missing fields."""
    row = decide_schema(session, turn)
    form = get_usable_form(session, turn, row)
    if row is None or form is None:
        return session
    status = form.status(session.context)
    if not status.complete:
        audit_routing(session, turn, CORRECTION_STEP_CONFIRM_REFUSED, missingFields=list(status.missing))
        return session
    session = _set_routing(lock_intent(set_form_facts(session, row, form), True), RoutingDecision.PROCEED_CONFIRMED)
    audit_routing(session, turn, CORRECTION_STEP_CONFIRM_ACCEPT)
    return session


def _set_routing(session: Session, decision: RoutingDecision) -> Session:
    return session.with_values(
        RoutingParams(routing_decision=decision.value, skip_schema_extraction=True, skip_intent_resolution=True)
    )
