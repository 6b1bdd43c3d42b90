"""Two days in one phrase, for the two date fields of a form: "vom 4. bis 11. Juli", "Mon to Fri next week"."""

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from convengine.engine.values.calendar_math import add_units, find_month_end, find_weekday_before, make_date
from convengine.engine.values.date_times import list_calendar_starts
from convengine.engine.values.dates import DateContext, DateMatch, match_dates
from convengine.engine.values.language import Language
from convengine.engine.values.times import match_times
from convengine.engine.values.tokens import TokenText

#: A day of the month or a weekday alone says the day only beside the other one.
_PARTIAL = ("day_only", "weekday")
#: A last day of these kinds does not tell the month of the first day.
_ENDS = ("month_end", "period_end")
_DASHES = ("-", "–", "—")
#: Longest time between the two days where only the second one is full.
_LONGEST = 62


@dataclass(frozen=True)
class DateRange:
    """Two days, each with its position in the tokens' text."""

    first: date
    first_span: tuple[int, int]
    last: date
    last_span: tuple[int, int]
    #: "7 nights from 4 July": a day and a number.
    is_stay: bool = False
    #: "Between 3 and 7 July": one day, not all of them.
    is_choice: bool = False


def find_date_range(text: str, tokens: TokenText, language: Language, context: DateContext) -> DateRange | None:
    """The first range of days in a text; null for none, and for one that may mean several."""
    local = replace(context, takes_bare=True, held=None)
    covered = 0
    for start in list_calendar_starts(tokens, language):
        if start < covered:
            continue  # "July 10" of "3 July 10-12"
        if whole := _read_whole_month(tokens, start, language, local):
            return whole
        for match in _match(tokens, start, language, local):
            covered = covered if _is_partial(match) else max(covered, match.end)
            end = _skip_time(tokens.text, match.end, language, local)
            joint = _find_joint(text, tokens, match, end, language)
            date_range = _read_range(tokens, match, end + joint, language, local) if joint is not None else None
            if date_range := date_range or _read_stay(tokens, match, language):
                return date_range
    return None


def _read_whole_month(tokens: TokenText, start: int, language: Language, context: DateContext) -> DateRange | None:
    """The first and the last day of "all of July"."""
    for phrase in language.whole_month_phrases:
        if match := phrase.pattern.match(tokens.text, start):
            slots = phrase.read(match)
            year = slots.get("year", context.today.year + (slots["month"] < context.today.month))
            first = date(year, slots["month"], 1)
            middle = match.start("month")
            if middle > start and first >= context.today:
                return DateRange(first, (start, middle), find_month_end(first), (middle, match.end()))
    return None


def _match(tokens: TokenText, start: int, language: Language, context: DateContext) -> list[DateMatch]:
    """The phrases for a day at `start`, the longest first."""
    text = tokens.text
    matches = match_dates(text, start, language, context)
    return sorted(
        (
            match
            for match in matches
            if text[start : match.end].strip() not in language.never_alone and match.means != "units_from_day"
        ),
        key=lambda match: -match.end,
    )


def _skip_time(text: str, end: int, language: Language, context: DateContext) -> int:
    """The end of the time behind a day, "16 July 9am to 18 July"; the end of the day without one."""
    start = end + language.between.match_start(text, end)
    times = match_times(text, start, language, datetime.combine(context.today, time.min), takes_bare=False)
    return max((match.end for match in times if match.is_marked), default=end)


def _find_joint(text: str, tokens: TokenText, first: DateMatch, end: int, language: Language) -> int | None:
    """The length of what joins the day that ends here with the next one: "bis", a dash, "und" behind "zwischen"."""
    if end >= len(tokens.text):
        return None
    if size := language.range_joints.match_start(tokens.text, end):
        return size
    start = first.start - language.articles.match_end(tokens.text, first.start)
    if language.range_leads.match_end(tokens.text, start):
        return language.range_conjunctions.match_start(tokens.text, end) or None
    index = tokens.offsets.index(end)
    gap = text[tokens.tokens[index - 1].end : tokens.tokens[index].start].strip(". ")
    return 0 if gap in _DASHES else None


