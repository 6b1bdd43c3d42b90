"""Answer a message that nothing else took up by what documents say, word for word."""

from collections.abc import Sequence

from convengine.engine.documents.cards import choose_cards, find_cards_in_turn, write_cards
from convengine.engine.documents.index import MOST_CARDS
from convengine.engine.forms.asking import read_text_setting
from convengine.engine.prompts.fill import ask_for_text
from convengine.engine.steps.responses.settings import (
    DOCUMENTS_ENABLE_LLM,
    DOCUMENTS_SYSTEM_PROMPT,
    DOCUMENTS_TEXT,
    DOCUMENTS_USER_PROMPT,
)
from convengine.engine.steps.responses.stages import (
    DOCUMENTS_FOUND,
    DOCUMENTS_LLM_ERROR,
    DOCUMENTS_LLM_INPUT,
    DOCUMENTS_LLM_OUTPUT,
)
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.language import list_own_languages
from convengine.engine.understanding.phrases.terms import PhraseLanguage, detect_languages
from convengine.engine.understanding.phrases.wording import list_terms
from convengine.engine.understanding.words import split_text

#: The source of such answers, and the purpose of the model's call.
DOCUMENTS = "DOCUMENTS"
#: The code of an answer of the model that says more than the sections.
NOT_IN_SECTIONS = "NOT_IN_SECTIONS"
#: What a model writes that does not know, folded, and what it may write around it.
_NONE, _AROUND = "none", " .*\"'“”"
_STAGES = (DOCUMENTS_LLM_INPUT, DOCUMENTS_LLM_OUTPUT, DOCUMENTS_LLM_ERROR)


def look_into_documents(session: Session, turn: Turn) -> Session:
    """The session with the cards of the sections that answer the message; unchanged if none is near."""
    cards = find_cards_in_turn(session, turn)
    shown = choose_cards(turn.snapshot, cards)
    if shown:
        turn.audit(session, DOCUMENTS_FOUND, sections=cards[:MOST_CARDS], runnerUp=cards[MOST_CARDS:])
    return session.evolve(cards=tuple(shown)) if shown else session


def write_found(session: Session, turn: Turn) -> str:
    """The cards of the session as text, after what a model makes of them, if it may."""
    cards = write_cards(session.cards)
    texts = _answer_in_short(session, turn, cards), read_text_setting(session, turn, DOCUMENTS_TEXT), cards
    return "\n\n".join(filter(None, texts))


def _answer_in_short(session: Session, turn: Turn, sections: str) -> str:
    """What a model says from the sections; blank if it may not, or does not know, or says more than they do."""
    if not turn.config(session, DOCUMENTS_ENABLE_LLM):
        return ""
    prompts = {"system": DOCUMENTS_SYSTEM_PROMPT, "user": DOCUMENTS_USER_PROMPT}
    text = ask_for_text(session, turn, DOCUMENTS, _STAGES, **prompts, sections=sections)
    if not text or text.strip(_AROUND).casefold() == _NONE:
        return ""
    if added := list_added(text, sections, list_own_languages(turn.snapshot)):
        message = f"It has words that the sections do not have: {', '.join(added)}"
        turn.audit(session, DOCUMENTS_LLM_ERROR, errorCode=NOT_IN_SECTIONS, message=message, added=added)
        return ""
    return text


def list_added(text: str, sections: str, languages: Sequence[str]) -> list[str]:
    """The words of a text that say something, in whatever form, and that its sections do not have; each once.

    So it has no number, name, date or address of its own, either.
    """
    # Of a long text, only the beginning is read: sections are read line by line, and an answer must be read to its end.
    language, lines, words = detect_languages(sections, languages)[0], sections.splitlines(), split_text(text)
    known = {word.key for line in lines for word in split_text(line)}
    terms = frozenset(term for line in lines for term in list_terms(line, language))
    numbers = (word.key for word in words if word.key not in known and _is_number(word.key, language))
    addresses = (part for part in text.split() if {"@", "/"}.intersection(part) and part.strip(".,;") not in sections)
    new_terms = (word.term for word in language.read(text) if word.term not in terms)
    unread = text[words[-1].end :].split() if words else ()
    return [*dict.fromkeys((*numbers, *addresses, *new_terms, *unread))]


def _is_number(key: str, language: PhraseLanguage) -> bool:
    """True for digits, and for a word that is a number: it is small where it says how many, and counts here."""
    return any(map(str.isdigit, key)) or "number_word" in language.tables.grammar.list_names(key, ())
