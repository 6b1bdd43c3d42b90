"""What a form asks back: whether an offered value is meant, and what to change (docs/forms.md)."""

from collections.abc import Collection

from convengine.engine.forms.asking import (
    fill_text,
    find_form_language,
    find_form_locale,
    get_texts,
    join_texts,
    write_change_question,
    write_title,
)
from convengine.engine.forms.form import Form
from convengine.engine.forms.session_form import find_value
from convengine.engine.turn.dialogue_state import update_dialogue
from convengine.engine.turn.session import ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.say import say_value

#: Source of these answers.
SOURCE = "FORM"


def ask_what_is_meant(session: Session, turn: Turn, form: Form) -> Session:
    """The session that asks whether the offered values are meant, where no question of the form follows."""
    question = write_offer(session, turn, form)
    if not question or not session.schema_complete:
        return session
    asking = update_dialogue(session, offered=dict(session.fields_read.offered))
    return asking.evolve(reply_override=ReplyOverride(question, SOURCE))


def write_changes(session: Session, turn: Turn, form: Form, paths: Collection[str]) -> str:
    """ "I have changed that: day Friday 27 November 2026."; blank for none."""
    locale, language = find_form_locale(session, turn, form), find_form_language(session, turn, form)
    fields = [field for path in paths if (field := form.field(path))]
    texts = [say_value(field.spec, find_value(session.context, field.path), locale) for field in fields]
    values = [f"{write_title(field, language)} {text}" for field, text in zip(fields, texts, strict=True)]
    return fill_text(get_texts(language)["changed"], values=", ".join(values)) if values else ""


def write_offer(session: Session, turn: Turn, form: Form) -> str:
    """ "Do you mean Thursday 26 November and 16:00?"; blank without offers."""
    offered = session.fields_read.offered
    texts, locale = get_texts(find_form_language(session, turn, form)), find_form_locale(session, turn, form)
    values = [say_value(field.spec, offered[field.path], locale) for field in form.leaves if field.path in offered]
    return str(texts["candidates"]).format(candidates=join_texts(values, texts["and"])) if values else ""


def ask_what_to_change(
    session: Session, turn: Turn, form: Form, paths: list[str], changed: Collection[str] = ()
) -> Session:
    """The session that asks which of these fields to change. `changed`: the fields that the message changed."""
    fields = [field for field in form.leaves if field.path in paths]
    question = write_change_question(fields, find_form_language(session, turn, form))
    if changes := write_changes(session, turn, form, changed):
        question = f"{changes} {question}"
    return update_dialogue(session, asked_field=None, listed_options=tuple(field.path for field in fields)).evolve(
        reply_override=ReplyOverride(question, SOURCE)
    )
