"""The language of a conversation that may have several (`Session/LANGUAGES`), and why it is that one."""

import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from convengine.engine.forms.message import is_same_phrase
from convengine.engine.forms.session_form import find_asked_field
from convengine.engine.text.compare import blank, compose, split_words
from convengine.engine.turn.local_time import LANGUAGES, LOCALE, LOCALE_TEXT, find_language_code
from convengine.engine.turn.params import LANGUAGE_STATE
from convengine.engine.turn.ports import LearnedSubject
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.language import get_tables, list_languages
from convengine.engine.understanding.words import fold
from convengine.json_value import Json

#: The input param with the locale that counts.
_LOCALE = "locale"
#: Below, the detector does not decide. Its probabilities are true to within a few hundredths.
_SURE = 0.9
#: The detector decides nothing about fewer words: names of dishes and people have a language, too.
_FEWEST_WORDS = 3
#: So many messages in a row in another language change that of the conversation.
_IN_A_ROW = 3
#: A longer message says more than which language its user wants.
_LONGEST_WISH = 8


class Cause(StrEnum):
    """Why a conversation has its language."""

    CALLER = "CALLER"
    WISH = "WISH"
    MESSAGE = "MESSAGE"
    MESSAGES = "MESSAGES"
    SETTING = "SETTING"


class Choice(NamedTuple):
    """The language of a conversation."""

    locale: str
    cause: Cause
    #: The locale that the caller sent last.
    given: str = ""
    #: Another language of the last messages, and how many of them in a row were in it.
    other: str = ""
    in_a_row: int = 0


def speak(session: Session, turn: Turn) -> Session:
    """The session, and the turn with its texts, in the language that the conversation had so far."""
    locales = turn.config(session, LANGUAGES)
    choice = _read(session, locales)
    if choice is None:
        return session
    turn.snapshot = turn.snapshot.translate(find_language_code(choice.locale))
    return session.with_params({_LOCALE: choice.locale})


def choose_language(session: Session, turn: Turn) -> tuple[Session, Choice, bool]:
    """The session in the language of this turn, how it was chosen, and whether the message only asks for it."""
    locales = turn.config(session, LANGUAGES)
    before = _read(session, locales)
    wished, is_all = _find_wish(session, turn, locales)
    choice = _choose(session, turn, locales, before, wished)
    session = session.with_params(
        {_LOCALE: choice.locale, LANGUAGE_STATE: {**choice._asdict(), "cause": choice.cause.value}}
    )
    turn.snapshot = turn.snapshot.translate(find_language_code(choice.locale))
    return session, choice, is_all


def _choose(session: Session, turn: Turn, locales: Sequence[str], before: Choice | None, wished: str | None) -> Choice:
    sent = session.user_input_params.get(_LOCALE)
    given = sent if isinstance(sent, str) and LOCALE_TEXT.fullmatch(sent) else before.given if before else ""
    if wished:
        return Choice(wished, Cause.WISH, given)
    if (before is None or given != before.given) and (own := _find_locale(given, locales)):
        # The caller may know the country, too.
        return Choice(given if given != find_language_code(given) else own, Cause.CALLER, given)
    written = _find_locale(_detect(turn, locales), locales)
    if before is not None and before.cause is not Cause.SETTING:
        return _follow(before._replace(given=given), written)
    fallback = before.locale if before else _find_locale(turn.config(session, LOCALE), locales) or locales[0]
    return Choice(written or fallback, Cause.MESSAGE if written else Cause.SETTING, given)


def _follow(before: Choice, written: str | None) -> Choice:
    """The choice after a message that is surely in one of the languages, or in none."""
    if written is None:
        return before
    language = find_language_code(written)
    if language == find_language_code(before.locale):
        return before._replace(other="", in_a_row=0)
    times = before.in_a_row + 1 if before.other == language else 1
    if times >= _IN_A_ROW:
        return Choice(written, Cause.MESSAGES, before.given)
    return before._replace(other=language, in_a_row=times)


def _read(session: Session, locales: tuple[str, ...]) -> Choice | None:
    """How the language was chosen so far. Returns None at the beginning, and for a language that is no longer one."""
    stored = session.params.get(LANGUAGE_STATE)
    if not isinstance(stored, Mapping) or len(locales) < 2:
        return None
    try:
        choice = Choice(**{**stored, "cause": Cause(str(stored.get("cause")))})
    except (TypeError, ValueError):
        return None
    return choice if _find_locale(choice.locale, locales) else None


