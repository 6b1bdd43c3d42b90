"""Values that a message takes back before it goes on: "five, no six, and a helmet" means six."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.read import list_situations, read_value
from convengine.engine.values.reading import ReadingSituation
from convengine.engine.values.tokens import TokenText

#: Kinds whose values people take back in passing. Of the others, a "no" denies: "shampoo, no conditioner".
_KINDS = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.NUMBER, Kind.MONEY, Kind.DURATION)
#: Longest message in characters, and longest value in words.
_MAX_LENGTH = 300
_MAX_WORDS = 5


def blank_taken_back(specs: Sequence[FieldSpec], text: str, situation: ReadingSituation) -> str:
    """The text with blanks for a value that the next words replace by one of its kind, and for these words.

    A bare number takes over the unit: "4pm      , and a helmet" of "3pm, no 4, and a helmet". A message of both values
    and nothing else stays as it is: the readers of whole answers know it.
    """
    typed = [part for spec in specs if spec.kind in _KINDS for part in _list_parts(spec)]
    composed = unicodedata.normalize("NFC", text)
    if not typed or len(composed) > _MAX_LENGTH or "?" in text:
        return text
    for local in list_situations(situation):
        language = get_language(local.locale)
        tokens = language.read_tokens(composed)
        for first, second in _find_retracting(tokens, language):
            end = _find_end(tokens, second, language)
            new = _quote(composed, tokens, second, end)
            takers = _list_takers(typed, new, local)
            if takers and _replaces_hour(tokens, first, takers, language):
                continue  # "At 3, wait 5 children, and a helmet"
            start = _find_start(composed, tokens, first, takers, local) if takers else None
            if start is None or (start == 0 and end == len(tokens.tokens)):
                continue
            begin, stop = tokens.tokens[start].start, tokens.tokens[end - 1].end
            if not _drops_unit(tokens, first, new, language):
                return composed[:begin] + new.rjust(stop - begin) + composed[stop:]
            number = _find_number(tokens, start, first, language)
            if number is not None:
                old, unit = tokens.tokens[number], composed[tokens.tokens[number].end : tokens.tokens[first - 1].end]
                moved = f"{composed[begin : old.start]}{new}{unit}".ljust(stop - begin)
                return composed[:begin] + moved + composed[stop:]
    return text


def _list_parts(spec: FieldSpec) -> list[FieldSpec]:
    """The field; of one for a day and a time also a day and a time, which are taken back alone."""
    is_moment = spec.kind is Kind.DATE_TIME
    halves = (replace(spec, kind=kind, minimum=None, maximum=None) for kind in (Kind.DATE, Kind.TIME) if is_moment)
    return [spec, *halves]


def _find_number(tokens: TokenText, start: int, end: int, language: Language) -> int | None:
    """The only number of a value: the 3 of "3pm" and "3 May"."""
    words = [token.text for token in tokens.tokens[start:end]]
    numbers = [index for index, word in enumerate(words) if word.isdigit() or word in language.number_words]
    return start + numbers[0] if len(numbers) == 1 else None


def _list_takers(specs: Sequence[FieldSpec], new: str, situation: ReadingSituation) -> list[FieldSpec]:
    """The fields that take the new value. A bare number is a day only where no other field takes it, and takes over the
    unit of a duration.
    """
    takers = [spec for spec in specs if _read(spec, new, situation)]
    if not _is_bare_number(new, get_language(situation.locale)):
        return takers
    others = [spec for spec in takers if spec.kind not in (Kind.DATE, Kind.DATE_TIME)]
    lengths = [spec for spec in specs if spec.kind is Kind.DURATION and spec not in others]
    return [*others, *lengths] or takers


def _is_bare_number(words: str, language: Language) -> bool:
    tokens = language.read_tokens(words)
    start, end = language.strip_fillers(tokens)
    core = tokens.text[start:end].strip()
    return core.isdigit() or core in language.number_words


def _replaces_hour(tokens: TokenText, first: int, takers: Sequence[FieldSpec], language: Language) -> bool:
    """True when the number before `first` is an hour, "at 3", and no field for a time takes the new value."""
    if any(spec.kind in (Kind.TIME, Kind.DATE_TIME) for spec in takers):
        return False
    start = tokens.offsets[first - 1]
    word = tokens.tokens[first - 1].text
    is_number = word.isdigit() or word in language.number_words
    return is_number and language.before_time.match_end(tokens.text, start) > 0


def _find_retracting(tokens: TokenText, language: Language) -> Iterator[tuple[int, int]]:
    """Where the words that take something back begin, and the word behind them."""
    phrases = PhraseSet([*language.words["retractions"], *language.words["leading_no"]])
    for index, offset in enumerate(tokens.offsets[1:], start=1):
        end = offset
        while size := phrases.match_start(tokens.text, end):
            end += size
        if offset < end < len(tokens.text):
            yield index, tokens.offsets.index(end)


def _find_end(tokens: TokenText, start: int, language: Language) -> int:
    """Where the clause of the new value ends: at a sign, an "and", or the "on" of another value."""
    for index in range(start + 1, len(tokens.tokens)):
        offset = tokens.offsets[index]
        leads = language.before_date.match_start(tokens.text, offset) or language.before_time.match_start(
            tokens.text, offset
        )
        if leads or _has_sign(tokens, index) or language.is_in("conjunctions", tokens.tokens[index].text):
            return index
    return len(tokens.tokens)


def _find_start(
    text: str, tokens: TokenText, end: int, specs: Sequence[FieldSpec], situation: ReadingSituation
) -> int | None:
    """Where the value of one of these fields begins that ends at `end`; null for none.

    Of "4 on Friday" it is the shortest part that is as much as the longest, and of "half past four" all.
    """
    first = max(0, end - _MAX_WORDS)
    first = max([first, *(index for index in range(first, end) if _has_sign(tokens, index))])
    begins = []
    for spec in specs:
        values = [_read(spec, _quote(text, tokens, start, end), situation) for start in range(first, end)]
        longest = next((value for value in values if value), None)
        if longest:
            begins.append(first + max(index for index, value in enumerate(values) if value == longest))
    return min(begins, default=None)


def _drops_unit(tokens: TokenText, first: int, new: str, language: Language) -> bool:
    """True for the bare number of "3 parcels, no wait 5, …" and "3pm, no 4, …", which are parcels and a time, too."""
    last = tokens.tokens[first - 1].text
    return _is_bare_number(new, language) and last.isalpha() and last not in language.number_words


def _has_sign(tokens: TokenText, index: int) -> bool:
    """True when a sign stands before the word."""
    return index > 0 and tokens.tokens[index].start - tokens.tokens[index - 1].end > 1


def _quote(text: str, tokens: TokenText, start: int, end: int) -> str:
    return text[tokens.tokens[start].start : tokens.tokens[end - 1].end] if start < end else ""


def _read(spec: FieldSpec, words: str, situation: ReadingSituation) -> tuple[Any, ...]:
    """The value of the words, or all that they may mean."""
    reading = read_value(spec, words, replace(situation, is_asked=True))
    return (reading.value,) if reading.has_value else reading.candidates
