"""One of the values that the last answer offered: "the second one", "the later one", "next week" (R114)."""

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from convengine.engine.values.choices import find_position_word
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.language import Language, PhraseSet
from convengine.engine.values.reading import NOTHING, Outcome, Reading, ReadingSituation, Reason, accept, offer
from convengine.engine.values.tokens import TokenText

Json = Any
Reader = Callable[[str], Reading]
#: Kinds of values. If a text may mean two values of such a kind, both are offered.
OFFERED_KINDS = (Kind.DATE, Kind.TIME, Kind.DATE_TIME)
#: A text may name two values of these kinds. The bot then offers both.
_SAID_TWICE = (*OFFERED_KINDS, Kind.NUMBER, Kind.MONEY)
#: Longest text with two values, in characters.
_MAX_ALTERNATIVES = 64


def choose_offered(
    spec: FieldSpec, tokens: TokenText, situation: ReadingSituation, language: Language, read: Reader
) -> Reading:
    """The offered value that the text names by its position, by its order in time, or by a week that it lies in.

    `read`: reads a text for the field without what was offered.
    """
    offered = [str(value) for value in situation.listed_options]
    if spec.kind not in OFFERED_KINDS or len(offered) < 2 or not situation.is_asked:
        return NOTHING
    if any(read(value).value != value for value in offered):
        return NOTHING  # They were offered for another field.
    start, end = language.strip_fillers(tokens)
    words = tokens.text[start:end].strip()
    if any(char.isdigit() for char in words):
        return _choose_meant(read(tokens.text), offered)
    position = find_position_word(words, language)
    # "Two" is an hour where times were offered.
    is_hour = spec.kind is not Kind.DATE and not language.number_words.keys().isdisjoint(words.split(" "))
    if position is not None and not is_hour and -len(offered) <= position <= len(offered):
        return accept(offered[position - 1 if position > 0 else position])
    for order, value in (("earlier", min(offered)), ("later", max(offered))):
        if words in _get_order_words(language, order):
            return accept(value)
    return _choose_meant(read(tokens.text), offered)


@lru_cache(maxsize=16)
def _get_order_words(language: Language, order: str) -> frozenset[str]:
    """The words for the earlier or the later one of two moments."""
    return PhraseSet(language.words["options"][order]).phrases


def _choose_meant(reading: Reading, offered: Sequence[str]) -> Reading:
    """The only offered value that a reading allows: of a week, the day in it."""
    meant: list[str] = []
    if reading.reason is Reason.DAY_MISSING:
        first, last = str(reading.data.get("from")), str(reading.data.get("to"))
        meant = [value for value in offered if first <= value[:10] <= last]
    elif reading.outcome is Outcome.CANDIDATES:
        meant = [value for value in offered if value in reading.candidates]
    return accept(meant[0]) if len(meant) == 1 else NOTHING


def read_alternatives(spec: FieldSpec, text: str, language: Language, read: Reader) -> Reading:
    """Both values of "Friday or Saturday" and of "2-3", so that the bot asks which."""
    composed = unicodedata.normalize("NFC", text)
    if spec.kind not in _SAID_TWICE or len(composed) > _MAX_ALTERNATIVES or composed.rstrip().endswith("?"):
        return NOTHING
    tokens = language.read_tokens(composed).tokens
    joints = [token for token in tokens if language.is_in("alternatives", token.text)]
    is_range = not joints and spec.kind in (Kind.NUMBER, Kind.MONEY)
    if is_range:
        joints = [token for token in tokens if language.is_in("range_joints", token.text)]
    if len(joints) != 1:
        return NOTHING
    start = tokens[0].end if language.is_in("conjunctions", tokens[0].text) else 0  # "Either … or …"
    readings = [read(part) for part in (composed[start : joints[0].start], composed[joints[0].end :])]
    values = list(dict.fromkeys(reading.value for reading in readings if reading.has_value))
    is_wide = is_range and len(values) == 2 and values[1] - values[0] != 1  # "2 to 5"
    return offer(values) if len(values) == 2 and not is_wide else NOTHING
