"""Read a whole answer for one field (R114)."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from convengine.engine.values.contacts import check_iban, read_email, read_iban, read_phone, read_postcode
from convengine.engine.values.date_times import make_moment_context, narrow_days, read_moment
from convengine.engine.values.durations import convert_length, parse_duration, read_duration, read_length
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.numbers import Amount, get_tables, read_amount, take_amount
from convengine.engine.values.offered import OFFERED_KINDS, choose_offered, read_alternatives
from convengine.engine.values.option_lengths import read_choice_or_length
from convengine.engine.values.plain import read_pattern, read_text
from convengine.engine.values.reading import NOTHING, Outcome, Reading, ReadingSituation, Reason
from convengine.engine.values.second_reader import read_with_dateparser
from convengine.engine.values.times import is_time, read_extreme_time
from convengine.engine.values.tokens import TokenText
from convengine.engine.values.yes_or_no import read_yes_or_no

Json = Any
Reader = Callable[[FieldSpec, str, TokenText, ReadingSituation, Language], Reading]
#: Longest answer for a field that is neither text nor an address. The readers have limits of their own.
MAX_LENGTH = 300
_SETTLED_KINDS = (Kind.DATE, Kind.TIME, Kind.DURATION, Kind.NUMBER)
_CLAUSE_SIGN = re.compile(r"[,;…–-]+\s|\.+\s|\.{2,}|…")
#: A reading of the second language replaces one of the first only if it says more.
_RANKS = {Outcome.VALUE: 3, Outcome.CANDIDATES: 2, Outcome.REFUSED: 1, Outcome.NOTHING: 0}


def read_value(spec: FieldSpec, text: str, situation: ReadingSituation) -> Reading:
    """Read a whole answer: a value, several candidates, a refusal with its reason, or nothing.

    The language of `situation.locale` reads first, then that of `situation.fallback_locale`.
    """
    composed = unicodedata.normalize("NFC", text)
    if len(composed) > MAX_LENGTH and spec.kind not in (Kind.TEXT, Kind.EMAIL):
        return NOTHING
    best = NOTHING
    for local in list_situations(situation):
        language = get_language(local.locale)
        reading = _read_in_language(spec, composed, local, language)
        if reading.has_value:
            return reading
        best = max(best, reading, key=lambda value: _RANKS[value.outcome])
    return best


def _read_in_language(spec: FieldSpec, text: str, situation: ReadingSituation, language: Language) -> Reading:
    """The value that the reader of the kind reads, or an offered value. Two values if the text may mean either."""
    plain = replace(situation, listed_options=()) if spec.kind in OFFERED_KINDS else situation

    def read(part: str) -> Reading:
        return _READERS[spec.kind](spec, part, language.read_tokens(part), plain, language)

    if situation.listed_options and plain is not situation:
        chosen = choose_offered(spec, language.read_tokens(text), situation, language, read)
        if chosen.has_value:
            return chosen
    if (
        situation.is_asked
        and spec.kind in _SETTLED_KINDS
        and (settled := _read_settled(text, language, read)).has_value
    ):
        return settled
    reading = read(text)
    return read_alternatives(spec, text, language, read) if reading is NOTHING and situation.is_asked else reading


def _read_settled(text: str, language: Language, read: Callable[[str], Reading]) -> Reading:
    """The value of the last clause in "whatever suits you, let's say 10", which says that it is meant."""
    clause = _CLAUSE_SIGN.split(text)[-1]
    if clause == text or "?" in text:
        return NOTHING
    tokens = language.read_tokens(clause)
    size = _get_settled_leads(language).match_start(tokens.text, 0)
    return read(clause[tokens.tokens[tokens.offsets.index(size)].start :]) if 0 < size < len(tokens.text) else NOTHING


@lru_cache(maxsize=16)
def _get_settled_leads(language: Language) -> PhraseSet:
    return PhraseSet(language.words["settled_leads"])


def list_situations(situation: ReadingSituation) -> Iterator[ReadingSituation]:
    """The situation in each language that reads."""
    yield situation
    if situation.fallback_locale and get_language(situation.fallback_locale) is not get_language(situation.locale):
        yield replace(situation, locale=situation.fallback_locale)


def _read_moment(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Our grammar first; for a day then dateparser behind its guard."""
    reading = read_moment(spec, text, tokens, situation, language)
    if reading is NOTHING and spec.kind is Kind.DATE:
        context = make_moment_context(spec, situation, language)
        if day := read_with_dateparser(text, tokens, context.now, language):
            return narrow_days((day,), context.date.bounds)
    if reading is NOTHING and spec.kind is Kind.TIME and situation.is_asked:
        return read_extreme_time(spec, text, language)
    return reading


def _read_amount(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    reading = read_amount(spec, tokens, situation, language)
    if spec.kind is Kind.NUMBER and (reading is NOTHING or reading.reason is Reason.WRONG_UNIT):
        start, end = language.strip_fillers(tokens)
        start += language.before_time.match_start(tokens.text, start)
        for read in (read_length, convert_length):
            length = read(spec, tokens.text[:end], start, language)
            if length and length[0] == end:
                return take_amount(spec, Amount((Decimal(str(length[1])),), end), get_tables(language))
    return reading


#: For each format of JSON Schema that is stored in a way of ours: is a text in it?
STORED_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "time": is_time,
    "duration": lambda text: bool(parse_duration(text)),
    "iban": lambda text: check_iban(text).has_value,
}

_READERS: Mapping[Kind, Reader] = {
    Kind.TEXT: read_text,
    Kind.CHOICE: read_choice_or_length,
    Kind.DATE: _read_moment,
    Kind.TIME: _read_moment,
    Kind.DATE_TIME: _read_moment,
    Kind.DURATION: read_duration,
    Kind.NUMBER: _read_amount,
    Kind.MONEY: _read_amount,
    Kind.PHONE: read_phone,
    Kind.EMAIL: read_email,
    Kind.POSTCODE: read_postcode,
    Kind.IBAN: read_iban,
    Kind.YES_NO: read_yes_or_no,
    Kind.PATTERN: read_pattern,
}