def _find_locale(locale: str, locales: Iterable[str]) -> str | None:
    """The one of the locales with the same language."""
    language = find_language_code(locale)
    return next((own for own in locales if find_language_code(own) == language), None)


# --- which language a message is in ---------------------------------------------------------------------------------


def _detect(turn: Turn, locales: Sequence[str]) -> str:
    """The language of the message, among those of the locales; blank where it is not sure."""
    # The user did not write the message that a button sends.
    text, languages = compose(turn.request.message) or "", sorted(map(find_language_code, locales))

    def decide() -> Json:
        return detect_language(text, tuple(languages))

    request: Json = {"text": text, "languages": languages}
    return "" if blank(text) else str(turn.ports.learned.decide(LearnedSubject.LANGUAGE, request, decide))


def detect_language(text: str, languages: tuple[str, ...]) -> str:
    """The language of a text, among some; blank where it is not sure.

    A few words are enough if the tables of one language alone have all of them.
    """
    words = [word for word in split_words(text) if not any(map(str.isdigit, word))]
    knowing = [name for name in languages if name in list_languages() and words and _has_words(name, words)]
    if len(knowing) == 1:
        return knowing[0]
    if len(words) < _FEWEST_WORDS:
        return ""
    language, probability = _load_detector(languages)(text)
    return language if probability >= _SURE else ""


def _has_words(name: str, words: Iterable[str]) -> bool:
    tables = get_tables(name)
    return all(word in tables.grammar.words or word in tables.talk for word in map(fold, words))


@lru_cache(16)
def _load_detector(languages: tuple[str, ...]) -> Callable[[str], tuple[str, float]]:
    """The detector for some languages; most workspaces have one, and need no detector."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([name for name in languages if name in identifier.labels])
    classify: Callable[[str], tuple[str, float]] = identifier.classify
    return classify


# --- a wish for a language ------------------------------------------------------------------------------------------


def _find_wish(session: Session, turn: Turn, locales: Sequence[str]) -> tuple[str | None, bool]:
    """The locale that the message asks for, and whether it asks for nothing else: "English please", "auf Deutsch"."""
    sentences = [words for part in _split_sentences(session.user_text or "") if (words := _fold(part))]
    wishes = [(words, wished) for words in sentences if (wished := _find_wished(words, locales))]
    if not wishes or _names_value(session, turn, wishes[0][0]):
        return None, False
    small = _list_small_words()
    others = [words for words in sentences if words != wishes[0][0]]
    return wishes[0][1], all(small.issuperset(words) for words in others) and not is_same_phrase(session, turn)


def _find_wished(words: Sequence[str], locales: Sequence[str]) -> str | None:
    """The locale that a sentence asks for: it names one language, and nothing else."""
    names, small = _list_names(), _list_small_words()
    wished = {locale for word in words for code in names.get(word, ()) if (locale := _find_locale(code, locales))}
    is_short = len(words) <= _LONGEST_WISH and all(word in small or word in names for word in words)
    return wished.pop() if is_short and len(wished) == 1 else None


def _names_value(session: Session, turn: Turn, sentence: Sequence[str]) -> bool:
    """True where the asked field has an option with one of the words: the language of a book, of a course."""
    field = find_asked_field(session, turn)
    options = field.spec.options if field else ()
    return any(not set(_fold(option.label)).isdisjoint(sentence) for option in options)


def _split_sentences(text: str) -> list[str]:
    for sign in ".!?;\n":
        text = text.replace(sign, ",")
    return text[:1_000].split(",")


def _fold(text: str) -> list[str]:
    """The words without accents, which many leave out."""
    plain = "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))
    return list(split_words(plain))


@cache
def _read_names() -> Mapping[str, Sequence[str]]:
    file = resources.files("convengine.engine.understanding") / "language_names.toml"
    return tomllib.loads(file.read_text("utf-8"))


@cache
def _list_names() -> Mapping[str, tuple[str, ...]]:
    """The languages that each name stands for."""
    listed: dict[str, tuple[str, ...]] = {}
    for code, names in _read_names().items():
        for name in names if code != "small" else ():
            for word in _fold(name):
                listed[word] = (*listed.get(word, ()), code)
    return listed


@cache
def _list_small_words() -> frozenset[str]:
    return frozenset(word for text in _read_names()["small"] for word in _fold(text))
