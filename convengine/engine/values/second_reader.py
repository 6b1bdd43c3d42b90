"""dateparser as the second reader of days, behind a guard.

On phrases that it does not know it guesses ("20%" is the 20th). So it only gets texts made of calendar words, and both
orders of day and month have to give the same day.
"""

from datetime import date, datetime
from functools import lru_cache

from convengine.engine.values.language import Language
from convengine.engine.values.templates import fold_keys
from convengine.engine.values.tokens import TokenText, fold_text

MAX_LENGTH = 48
MAX_WORDS = 8
#: A day so many years away names its year in full: "20 June 18" is not of 2118.
_FARTHEST = 50


def read_with_dateparser(text: str, tokens: TokenText, now: datetime, language: Language) -> date | None:
    """The day that dateparser reads, if the text passes the guard."""
    start, end = language.strip_fillers(tokens)
    words = tokens.text[start:end].split()
    if not passes_guard(words, language):
        return None
    days = {_parse(" ".join(words), language.name, order, now) for order in ("DMY", "MDY")}
    day = days.pop()
    is_near = day is not None and (abs(day.year - now.year) <= _FARTHEST or str(day.year) in words)
    return day if not days and day is not None and is_near and _fits(day, words, language) else None


def passes_guard(words: list[str], language: Language) -> bool:
    """True for calendar words only, at least one of them unambiguous, and none of a kind twice."""
    if not words or len(words) > MAX_WORDS or sum(map(len, words)) + len(words) > MAX_LENGTH:
        return False
    anchors = _list_anchors(language)
    known = all(
        word in anchors or word in _list_small_words(language) or (word.isdigit() and len(word) in (1, 2, 4))
        for word in words
    )
    kinds = [anchors[word] for word in words if word in anchors and word not in language.ambiguous]
    single = all(kinds.count(kind) < 2 for kind in ("weekday", "month", "relative_day"))
    return known and bool(kinds) and single and _is_whole(words, set(kinds), language)


def _is_whole(words: list[str], kinds: set[str], language: Language) -> bool:
    """False for "5 days" and for "November", which are no days."""
    if "unit" in kinds and not any(fold_text(word) in words for word in language.calendar["directions"]):
        return False
    ordinals = fold_keys(language.numbers["ordinals"])
    return "month" not in kinds or any(word in ordinals or (word.isdigit() and len(word) < 3) for word in words)


@lru_cache(maxsize=16)
def _list_anchors(language: Language) -> dict[str, str]:
    """The words that only a date has, with their kind."""
    slots = language.slots
    return {
        word: kind
        for kind in ("unit", "relative_day", "month", "weekday")
        for word in (slots[kind].values or {})
        if " " not in word
    }


@lru_cache(maxsize=16)
def _list_small_words(language: Language) -> frozenset[str]:
    words = {fold_text(word) for word in language.calendar["second_reader"]}
    return frozenset(words | set(language.number_words) | set(fold_keys(language.numbers["ordinals"])))


def _parse(text: str, language: str, order: str, now: datetime) -> date | None:
    import dateparser

    settings = {
        "DATE_ORDER": order,
        "RELATIVE_BASE": now.replace(tzinfo=None),
        "RETURN_AS_TIMEZONE_AWARE": False,
        "PREFER_DATES_FROM": "future",
        "TIMEZONE": "UTC",
    }
    try:
        moment = dateparser.parse(text, languages=[language], settings=settings)
    except (ValueError, OverflowError):
        return None
    return moment.date() if moment else None


def _fits(day: date, words: list[str], language: Language) -> bool:
    """True when the day has the weekday and the month that the text names."""
    weekdays, months = language.slots["weekday"].values or {}, language.slots["month"].values or {}
    return all(
        (word not in weekdays or weekdays[word] == day.weekday()) and (word not in months or months[word] == day.month)
        for word in words
    )
