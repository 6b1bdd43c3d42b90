"""The way back to the form that another form interrupted, once that one has ended."""

from dataclasses import replace

from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.forms.interrupted import RESUMED, InterruptedForm, find_interrupted, restore_values
from convengine.engine.forms.life import forget_question
from convengine.engine.forms.session_form import get_current_form, lock_intent, set_form_facts
from convengine.engine.forms.settings import RESUME_TEXT
from convengine.engine.rules.choice import choose_response
from convengine.engine.steps.responses.digression import find_question, lead_to_question
from convengine.engine.steps.responses.form_question import ask_next_field, clear_done_form, find_end
from convengine.engine.text.compare import code, truthy
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.payload import Payload, TextPayload
from convengine.engine.turn.scope import HAND_OVER
from convengine.engine.turn.session import NOTHING_READ, Session
from convengine.engine.turn.turn import Turn

#: Causes of moves out of a form that the user left.
_LEFT = frozenset({"FORM_LEFT", "FORM_REFUSED"})


def go_back(session: Session, turn: Turn, payload: Payload) -> tuple[Session, Payload]:
    """The session in the interrupted form, and the answer with its question, if another form ends with this answer.

    Both are unchanged if none waits. After a hand-over, none waits any longer. A document stands alone.
    """
    causes = {hop.cause for hop in session.transitions}
    if code(session.state) == HAND_OVER or "FORM_GIVEN_UP" in causes:
        return update_dialogue(session, interrupted=()), payload
    is_left = bool(causes & _LEFT) and not session.intent_source
    form = find_interrupted(session, turn)
    if form is None or not (is_left or find_end(session, turn)) or truthy(session.rules.session_complete_proposed):
        return session, payload
    session = _enter(clear_done_form(session, turn), turn, form)
    # The message was for the other form.
    asking = ask_next_field(session.evolve(user_text="", fields_read=NOTHING_READ), turn)
    row = choose_response(turn.snapshot, asking.intent, asking.state).winner
    question = find_question(asking, turn, row, DialogueState.of(asking))
    title = get_intent_name(turn.snapshot, code(session.intent))
    lead = lead_to_question(asking, turn, RESUME_TEXT, "resume", title=title, question=question)
    session = asking.evolve(user_text=session.user_text, fields_read=session.fields_read)
    if isinstance(payload, TextPayload):
        payload = replace(payload, value="\n\n".join(filter(None, (payload.value, lead))))
    return session, payload


def _enter(session: Session, turn: Turn, form: InterruptedForm) -> Session:
    session = forget_question(restore_values(session, turn, form, form.state))
    session = session.move_to(intent=form.row.intent_code, state=form.state, cause=RESUMED)
    session = set_form_facts(session, form.row, get_current_form(session, turn, form.row))
    return lock_intent(session, session.schema_complete)
