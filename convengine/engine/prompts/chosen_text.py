"""Choose one of several texts, and record which."""

from convengine.engine.text.several_texts import select_text, split_texts
from convengine.engine.turn.session import Session
from convengine.engine.turn.stages import TEXT_CHOSEN
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json


def choose_text(session: Session, turn: Turn, template: str, **source: Json) -> str:
    """The text of a template that the conversation gets; writes TEXT_CHOSEN if there are several.

    `source`: the row and the field of the template.
    """
    text, texts = select_text(template, session.conversation_id), split_texts(template)
    if len(texts) > 1:
        number = texts.index(text) + 1
        turn.audit_once(session, TEXT_CHOSEN, template, number=number, count=len(texts), **source)
    return text
