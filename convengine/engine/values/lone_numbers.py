"""The only number of an answer, whatever small talk surrounds it: "ugh ok then just 10", "20 vielleicht" (R114)."""

from bisect import bisect_left
from functools import lru_cache

from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.numbers import find_amount_starts, get_tables, list_field_units, match_amount, take_amount
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation
from convengine.engine.values.tokens import Token, TokenText

#: The unit of ages.
_YEAR = "year"
#: Longer answers tell a story.
_MAX_WORDS = 20
#: Letters and signs beside a number that make it part of something else: "B12", "4/5", "3-4".
_GLUE = "-/.,:@#_+€$£%&=–"
#: Words of a message that make its number none: it is denied, depends on something, or belongs to something else.
_FORBIDDEN = ("denials", "conditions", "waits", "rejections_of_numbers", "earlier_numbers", "possessives")
#: They take nothing away from a number beside them: "not sure, 6 maybe", "no worries, 10 then".
_HARMLESS = ("doubts", "harmless", "polite_conditions", "after", "farewells", "lone_number_hedges")


def find_lone_number(spec: FieldSpec, text: str, situation: ReadingSituation) -> Reading:
    """The value of the only number of an answer between words of small talk; nothing where it may mean something else.

    Further off, the message may say what it likes, but not deny, set a condition or tell of the past.
    """
    plain = text.rstrip(" .")  # "I'll only bring 4."
    for local in list_situations(situation):
        reading = _find_in_language(spec, plain, local, get_language(local.locale))
        if reading is not NOTHING:
            return reading
    return NOTHING


def is_hedged_number(text: str, situation: ReadingSituation) -> bool:
    """True for "around 15" and "so 20": digits and words of a guess, which are no time where a number is asked for."""
    for local in list_situations(situation):
        language = get_language(local.locale)
        words = [token.text for token in language.read_tokens(text).tokens]
        if sum(map(str.isdigit, words)) == 1 and all(
            word.isdigit() or language.is_in("lone_number_hedges", word) for word in words
        ):
            return True
    return False


def _find_in_language(spec: FieldSpec, text: str, situation: ReadingSituation, language: Language) -> Reading:
    tokens, tables = language.read_tokens(text), get_tables(language)
    harmless, numbers = _list_harmless_offsets(tokens, language), list[tuple[int, int, Reading]]()
    end = 0
    for start in find_amount_starts(tokens, tables, spec):
        is_word = start in harmless and not tokens.text[start].isdigit()  # "Keine Ahnung, 4"
        amount = match_amount(tokens.text, start, tables, situation.locale, spec) if start >= end else None
        if is_word or start < end or (amount and _is_article(tokens.text[start : amount.end], amount.values)):
            continue
        if amount is None or amount.currencies or (amount.unit and amount.unit not in list_field_units(spec, tables)):
            return NOTHING
        end = amount.noun_end or amount.end
        numbers.append((start, end, take_amount(spec, amount, tables)))
    if _YEAR in list_field_units(spec, tables):
        numbers = [number for number in numbers if not is_coming_age(tokens, number[0], language)] or numbers
    if len(numbers) != 1 or len(tokens.tokens) > _MAX_WORDS:
        return NOTHING
    start, end, reading = numbers[0]
    first, last = tokens.offsets.index(start), [*tokens.offsets, len(tokens.text)].index(end)
    if _is_part(text, tokens.tokens[first:last]) or not _is_between_small_words(text, tokens, first, last, language):
        return NOTHING
    asks = text.rstrip().endswith("?") and not _is_guess(text, tokens, first, last, language)
    return NOTHING if asks or _is_unmeant(tokens, language) else reading


def is_coming_age(tokens: TokenText, start: int, language: Language) -> bool:
    """True for the 16 of "15 but nearly 16": words of its clause say that somebody is not that old yet."""
    index = tokens.offsets.index(start)
    first, last = index, index
    while first and not _ends_clause_before(tokens.tokens, first, language):
        first -= 1
    while last + 1 < len(tokens.tokens) and not _ends_clause_before(tokens.tokens, last + 1, language):
        last += 1
    return any(language.is_in("coming_ages", token.text) for token in tokens.tokens[first : last + 1])


