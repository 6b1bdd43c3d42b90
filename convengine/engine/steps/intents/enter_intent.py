"""Move to the intent that was recognised: the state in which it begins, and the form that is left for it."""

from convengine.engine.clarification import collision
from convengine.engine.forms.interrupted import find_interrupted, interrupt_form, may_interrupt, restore_values
from convengine.engine.forms.life import ClearCause, clear_form
from convengine.engine.rules.apply import run_phase
from convengine.engine.steps.intents.classifiers import begins_again, order_classifiers
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.owned_params import RoutingParams
from convengine.engine.turn.scope import ANY, IDLE, UNKNOWN, is_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn


def find_first_state(snapshot: Snapshot, intent: str) -> str:
    """The state in which an intent begins: that of its first phrase, else IDLE, unless only its form has a state."""
    phrases = (code(row.state_code) for row in order_classifiers(snapshot) if code(row.intent_code) == intent)
    if state := next(filter(_is_concrete, phrases), None):
        return state
    if any(snapshot.has_scope(table, intent, IDLE) for table in (rows.Response, rows.Rule, rows.OutputSchema)):
        return IDLE
    forms = (row for row in snapshot.enabled_rows(rows.OutputSchema) if code(row.intent_code) == intent)
    return next(filter(_is_concrete, (code(row.state_code) for row in forms)), IDLE)


def _is_concrete(state: str) -> bool:
    return is_resolved(state) and state != ANY


def enter_intent(
    session: Session, turn: Turn, intent: str, state: str | None, source: str, phase: RulePhase, origin: str
) -> Session:
    """The session in its new intent, without open questions and the form that it leaves; runs the rules of a phase.

    `source`: what recognised the intent. `state`: None to keep the state.
    """
    row = turn.snapshot.row(rows.OutputSchema, DialogueState.of(session).last_schema)
    if row is not None and code(row.intent_code) != code(intent) and may_interrupt(session, turn, row, code(intent)):
        session, row, state = interrupt_form(session, turn, row, code(intent)), None, state or UNKNOWN
    moved = session.move_to(intent=intent, state=state, cause="INTENT_RESOLUTION")
    if waiting := find_interrupted(moved, turn, code(intent)):
        moved = restore_values(moved, turn, waiting)
    if row is not None and moved is not session:
        if code(row.intent_code) != code(moved.intent):
            moved = clear_form(moved, turn, row, ClearCause.CANCEL)
        elif begins_again(session, turn, str(moved.state)):
            moved = clear_form(moved, turn, row, ClearCause.RESTART)
    moved = collision.drop_questions(moved).evolve(intent_source=source)
    return run_phase(phase, origin, moved.with_values(RoutingParams(intent_resolved_by=source)), turn)
