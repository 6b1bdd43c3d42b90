"""Words that say that a value replaces an earlier one: "actually make it Tuesday", "nein, der 5." (R109)."""

import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import ReadingSituation

#: A correction says so in the first characters of a message.
MAX_LENGTH = 300
#: Lists of phrases that may stand before a corrected value.
_LEADING = ("corrections_first", "corrections", "before")
#: Lists of phrases that may stand around a value without changing it.
_AROUND = ("before", "after", "corrections", "corrections_first")


def is_correction(text: str, situation: ReadingSituation) -> bool:
    """True when the words correct something, in one of the languages of the situation."""
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    return any(_corrects(composed, language) for language in _list_languages(situation))


def blank_leading_no(text: str, situation: ReadingSituation) -> str:
    """The text with blanks for a "no" at its beginning: "no, the 5th" does not deny the 5th."""
    for language in _list_languages(situation):
        tokens = language.read_tokens(text)
        if size := _get_phrases(language, "leading_no").match_start(tokens.text, 0):
            end = tokens.position(0, size)[1]
            return " " * end + text[end:]
    return text


def strip_correction(text: str, situation: ReadingSituation) -> str:
    """The text without the words of a correction at its beginning: "the 5th" of "no, sorry, the 5th"."""
    composed = unicodedata.normalize("NFC", text)
    for language in _list_languages(situation):
        tokens, start = language.read_tokens(composed), 0
        while size := max(_get_phrases(language, name).match_start(tokens.text, start) for name in _LEADING):
            start += size
        if 0 < start < len(tokens.text):
            return composed[tokens.tokens[tokens.offsets.index(start)].start :]
    return composed


def has_only_fillers(texts: Iterable[str], situation: ReadingSituation) -> bool:
    """True when these parts of a message add nothing to the values between them: "I'd like … please"."""
    parts = [unicodedata.normalize("NFC", text) for text in texts]
    return any(
        all(token.text in _list_words(language) for part in parts for token in language.read_tokens(part).tokens)
        for language in _list_languages(situation)
    )


def _list_languages(situation: ReadingSituation) -> Iterator[Language]:
    return (get_language(local.locale) for local in list_situations(situation))


def _corrects(text: str, language: Language) -> bool:
    tokens = language.read_tokens(text)
    if _get_phrases(language, "corrections_first").match_start(tokens.text, 0):
        return True
    phrases = _get_phrases(language, "corrections")
    return any(phrases.match_start(tokens.text, offset) for offset in tokens.offsets)


@lru_cache(maxsize=16)
def _get_phrases(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words[name])


@lru_cache(maxsize=16)
def _list_words(language: Language) -> frozenset[str]:
    """The words of the phrases that stand around values."""
    phrases = {phrase for name in _AROUND for phrase in _get_phrases(language, name).phrases}
    fillers = _get_phrases(language, "fillers").phrases
    return frozenset(word for phrase in (*phrases, *fillers) for word in phrase.split(" "))
