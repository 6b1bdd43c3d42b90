"""LanguageStep: find the language of the conversation, where it may have several."""

from convengine.engine.dialogue.language import choose_language
from convengine.engine.forms.asking import find_conversation_locale, get_texts
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.turn.local_time import LANGUAGES
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.session import Digression, Session
from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.language import find_language

LANGUAGE_CHOSEN = declare_stage(
    "LANGUAGE_CHOSEN",
    Family.OPENING,
    "The language of the conversation, and why it is that one.",
    steps="LanguageStep",
    keys="locale cause",
    sentences=(
        SentenceTemplate("The language is {locale}, because the caller sent it.", {"cause": "CALLER"}),
        SentenceTemplate("The language is {locale}, because the user asked for it.", {"cause": "WISH"}),
        SentenceTemplate("The language is {locale}, because the user wrote in it.", {"cause": "MESSAGE"}),
        SentenceTemplate(
            "The language is {locale}, because the last three messages were in it.", {"cause": "MESSAGES"}
        ),
        SentenceTemplate("The language is {locale}, because no message has shown another one.", {"cause": "SETTING"}),
    ),
)


class LanguageStep(Step):
    """Choose the language. A message that only asks for one is answered with the open question in it."""

    after = ("AuditUserInputStep",)
    before = ("HandOverStep", "PolicyEnforcementStep")
    rank = 520
    requires_persisted = True
    writes = frozenset({"params", "user_text", "digression"})

    def active(self, session: Session, turn: Turn) -> bool:
        """True where conversations may have several languages."""
        return len(turn.config(session, LANGUAGES)) > 1

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Set the language. Nothing else reads a message that only asks for one."""
        before = find_conversation_locale(session, turn)
        session, choice, is_all = choose_language(session, turn)
        if choice.locale != before or not session.history:
            turn.audit(session, LANGUAGE_CHOSEN, locale=choice.locale, cause=choice.cause.value)
        if not is_all or session.reset_only:
            return Continue(session)
        answer = TextPayload(str(get_texts(find_language(choice.locale))["speaks"]))
        digression = Digression(str(session.intent), str(session.state), None, answer=answer)
        return Continue(session.evolve(user_text=None, digression=digression))