def _ends_clause_before(listed: list[Token], index: int, language: Language) -> bool:
    gap = listed[index].start - listed[index - 1].end
    return gap > 1 or language.is_in("denial_stops", listed[index].text)


def _is_article(words: str, values: tuple[object, ...]) -> bool:
    """True for the "one" of "the afternoon one", which counts nothing."""
    return values == (1,) and not words[:1].isdigit() and words.count(" ") == 1


def _is_part(text: str, number: list[Token]) -> bool:
    """True inside a code, a date, a time, a phone number or a range."""
    before, after = text[: number[0].start], text[number[-1].end :]
    is_code = before[-1:].isalnum() or after[:1].isalnum() or number[0].text.startswith("0")
    return is_code or before.endswith(tuple(_GLUE)) or (after[:1] in _GLUE and after[1:2].isalnum())


def _is_between_small_words(text: str, tokens: TokenText, first: int, last: int, language: Language) -> bool:
    """True when nothing beside the number in its clause says what it is of: "row 4", "4 stairs", "at 4"."""
    is_begun = first == 0 or _has_sign(text, tokens.tokens, first)
    is_ended = last >= len(tokens.tokens) or _has_sign(text, tokens.tokens, last)
    before = "" if is_begun else tokens.tokens[first - 1].text
    after = "" if is_ended else tokens.tokens[last].text
    offset = tokens.offsets[first]
    limit = max(
        phrases.match_end(tokens.text, offset)
        for phrases in (language.limits_before, _get_phrases(language, "limit_words"))
    )
    if limit and not language.is_in("lone_number_hedges", tokens.text[offset - limit : offset].strip()):
        return False
    if language.is_in("wholes", before) and language.is_in("behind_wholes", after):
        return True
    small = _list_small_words(language)
    return (is_begun or before in small) and (is_ended or after in small)


def _has_sign(text: str, listed: list[Token], index: int) -> bool:
    """True when a comma, a full stop, a dash or a bracket stands before the token at `index`."""
    return bool(text[listed[index - 1].end : listed[index].start].strip())


def _is_guess(text: str, tokens: TokenText, first: int, last: int, language: Language) -> bool:
    """True for "dunno, 4?": the clause of the number says nothing else, so that the question is about it alone."""
    while first and not _has_sign(text, tokens.tokens, first):
        first -= 1
        if not language.is_in("lone_number_hedges", tokens.tokens[first].text):
            return False
    rest = tokens.tokens[last:]
    return all(language.is_in("lone_number_hedges", token.text) for token in rest) and not (
        language.questions.match_start(tokens.text, 0)
    )


def _is_unmeant(tokens: TokenText, language: Language) -> bool:
    """True when the message denies, sets a condition, asks for no number or tells of another one."""
    offsets = set(tokens.offsets) - _list_harmless_offsets(tokens, language)
    return any(
        _get_phrases(language, name).match_start(tokens.text, offset) for offset in offsets for name in _FORBIDDEN
    )


def tells_of_other_number(tokens: TokenText, language: Language) -> bool:
    """True for "I have 2 already" and "we had 3 last time"."""
    phrases = [_get_phrases(language, name) for name in ("rejections_of_numbers", "earlier_numbers")]
    return any(listed.match_start(tokens.text, offset) for offset in tokens.offsets for listed in phrases)


def _list_harmless_offsets(tokens: TokenText, language: Language) -> set[int]:
    """Where the words of phrases begin that take nothing away from a number."""
    offsets: set[int] = set()
    for index, offset in enumerate(tokens.offsets):
        size = max(_get_phrases(language, name).match_start(tokens.text, offset) for name in _HARMLESS)
        offsets.update(tokens.offsets[index : bisect_left(tokens.offsets, offset + size)])
    return offsets


@lru_cache(maxsize=64)
def _get_phrases(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words["yes_no"].get(name) or language.words[name])


@lru_cache(maxsize=16)
def _list_small_words(language: Language) -> frozenset[str]:
    """The words that may stand beside such a number."""
    phrases = {
        phrase
        for name in ("lone_number_hedges", "beside_lone_numbers")
        for phrase in _get_phrases(language, name).phrases
    }
    return frozenset(word for phrase in phrases for word in phrase.split(" "))
