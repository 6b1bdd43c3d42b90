"""A yes or no as people say it in the language of the conversation, in answer to a question.

The patterns for yes and no are in English and narrow, as a yes can run an action. The words of the language folders add
to them only after an answer that ends with a question mark. At the confirmation of a form that says what a "no" does
(`x-on-no`), a yes may also begin the message: "yes, book it for me".
"""

from convengine.engine.forms.asking import find_form_locale
from convengine.engine.forms.form import Form, get_form
from convengine.engine.forms.life import read_on_no
from convengine.engine.turn import rows
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import DialogueAct
from convengine.engine.turn.local_time import LOCALE
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.values import begins_with_yes, says_yes_or_no


def read_yes_or_no_act(session: Session, turn: Turn) -> DialogueAct | None:
    """AFFIRM or NEGATE if the message answers a question with a yes or a no, else null."""
    text = session.user_text or ""
    if not text or not to_spoken_text(session.last_assistant).rstrip().endswith("?"):
        return None
    row = turn.snapshot.row(rows.OutputSchema, schema_id) if (schema_id := _find_last_schema(session)) else None
    form = get_form(turn.snapshot, row) if row else None
    locales = dict.fromkeys((find_form_locale(session, turn, form), turn.config(session, LOCALE)))
    confirms = row is not None and form is not None and read_on_no(row) is not None and _is_complete(form, session)
    for locale in locales:
        value = says_yes_or_no(text, locale)
        if value is not None:
            return DialogueAct.AFFIRM if value else DialogueAct.NEGATE
        if confirms and begins_with_yes(text, locale):
            return DialogueAct.AFFIRM
    return None


def _find_last_schema(session: Session) -> int | None:
    return DialogueState.of(session).last_schema


def _is_complete(form: Form, session: Session) -> bool:
    return not form.problem and form.status(session.context).complete
