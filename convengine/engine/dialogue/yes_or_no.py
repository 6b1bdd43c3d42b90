"""A yes or no as people say it in the language of the conversation, in answer to a question.

The patterns for yes and no are in English and narrow, as a yes can run an action. The words of the language folders add
to them only after an answer that ends with a question mark. At the confirmation of a form that says what a "no" does
(`x-on-no`), a yes or no may also begin the message: "yes, book it for me", "no that's not it".
"""

from convengine.engine.forms.form import Form, get_form
from convengine.engine.forms.life import read_on_no
from convengine.engine.forms.yes_or_no import read_opening_answer, read_yes_or_no
from convengine.engine.turn import rows
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import DialogueAct
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


def read_yes_or_no_act(session: Session, turn: Turn) -> DialogueAct | None:
    """AFFIRM or NEGATE if the message answers a question with a yes or a no, else null."""
    text = session.user_text or ""
    if not text or not to_spoken_text(session.last_assistant).rstrip().endswith("?"):
        return None
    last = DialogueState.of(session).last_schema
    row = turn.snapshot.row(rows.OutputSchema, last) if last is not None else None
    value = read_yes_or_no(session, turn, row)
    if value is not None:
        return DialogueAct.AFFIRM if value else DialogueAct.NEGATE
    if row is None or read_on_no(row) is None:
        return None
    value = read_opening_answer(session, turn, row)
    if value is None or not _is_complete(get_form(turn.snapshot, row), session):
        return None
    return DialogueAct.AFFIRM if value else DialogueAct.NEGATE


def _is_complete(form: Form, session: Session) -> bool:
    return not form.problem and form.status(session.context).complete