def _read_range(
    tokens: TokenText, first: DateMatch, start: int, language: Language, context: DateContext
) -> DateRange | None:
    text = tokens.text
    start += language.before_date.match_start(text, start)
    start += language.articles.match_start(text, start)
    for second in _match(tokens, start, language, context):
        if (first.is_bare and second.is_bare) or not _ends_phrase(tokens, second, language):
            continue
        days = _place_both(text, first, second, language, context)
        if days:
            lead = first.start - language.articles.match_end(text, first.start)
            is_choice = language.range_leads.match_end(text, lead) > 0
            spans = (first.start, first.end), (second.start, second.end)
            return DateRange(days[0], spans[0], days[1], spans[1], is_choice=is_choice)
    return None


def _place_both(
    text: str, first: DateMatch, second: DateMatch, language: Language, context: DateContext
) -> tuple[date, date] | None:
    """The two days, the first one before the last one; null if they are not sure."""
    if _is_partial(first) and not _is_partial(second) and second.means not in _ENDS:
        last = _get_day(second)
        begin = _find_before(first, last, context) if last else None
    else:
        begin = None if first.is_bare and not _is_partial(second) else _get_day(first)
        later = replace(context, earlier=begin)
        matches = match_dates(text, second.start, language, later) if begin else iter(())
        last = next((_get_day(match) for match in matches if match.end == second.end), None)
    return (begin, last) if begin and last and context.today <= begin < last else None


def _find_before(match: DateMatch, last: date, context: DateContext) -> date | None:
    """The last such day before another one."""
    if match.weekday is not None:
        return find_weekday_before(last, match.weekday)
    number = match.day_number or 0
    months = (add_units(last.replace(day=1), -offset, "month") for offset in range(3))
    days = (make_date(month.year, month.month, number) for month in months)
    day = next((day for day in days if day and day < last), None)
    return day if day and last - day <= timedelta(days=_LONGEST) else None


def _read_stay(tokens: TokenText, first: DateMatch, language: Language) -> DateRange | None:
    """A day and a number of nights or weeks: "ab dem 4. Juli für 7 Nächte", "7 nights from 4 July"."""
    text, begin = tokens.text, _get_day(first)
    if begin is None or first.is_bare:
        return None
    for phrase in language.stay_phrases:
        match = phrase.pattern.match(text, first.end)
        if match is None:
            spans = ((offset, phrase.pattern.match(text, offset)) for offset in tokens.offsets if offset < first.start)
            match = next((span for _, span in spans if span and _leads_to(text, span.end(), first, language)), None)
        if match:
            slots = phrase.read(match)
            last = add_units(begin, slots["count"], slots["unit"])
            return DateRange(begin, (first.start, first.end), last, match.span(), is_stay=True)
    return None


def _leads_to(text: str, end: int, first: DateMatch, language: Language) -> bool:
    """True when only "from" stands between the nights and the day."""
    lead = language.start_leads.match_start(text, end)
    return lead > 0 and first.start in (end + lead, end + lead + language.articles.match_start(text, end + lead))


def _ends_phrase(tokens: TokenText, match: DateMatch, language: Language) -> bool:
    """True when nothing follows that makes another number of it: "10. bis 12 Uhr"."""
    following = tokens.text[match.end :].split(" ", 1)[0]
    if not _is_partial(match) or not following or following in language.clause_words:
        return True
    index = tokens.offsets.index(match.end)
    return tokens.tokens[index].start - tokens.tokens[index - 1].end > 1


def _is_partial(match: DateMatch) -> bool:
    return match.means in _PARTIAL


def _get_day(match: DateMatch) -> date | None:
    """The only day of a phrase."""
    return match.days[0] if isinstance(match.days, tuple) and len(match.days) == 1 else None
