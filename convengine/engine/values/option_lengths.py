"""Options that are lengths: "eine Stunde", "1h" and "60 minutes" are the same one (R114)."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from convengine.engine.values.choices import find_options, list_spellings, read_choice
from convengine.engine.values.durations import count_seconds, match_durations
from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation, Reason, accept, refuse
from convengine.engine.values.surroundings import asks_question, is_glued, is_limited
from convengine.engine.values.tokens import TokenText

Json = Any
#: Fewer options of a field are hardly chosen by their length.
_FEWEST = 2


@lru_cache(maxsize=1024)
def list_option_lengths(options: tuple[Json, ...], language: Language) -> Mapping[int, int]:
    """The options by their length in seconds; empty where hardly any has one. Of two with the same, neither counts."""
    owners: dict[int, set[int]] = {}
    for spelling in list_spellings(options, language):
        text = f"{spelling.text} "
        for end, parts in match_durations(text, 0, language):
            if end == len(text):
                owners.setdefault(count_seconds(parts), set()).add(spelling.index)
    lengths = {seconds: min(indexes) for seconds, indexes in owners.items() if len(indexes) == 1}
    return lengths if len(set(lengths.values())) >= _FEWEST else {}


def read_choice_or_length(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read a whole answer for a field with options, the only length in it as the option that is as long."""
    lengths = list_option_lengths(spec.options, language)
    if not lengths or not situation.is_asked or asks_question(tokens, language):
        return read_choice(spec, text, tokens, situation, language)
    start, end = language.strip_fillers(tokens)
    if find_options(tokens.text[start:end].strip(), list_spellings(spec.options, language), language):
        return read_choice(spec, text, tokens, situation, language)
    if (index := _find_by_number(spec.options, tokens.text[start:end].strip(), language)) is not None:
        return accept(spec.options[index].value)
    spans = list(_find_lengths(text, tokens, language))
    if len(spans) != 1:
        return read_choice(spec, text, tokens, situation, language)
    first, last, seconds = spans[0]
    if is_limited(tokens, first, last, language):
        return NOTHING
    if seconds in lengths:
        return accept(spec.options[lengths[seconds]].value)
    return refuse(Reason.NOT_AN_OPTION, options=[option.label for option in spec.options])


def _find_by_number(options: tuple[Json, ...], answer: str, language: Language) -> int | None:
    """The only option with the number that is the whole answer: "90" for "90 minutes"."""
    number = language.number_words.get(answer, answer)
    if not str(number).isdigit():
        return None
    indexes = {item.index for item in list_spellings(options, language) if str(number) in item.text.split(" ")}
    return indexes.pop() if len(indexes) == 1 else None


def find_option_lengths(
    spec: FieldSpec, text: str, tokens: TokenText, language: Language
) -> Iterator[tuple[int, int, Reading]]:
    """The lengths in a sentence where options are lengths, in the tokens' text; nothing for one that no option has."""
    lengths = list_option_lengths(spec.options, language)
    for start, end, seconds in _find_lengths(text, tokens, language) if lengths else ():
        yield start, end, accept(spec.options[lengths[seconds]].value) if seconds in lengths else NOTHING


def _find_lengths(text: str, tokens: TokenText, language: Language) -> Iterator[tuple[int, int, int]]:
    position = 0
    for start in tokens.offsets:
        if start < position or is_glued(text, tokens, start):
            continue
        if match := max(match_durations(tokens.text, start, language), key=lambda match: match[0], default=None):
            position = match[0]
            following = tokens.text[position:].split(" ", 1)[0]
            if following not in language.distances:  # "Two weeks ago"
                yield start, position, count_seconds(match[1])
