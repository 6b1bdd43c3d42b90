"""Words that say that a value replaces an earlier one: "actually make it Tuesday", "nein, der 5." (R109)."""

import unicodedata
from functools import lru_cache

from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import ReadingSituation

#: A correction says so in the first characters of a message.
MAX_LENGTH = 300


def is_correction(text: str, situation: ReadingSituation) -> bool:
    """True when the words correct something, in one of the languages of the situation."""
    composed = unicodedata.normalize("NFC", text)[:MAX_LENGTH]
    return any(_corrects(composed, get_language(local.locale)) for local in list_situations(situation))


def _corrects(text: str, language: Language) -> bool:
    tokens = language.read_tokens(text)
    if _get_phrases(language, "corrections_first").match_start(tokens.text, 0):
        return True
    phrases = _get_phrases(language, "corrections")
    return any(phrases.match_start(tokens.text, offset) for offset in tokens.offsets)


@lru_cache(maxsize=16)
def _get_phrases(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words[name])
