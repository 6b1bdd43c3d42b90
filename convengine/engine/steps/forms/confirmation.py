"""A "no" to the confirmation of a form, and the choice of what to change."""

from convengine.engine.forms.asking import find_form_language, get_texts, list_filled_fields
from convengine.engine.forms.form import Form
from convengine.engine.forms.life import ClearCause, OnNo, clear_form, is_final_state, leave_form, read_on_no
from convengine.engine.forms.offers import SOURCE, ask_what_to_change
from convengine.engine.forms.session_form import set_form_facts
from convengine.engine.forms.stages import FORM_REFUSED
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import DialogueAct
from convengine.engine.turn.owned_params import FormParams
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.session import ReplyOverride, Session
from convengine.engine.turn.turn import Turn


def react_to_no(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Session | None:
    """The session after a "no" to the confirmation, as the schema's `x-on-no` wants it.

    Returns None for other messages.
    """
    on_no = read_on_no(row)
    if on_no is None or session.dialogue.dialogue_act != DialogueAct.NEGATE:
        return None
    if not form.status(session.context).complete or is_final_state(turn.snapshot, session.intent, session.state):
        return None
    turn.audit(session, FORM_REFUSED, schemaId=row.schema_id, reaction=on_no.value)
    session = session.with_values(FormParams(form_refused=code(session.intent)))
    texts = get_texts(find_form_language(session, turn, form))
    if on_no is OnNo.ASK_WHAT_TO_CHANGE:
        paths = [field.path for field in list_filled_fields(form, session.context)]
        return ask_what_to_change(set_form_facts(session, row, form), turn, form, paths)
    if on_no is OnNo.RESTART:
        session = clear_form(session, turn, row, ClearCause.RESTART)
        state = code(row.state_code)
        session = session.move_to(state=None if state == ANY else state, cause="FORM_REFUSED")
        return set_form_facts(session, row, form)
    session = leave_form(session, turn, row, "FORM_REFUSED")
    return session.evolve(reply_override=ReplyOverride(texts["cancelled"], SOURCE))
