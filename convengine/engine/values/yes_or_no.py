"""Yes or no, as the value of a field and as the answer to a question (R114, R120)."""

import re
import unicodedata
from functools import lru_cache

from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation, accept
from convengine.engine.values.tokens import TokenText

#: Longest text that is a yes or a no, in characters of its tokens.
MAX_LENGTH = 200
#: Longest message that may begin with a yes or no and say more, in words.
_MAX_WORDS = 12
_SIGN = re.compile(r"[,.;:!–-]")
_STRETCHED = re.compile(r"([^\W\d_])\1{2,}", re.IGNORECASE)


def read_yes_or_no(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read yes or no: one phrase of the tables, several that agree, or one that begins the asked field's answer."""
    value = _read(text, tokens, language)
    if value is None and situation.is_asked:
        value = _read_start(text, tokens, language)
    return NOTHING if value is None else accept(value)


def says_yes_or_no(text: str, locale: str) -> bool | None:
    """Yes or no when the whole text says so in the language of a locale; null for other texts."""
    language = get_language(locale)
    return _read(text, language.read_tokens(text), language)


def begins_with_yes(text: str, locale: str) -> bool:
    """True for a short text that begins with a yes and changes nothing: "yes, book it for me"."""
    language = get_language(locale)
    tokens = language.read_tokens(text)
    denies = any(language.is_in("denials", token.text) for token in tokens.tokens)
    return not denies and _read_start(text, tokens, language) is True


def _read_start(text: str, tokens: TokenText, language: Language) -> bool | None:
    """Yes or no when a short text begins with it and names nothing else: "no, I pay myself"."""
    words = [token.text for token in tokens.tokens]
    if not 1 < len(words) <= _MAX_WORDS or text.rstrip().endswith("?"):
        return None
    if any(word[0].isdigit() or language.is_in("changes", word) for word in words):
        return None
    size = {name: _get_phrases(language, name).match_start(tokens.text, 0) for name in ("first_yes", "first_no")}
    value = bool(size["first_yes"])
    others = language.words["yes_no"]["first_no" if value else "first_yes"]
    if value == bool(size["first_no"]) or any(word in others for word in words):
        return None
    return value if _begins_a_clause(text, tokens, max(size.values()), language) else None


def _begins_a_clause(text: str, tokens: TokenText, offset: int, language: Language) -> bool:
    """True when what follows `offset` is a clause of its own, so that "no idea" is no "no"."""
    if offset >= len(tokens.text):
        return True
    following = tokens.tokens[tokens.offsets.index(offset)]
    before = tokens.tokens[tokens.offsets.index(offset) - 1]
    return bool(_SIGN.search(text[before.end : following.start])) or language.is_in("clause_starts", following.text)


def find_inclusion(text_before: str, situation: ReadingSituation) -> tuple[bool, int] | None:
    """Whether the words before the name of a thing include it, and the length of these words: "… with", "… ohne"."""
    for locale in (situation.locale, situation.fallback_locale):
        language = get_language(locale)
        tokens = language.read_tokens(text_before)
        for value, name in ((True, "inclusions"), (False, "exclusions")):
            if tokens.tokens and (size := _get_word_list(language, name).match_end(tokens.text, len(tokens.text))):
                start = tokens.position(len(tokens.text) - size, len(tokens.text))[0]
                return value, len(text_before) - start
    return None


def _read(text: str, tokens: TokenText, language: Language) -> bool | None:
    values = {True: _get_phrases(language, "yes"), False: _get_phrases(language, "no")}
    plain = unicodedata.normalize("NFC", text.strip())
    for value, phrases in values.items():
        if plain and not plain[0].isalnum() and plain[0] in phrases.phrases:
            return value
    if not tokens.tokens or len(tokens.text) > MAX_LENGTH or text.rstrip().endswith("?"):
        return None
    start, end = 0, len(tokens.text)
    after = _get_phrases(language, "after")
    for value, phrases in values.items():
        if _covers(tokens.text, start, end, phrases, after):
            return value
    short = _STRETCHED.sub(r"\1", text)  # "nooo"
    return _read(short, language.read_tokens(short), language) if short != text else None


def _covers(text: str, start: int, end: int, phrases: PhraseSet, after: PhraseSet) -> bool:
    """True when the text is made of the phrases, and of courtesies around them."""
    while not (size := phrases.match_start(text, start)):
        courtesy = after.match_start(text, start)
        if not courtesy:
            return False
        start += courtesy
    while size and start + size <= end:
        start += size
        size = phrases.match_start(text, start) or after.match_start(text, start)
    return start == end


@lru_cache(maxsize=16)
def _get_word_list(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words[name])


@lru_cache(maxsize=64)
def _get_phrases(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words["yes_no"][name])
