"""What is said after an end: thanks, a greeting, or something that nobody understood (R113).

The last answer of a form must not come again, because its fields have left the context. Nor must that of an intent that
answers and returns, which nobody asked again.
"""

from convengine.engine.forms.asking import (
    asks_to_undo,
    find_form_language,
    find_phrase_language,
    get_texts,
    is_phrase,
    list_phrases,
    says_only,
)
from convengine.engine.forms.form import Form, get_form
from convengine.engine.forms.life import begins_something, find_ended_schema
from convengine.engine.forms.user_answer import read_yes_or_no
from convengine.engine.text.compare import blank, code
from convengine.engine.text.words import split_words
from convengine.engine.turn.enums import DialogueAct
from convengine.engine.turn.scope import HAND_OVER, is_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn

#: Longest thanks, in words: "perfect, thank you very much for that".
_LONGEST_THANKS = 8
#: How many intents are named to users who need help.
_MOST_OFFERS = 5


def follows_an_end(session: Session, turn: Turn) -> bool:
    """True when a form, an answer or a hand-over of this intent ended earlier, and this message began nothing."""
    if session.digression or blank(session.user_text) or begins_something(session):
        return False
    if code(session.state) == HAND_OVER:
        return True
    return code(session.intent) in turn.snapshot.returning_intents or find_ended_schema(session, turn) is not None


def write_small_talk(session: Session, turn: Turn) -> str | None:
    """The answer to a greeting, thanks, or a bare yes or no after an end; null for other messages."""
    text, act = session.user_text, session.input_params.get("dialogue_act")
    answer = read_yes_or_no(session, turn, find_ended_schema(session, turn))
    if _says_thanks(text):
        key = "reply_thanks"
    elif act == DialogueAct.GREETING or is_phrase(text, "greetings"):
        key = "reply_greeting"
    elif says_only(text, "cancel_this") or asks_to_undo(text):
        return None
    elif says_only(text, "cancel", "goodbye") or answer is False or act == DialogueAct.NEGATE:
        key = "reply_no"
    elif answer is True or act == DialogueAct.AFFIRM:
        key = "reply_yes"
    else:
        return None
    own = _find_language(session, turn)
    language = find_phrase_language(text, "thanks", "greetings", "cancel", "goodbye", preferred=own) or own
    return str(get_texts(language)[key])


def note_small_talk(session: Session, turn: Turn) -> Session:
    """The session whose answer may use the reply to a greeting or thanks, where no intent is known."""
    if is_resolved(session.intent) or blank(session.user_text) or session.reset_reason:
        return session
    text = session.user_text
    language = find_phrase_language(text, "thanks", "greetings", preferred=_find_language(session, turn))
    greets = session.input_params.get("dialogue_act") == DialogueAct.GREETING
    if language is None and not greets:
        return session
    key = "reply_thanks" if is_phrase(text, "thanks") else "reply_greeting"
    reply = get_texts(language or find_form_language(session, turn))[key]
    return session.with_params({"small_talk": str(reply)})


def write_help(session: Session, turn: Turn) -> str:
    """The answer to "help", or to a message that nobody understood: what can be asked for, tasks before questions."""
    own = _find_language(session, turn)
    language = find_phrase_language(session.user_text, "help", preferred=own) or own
    texts, names = get_texts(language), _list_offers(turn.snapshot)
    offers = ", ".join(names[:_MOST_OFFERS]) + (f" {texts['more']}" if len(names) > _MOST_OFFERS else "")
    if is_phrase(session.user_text, "help"):
        return str(texts["help_with"].replace("{intents}", offers) if offers else texts["reply_greeting"])
    listed = [texts["offers"].replace("{intents}", offers)] if offers else []
    return " ".join([texts["not_understood"], texts["other_words"], *listed])


def _list_offers(snapshot: Snapshot) -> list[str]:
    """The names of the intents with a display name, tasks first; small talk has none. Without any, all names."""
    intents = sorted(snapshot.allowed_intents, key=lambda intent: intent.returns)
    return [intent.name for intent in intents if not blank(intent.display_name)] or [each.name for each in intents]


def write_not_understood(session: Session, turn: Turn) -> str:
    """The answer to a message after an end that nobody understood, where no row answers."""
    return str(get_texts(_find_language(session, turn))["not_understood"])


def _find_language(session: Session, turn: Turn) -> str:
    return find_form_language(session, turn, _find_ended_form(session, turn))


def _find_ended_form(session: Session, turn: Turn) -> Form | None:
    row = find_ended_schema(session, turn)
    return get_form(turn.snapshot, row) if row else None


def _says_thanks(text: str | None) -> bool:
    words = split_words(text)
    if "?" in (text or "") or len(words) > _LONGEST_THANKS:
        return False
    plain = f" {' '.join(words)} "
    return any(f" {' '.join(split_words(phrase))} " in plain for phrase in list_phrases("thanks"))
