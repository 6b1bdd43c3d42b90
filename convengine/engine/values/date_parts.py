"""Another year, month, weekday or day of the month for a day that is known: "sorry, 2017", "märz, nicht mai"."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache

from convengine.engine.values.calendar_math import make_date
from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language, get_language
from convengine.engine.values.read import list_situations, read_value
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation

#: Longest text that is such a part and nothing else.
MAX_LENGTH = 40
_WEEK = 7
#: Word tables whose words may stand beside a weekday.
_SMALL_WORDS = ("beside_date_parts", "fillers", "before")
_CLAUSE_SIGN = re.compile(r"[,;:!]\s+|\.\s+|\s[–-]\s")
#: "5.5." and "5/5".
_NUMERIC = re.compile(r"\d [./] \d")
_SLOTS = ("year", "month", "marked_day")
#: The month that was said is of this year, else of a year beside it.
_YEARS = (0, 1, -1)


def replace_date_part(spec: FieldSpec, day: str, words: str, situation: ReadingSituation) -> Reading:
    """The day with the parts that the words name, or why the field refuses it; nothing for other words.

    `day`: `YYYY-MM-DD`.
    """
    parts = _read_parts(words, situation)
    try:
        known = date.fromisoformat(day[:10])
    except ValueError:
        return NOTHING
    reading = NOTHING
    shifts = (0,) if "year" in parts or "month" not in parts else _YEARS
    for shift in shifts if parts else ():
        new = make_date(
            parts.get("year", known.year + shift), parts.get("month", known.month), parts.get("marked_day", known.day)
        )
        if new and "year" not in parts and new < situation.now.date() <= known:
            continue  # "In May" of a day to come is none that is over.
        if new and not reading.has_value:
            moved = read_value(spec, new.isoformat(), situation)
            reading = moved if moved.has_value or reading is NOTHING else reading
    return reading


def move_to_named_month(spec: FieldSpec, day: str, text: str, situation: ReadingSituation) -> Reading:
    """The day in the month and year that a message names beside it, or why the field refuses it.

    "March 2024, let's say March 1", "September last year, about the 10th". Nothing for other messages.
    `day`: `YYYY-MM-DD`, as it is read without the rest of the message.
    """
    composed, known = unicodedata.normalize("NFC", text), date.fromisoformat(day[:10])
    for local in list_situations(situation):
        language = get_language(local.locale)
        tokens = language.read_tokens(composed)
        words = [token.text for token in tokens.tokens]
        is_past = spec.maximum == "today"
        named = [*_find_months_of_years(composed, local, language, is_past=is_past)]
        named += _read_part_clauses(composed, local)
        months, years = ({parts[name] for parts in named if name in parts} for name in ("month", "year"))
        month, year = min(months, default=known.month), min(years, default=known.year)
        is_one = len(months) < 2 and len(years) < 2 and (month, year) != (known.month, known.year)
        if not is_one or not _says_only_number(known.day, words, language):
            continue
        spoken = language.slots["month"].values or {}
        if month != known.month and (known.month in map(spoken.get, words) or _NUMERIC.search(tokens.text)):
            continue  # "I bought it in March 2024, it broke on 5 May"
        days = [make_date(near, month, known.day) for near in (years or sorted(year + shift for shift in _YEARS))]
        readings = [read_value(spec, moved.isoformat(), situation) for moved in days if moved]
        taken = [reading for reading in readings if reading.has_value]
        is_joint = any({"month", "year"} <= parts.keys() for parts in named)
        is_over = not is_joint and month == known.month and year < situation.now.year
        if (is_past or is_over) and not taken and read_value(spec, day, situation).has_value:
            continue  # "The 10th, the guarantee ends in March 2028", and "5 April, in 2025 it was great"
        if readings:
            return min(taken, key=lambda reading: abs(date.fromisoformat(reading.value) - known), default=readings[0])
    return NOTHING


def _find_months_of_years(
    text: str, situation: ReadingSituation, language: Language, *, is_past: bool
) -> Iterator[dict[str, int]]:
    """The months that a text names with their year: "March 2024", "September last year".

    For a day to come, their clause says nothing else: "the 5th, we were there in March 2024" names another day.
    """
    for clause in _CLAUSE_SIGN.split(text):
        tokens = language.read_tokens(clause)
        for offset in tokens.offsets:
            for phrase in language.month_of_year_phrases:
                match = phrase.pattern.match(tokens.text, offset)
                if match is None:
                    continue
                others = f"{tokens.text[:offset]}{tokens.text[match.end() :]}".split()
                if not is_past and not all(_is_beside_date(word, language) for word in others):
                    continue
                slot = phrase.read(match)
                if "years" in slot:
                    slot["year"] = situation.now.year + slot["years"]
                yield {name: slot[name] for name in ("month", "year") if name in slot}


def _is_beside_date(word: str, language: Language) -> bool:
    names = {*(language.slots["ordinal"].values or {}), *(language.slots["month"].values or {})}
    is_small = any(language.is_in(table, word) for table in _SMALL_WORDS)
    is_small = is_small and not language.is_in("other_subject", word)
    return is_small or word.isdigit() or word in names or not any(map(str.isalnum, word))


def _read_part_clauses(text: str, situation: ReadingSituation) -> list[dict[str, int]]:
    """The month or year of each clause that names nothing else: "2024, on the 5th of May"."""
    clauses = _CLAUSE_SIGN.split(text)
    parts = (_read_parts(clause, situation) for clause in clauses if len(clauses) > 1)
    return [part for part in parts if part and "marked_day" not in part]


def _says_only_number(day: int, words: Sequence[str], language: Language) -> bool:
    """True for words with the number of a day, and without a weekday, "yesterday" and denials."""
    ordinals = language.slots["ordinal"].values or {}
    others = {*(language.slots["weekday"].values or {}), *(language.slots["relative_day"].values or {})}
    if any(language.is_in("denials", word) or word in others - language.ambiguous for word in words):
        return False
    return any((int(word) if word.isdigit() else ordinals.get(word)) == day for word in words)


def replace_weekday(spec: FieldSpec, day: str, old: str, new: str, situation: ReadingSituation) -> Reading:
    """The day with the new weekday instead of the old one, which it must have; nothing for other words.

    It is the nearest such day if that is of the same week, else the later of the two.
    """
    try:
        known = date.fromisoformat(day[:10])
    except ValueError:
        return NOTHING
    weekday = _read_weekday(new, situation)
    if weekday is None or _read_weekday(old, situation) != known.weekday() or weekday == known.weekday():
        return NOTHING
    later = (weekday - known.weekday()) % _WEEK
    earlier = later - _WEEK
    is_near = -earlier < later and known.weekday() + earlier >= 0
    moved = known + timedelta(earlier if is_near else later)
    return read_value(spec, moved.isoformat(), situation)


def names_weekday_of(day: str, words: str, situation: ReadingSituation) -> bool:
    """True for words that are only the weekday of a day (`YYYY-MM-DD`)."""
    return _read_weekday(words, situation) == date.fromisoformat(day[:10]).weekday()


def _read_weekday(words: str, situation: ReadingSituation) -> int | None:
    """The weekday (0 for Monday) that the last clause of a text names, if it has no other day and no number."""
    clause = _CLAUSE_SIGN.split(unicodedata.normalize("NFC", words).strip(" .!"))[-1]
    for local in list_situations(situation):
        language = get_language(local.locale)
        named = [token.text for token in language.read_tokens(clause).tokens]
        days = language.slots["weekday"].values or {}
        weekdays = [word for word in named if word in days]
        others = [word for word in named if word not in days]
        small = (any(language.is_in(table, word) for table in _SMALL_WORDS) for word in others)
        if len(weekdays) == 1 and all(small):
            return int(days[weekdays[0]])
    return None


def _read_parts(words: str, situation: ReadingSituation) -> dict[str, int]:
    """The year, month and day of the month that a text names, if it says nothing else."""
    composed = unicodedata.normalize("NFC", words).strip()
    for local in list_situations(situation) if len(composed) <= MAX_LENGTH else ():
        language = get_language(local.locale)
        text, parts, start = language.read_tokens(composed).text, dict[str, int](), 0
        while start < len(text):
            matches = ((name, _compile(name, language).match(text, start)) for name in _SLOTS if name not in parts)
            name, match = next(((name, match) for name, match in matches if match), ("", None))
            if match:
                parts[name], start = int(language.slots[name].read(match.group())), match.end()
                continue
            word = text[start:].split(" ", 1)[0]
            if not (language.is_in("beside_date_parts", word) or language.is_in("fillers", word)):
                break
            start += len(word) + 1
        if parts and start >= len(text):
            return parts
    return {}


@lru_cache(maxsize=64)
def _compile(name: str, language: Language) -> re.Pattern[str]:
    return re.compile(language.slots[name].pattern)
