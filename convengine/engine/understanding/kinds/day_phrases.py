"""What the phrases for days mean: "next Monday", "the 5th", "in two weeks", "5.12.".

Each function of `_MEANINGS` gives the days that a phrase of `calendar.toml` may mean, or the reason why it means none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from convengine.engine.understanding.grammar import GrammarPhrase
from convengine.engine.understanding.kinds.day_arithmetic import (
    DateBounds,
    add_units,
    find_holiday,
    find_monday,
    find_month_end,
    find_weekday_after,
    find_weekday_before,
    make_date,
)
from convengine.engine.understanding.span import RefusalReason, Resolved, refuse
from convengine.json_value import Json

Slots = Mapping[str, Json]
#: The days that a phrase may mean; or why it means none; or None where it is no day here.
Days = tuple[date, ...] | Resolved | None
#: The number of weeks, and of months, in which a day without its month or year is looked for.
_WEEKS, _MONTHS = 3, 13
#: The number of days within which a day with its weekday is looked for.
NEAR = 62
#: Of a year with two digits in the past, nobody is older.
_LONGEST_LIFE = 95
_NO_BOUNDS = DateBounds()
#: 29 February, and the number of years within which there is one.
_LEAP_DAY, _LEAP_YEARS = (29, 2), 8
#: Slots that name the day of a month.
DAY_NUMBERS = ("ordinal", "number_ordinal", "ordinal_word", "day_number")
#: Slots that name the year.
YEARS = ("year", "full_year", "short_year", "relative_year")


@dataclass(frozen=True)
class DayContext:
    """What a day depends on besides the words."""

    today: date
    bounds: DateBounds = _NO_BOUNDS
    #: DMY or MDY; blank where numeric dates are ambiguous.
    order: str = ""
    #: The day that the field holds, and that the message changes.
    held: date | None = None
    #: The day of the date field before this one.
    earlier: date | None = None
    #: The question or the message says that the day is over.
    tells_past: bool = False
    #: The first and the last day of the week or month that the last answer named: "next week", then "Wednesday".
    period: tuple[date, date] | None = None

    @property
    def is_past(self) -> bool:
        return self.tells_past or self.bounds.lies_in_past(self.today)

    def choose(self, days: Sequence[date]) -> tuple[date, ...]:
        """The next of the days, if possible one that the field allows; the last one where its bounds say past.

        All days in the period that the last answer named, if there are any.
        """
        days = sorted(days)
        if self.period and (inside := [day for day in days if self.period[0] <= day <= self.period[1]]):
            return tuple(inside)
        first = self.today if self.earlier is None or self.is_past else self.earlier
        if self.is_past:
            likely = [day for day in days if day <= self.today][-1:] or days[:1]
        else:
            coming = [day for day in days if day >= first] or days[-1:]
            likely = [day for day in coming if self.bounds.allows(day)][:1] or coming[:1]
        return tuple(likely)


def read_days(phrase: GrammarPhrase, context: DayContext) -> Days:
    """The days that a phrase may mean, the most likely first; or why it means none.

    Returns None where it is no day here: "a week later" without a day that it follows.
    """
    try:
        return _MEANINGS[phrase.means](phrase.slots, context)
    except (OverflowError, ValueError):
        return refuse(RefusalReason.INVALID_DATE)


def _refuse_period(first: date, last: date, context: DayContext) -> Resolved:
    first = max(first, context.today) if last >= context.today else first
    return refuse(RefusalReason.DAY_MISSING, **{"from": first.isoformat(), "to": last.isoformat()})


def _refuse_weekday(weekday: int, day: date) -> Resolved:
    return refuse(RefusalReason.WEEKDAY_MISMATCH, weekday=weekday, date=day.isoformat())


def _read_weekday(slots: Slots, context: DayContext) -> Days:
    """ "Friday" alone: in the period, else the next one or the last; on that day itself, both are meant."""
    today, weekday = context.today, slots["weekday"]
    base = context.earlier if context.earlier and not context.is_past else today
    before, after = find_weekday_before(base, weekday), find_weekday_after(base, weekday)
    if context.period:
        first = find_weekday_after(context.period[0] - timedelta(days=1), weekday)
        return context.choose([first + timedelta(days=7 * week) for week in range(_WEEKS * 2)])
    if base.weekday() == weekday:
        return (base, before) if context.is_past else (base, after)
    return context.choose([before, *(after + timedelta(days=7 * week) for week in range(_WEEKS))])


def _read_weekday_this(slots: Slots, context: DayContext) -> Days:
    day = find_monday(context.today) + timedelta(days=slots["weekday"])
    return (day,) if day >= context.today or context.is_past else (day + timedelta(days=7),)


def _read_weekday_next(slots: Slots, context: DayContext) -> Days:
    """ "Next Friday" on a Tuesday: this week's for some people, next week's for others."""
    day = find_weekday_after(context.today, slots["weekday"])
    is_near = find_monday(day) == find_monday(context.today) or day - context.today == timedelta(days=1)
    return (day, day + timedelta(days=7)) if is_near else (day,)


def _read_weekday_after_next(slots: Slots, context: DayContext) -> Days:
    days = _read_weekday_next(slots, context)
    return tuple(day + timedelta(days=7) for day in days) if isinstance(days, tuple) else days


def _read_weekday_later(slots: Slots, context: DayContext) -> Days:
    weeks, today = timedelta(days=7 * slots.get("count", slots.get("number", 1))), context.today
    base = today if today.weekday() == slots["weekday"] else find_weekday_after(today, slots["weekday"])
    return (base + weeks,)


def _read_relative(slots: Slots, context: DayContext) -> Days:
    """ "In two weeks and a day", "two weeks from tomorrow", "three days before Christmas Eve"."""
    days: Days = (context.today + timedelta(days=slots.get("relative_day", 0)),)
    if "date" in slots:
        days = read_days(slots["date"], context)
    if not isinstance(days, tuple):
        return days
    for number, unit in (("count", "unit"), ("count_2", "unit_2")):
        if unit in slots:
            days = tuple(add_units(day, slots[number] * slots.get("sign", 1), slots[unit]) for day in days)
    return days


def _read_eight_days(slots: Slots, context: DayContext) -> Days:
    """ "In acht Tagen" is a week to many Germans, and eight days to the others."""
    base = context.today + timedelta(days=slots.get("relative_day", 0))
    return (base + timedelta(days=7), base + timedelta(days=8))


def _read_after_held(slots: Slots, context: DayContext) -> Days:
    """ "A week later": behind the day that the message changes, else behind that of the field before."""
    base = context.held or context.earlier
    return (add_units(base, slots["count"] * slots.get("sign", 1), slots["unit"]),) if base else None


def _list_near_days(number: int, base: date, context: DayContext) -> list[date]:
    """The days of this number in the months around `base`, and in that of the period."""
    months = [add_units(base.replace(day=1), offset, "month") for offset in range(1 - _MONTHS, _MONTHS)]
    months += [context.period[0].replace(day=1)] if context.period else []
    return [day for month in dict.fromkeys(months) if (day := make_date(month.year, month.month, number))]


def _read_day_only(slots: Slots, context: DayContext) -> Days:
    """ "The 5th", with or without a weekday: near the day that the field holds, else the next one."""
    number = next(slots[name] for name in DAY_NUMBERS if name in slots)
    base = context.held if context.held and context.held >= context.today else context.earlier or context.today
    days = _list_near_days(number, base, context)
    if not days:
        return refuse(RefusalReason.INVALID_DATE, day=number)
    if "weekday" in slots:
        fitting = [day for day in days if day.weekday() == slots["weekday"]]
        return context.choose(fitting) if fitting else _refuse_weekday(slots["weekday"], context.choose(days)[0])
    if context.held and context.held >= context.today:
        same = make_date(context.held.year, context.held.month, number)
        if same and same >= context.today and context.bounds.allows(same):
            return (same,)
    return context.choose(days)


def _read_day_of_relative_month(slots: Slots, context: DayContext) -> Days:
    month = add_units(context.today.replace(day=1), slots["months"], "month")
    day = make_date(month.year, month.month, slots["ordinal"])
    return (day,) if day else refuse(RefusalReason.INVALID_DATE, day=slots["ordinal"], month=month.month)


def _read_weekday_of_month(slots: Slots, context: DayContext) -> Days:
    """ "The first Monday in May", "the last Friday of next month"."""
    if "months" in slots:
        months = [add_units(context.today.replace(day=1), slots["months"], "month")]
    else:
        months = [date(year, slots["month"], 1) for year in _list_years(slots, context)]
    days = []
    for month in months:
        if slots["ordinal_word"] < 0:
            day = find_weekday_before(find_month_end(month) + timedelta(days=1), slots["weekday"])
        else:
            first = find_weekday_after(month - timedelta(days=1), slots["weekday"])
            day = first + timedelta(days=7 * (slots["ordinal_word"] - 1))
        days += [day] if day.month == month.month else []
    return context.choose(days) if days else refuse(RefusalReason.INVALID_DATE)


def _read_month_end(slots: Slots, context: DayContext) -> Days:
    if "months" in slots:
        return (find_month_end(add_units(context.today.replace(day=1), slots["months"], "month")),)
    return context.choose([find_month_end(date(year, slots["month"], 1)) for year in _list_years(slots, context)])


def _read_numeric(slots: Slots, context: DayContext) -> Days:
    """ "5.12." or "12/5": in the order that the phrase or the language says, else both days."""
    first, second = slots["two_digits"], slots["two_digits_2"]
    order = slots.get("order") or context.order
    pairs = [(second, first), (first, second)] if order == "MDY" else [(first, second), (second, first)]
    possible = [(day, month) for day, month in dict.fromkeys(pairs) if 1 <= day <= 31 and 1 <= month <= 12]
    if "order" in slots:
        possible = pairs[:1]  # "8.30" is no 30 August.
    elif order:
        possible = possible[:1]
    if not possible:
        return refuse(RefusalReason.INVALID_DATE, day=first, month=second)
    placed = [_place_day(slots, context, day, month) for day, month in possible]
    days = [day for item in placed if isinstance(item, tuple) for day in item]
    return tuple(dict.fromkeys(days)) or placed[0]


def _read_holiday(slots: Slots, context: DayContext) -> Days:
    """The days of a feast. A feast of several days is refused, because it does not say which day."""
    years = _list_years(slots, context)
    first, _, last = slots["holiday"].partition("/")[0].partition("..")
    if not last:
        chosen = [context.choose([find_holiday(rule, year) for year in years]) for rule in first.split("|")]
        return tuple(day for days in chosen for day in days)
    periods = [(find_holiday(first, year), find_holiday(last, year)) for year in years]
    periods = [(start, end if end >= start else find_holiday(last, start.year + 1)) for start, end in periods]
    start, end = next((period for period in periods if period[1] >= context.today), periods[-1])
    return _refuse_period(start, end, context)


def _list_edges(slots: Slots) -> list[str]:
    """The days from which "after" and "before" a feast count."""
    days, _, main = slots["holiday"].partition("/")
    first, _, last = days.partition("..")
    return [last] if last and slots["sign"] > 0 else (main or first).split("|")


def _read_holiday_shift(slots: Slots, context: DayContext) -> Days:
    shift, years = timedelta(days=slots["sign"]), _list_years(slots, context)
    chosen = [context.choose([find_holiday(rule, year) + shift for year in years]) for rule in _list_edges(slots)]
    return tuple(day for days in chosen for day in days)


def _read_weekday_by_holiday(slots: Slots, context: DayContext) -> Days:
    """ "The Friday after Easter": the weekday before or after the days of a feast."""
    find, years = find_weekday_after if slots["sign"] > 0 else find_weekday_before, _list_years(slots, context)
    weekday = slots["weekday"]
    chosen = [
        context.choose([find(find_holiday(rule, year), weekday) for year in years]) for rule in _list_edges(slots)
    ]
    return tuple(day for days in chosen for day in days)


def _read_week(slots: Slots, context: DayContext) -> Days:
    monday = find_monday(context.today) + timedelta(days=7 * slots["weeks"])
    return _refuse_period(monday, monday + timedelta(days=6), context)


def _read_weekend(slots: Slots, context: DayContext) -> Days:
    saturday = find_monday(context.today) + timedelta(days=7 * slots["weeks"] + 5)
    return _refuse_period(saturday, saturday + timedelta(days=1), context)


def _read_month_period(slots: Slots, context: DayContext) -> Days:
    """ "In May", "next month": refused, because a period does not say which day."""
    if "months" in slots:
        first = add_units(context.today.replace(day=1), slots["months"], "month")
    else:
        coming = context.today.year + (slots["month"] < context.today.month)
        first = date(_list_years(slots, context)[0] if "full_year" in slots else coming, slots["month"], 1)
    return _refuse_period(first, find_month_end(first), context)


def _place_day(slots: Slots, context: DayContext, day: int, month: int) -> Days:
    """A day and month in the year that is named, or in the one that is meant."""
    years: Sequence[int] = _list_years(slots, context)
    if (day, month) == _LEAP_DAY and slots.keys().isdisjoint(YEARS):
        years = range(context.today.year - _LEAP_YEARS, context.today.year + _LEAP_YEARS + 1)
    days = [candidate for year in years if (candidate := make_date(year, month, day))]
    has_year = not slots.keys().isdisjoint(YEARS)
    if not days:
        return refuse(RefusalReason.INVALID_DATE, day=day, month=month)
    chosen = tuple(days) if has_year else context.choose(days)
    if (weekday := slots.get("weekday")) is None:
        return chosen
    # The weekday may be right for a day that was over a short time ago.
    near = (candidate for candidate in days if abs((candidate - context.today).days) <= NEAR)
    fitting = (tuple(day for day in among if day.weekday() == weekday) for among in (chosen, near))
    return next(filter(None, fitting), None) or _refuse_weekday(weekday, chosen[0])


def _find_year(slots: Slots, context: DayContext) -> int | None:
    """The year that is named; "+1" stands for the next one. Returns None if none is named."""
    year = next((slots[name] for name in YEARS if name in slots), None)
    if year is not None and "two_digits_3" in slots:  # "25 08 19 57"
        return int(slots["two_digits_3"]) * 100 + int(year)
    if isinstance(year, GrammarPhrase):
        return sum(map(int, year.slots.values()))
    return context.today.year + int(year) if isinstance(year, str) else year


def _list_years(slots: Slots, context: DayContext) -> list[int]:
    """The year that is named, else those around today; of two digits, the one that the field is likely to mean."""
    year = _find_year(slots, context)
    if year is None:
        period = [context.period[0].year] if context.period else []
        return [context.today.year + offset for offset in (-1, 0, 1)] + period
    if year > 99:
        return [year]
    century = context.today.year // 100 * 100
    both = [century + year, century - 100 + year]
    if context.is_past:
        past = [item for item in both if item <= context.today.year]
        return [item for item in past if item >= context.today.year - _LONGEST_LIFE] or past
    return both[:1] if both[0] <= context.today.year + 20 else both[1:]


_MEANINGS: Mapping[str, Callable[[Slots, DayContext], Days]] = {
    "relative_day": lambda slots, context: (context.today + timedelta(days=slots["relative_day"]),),
    "weekday": _read_weekday,
    "weekday_this": _read_weekday_this,
    "weekday_next": _read_weekday_next,
    "weekday_of_week": lambda slots, context: (
        find_monday(context.today) + timedelta(days=7 * slots["weeks"] + slots["weekday"]),
    ),
    "weekday_last": lambda slots, context: (find_weekday_before(context.today, slots["weekday"]),),
    "weekday_after_next": _read_weekday_after_next,
    "weekday_later": _read_weekday_later,
    "relative": _read_relative,
    "eight_days": _read_eight_days,
    "after_held": _read_after_held,
    "day_of_month": lambda slots, context: _place_day(
        slots, context, slots["month_day"], slots.get("month", slots.get("month_number"))
    ),
    "day_only": _read_day_only,
    "day_of_relative_month": _read_day_of_relative_month,
    "weekday_of_month": _read_weekday_of_month,
    "month_end": _read_month_end,
    "numeric": _read_numeric,
    "iso": lambda slots, context: _place_day(slots, context, slots["two_digits_2"], slots["two_digits"]),
    "holiday": _read_holiday,
    "holiday_shift": _read_holiday_shift,
    "weekday_by_holiday": _read_weekday_by_holiday,
    "week": _read_week,
    "weekend": _read_weekend,
    "month_period": _read_month_period,
    # A day that the words name in a way that is not known here: "the Friday after my birthday".
    "unknown": lambda slots, context: refuse(RefusalReason.DAY_MISSING),
    # Words that look like a day: "for the second time", and the German "good morning", which has the word tomorrow.
    "no_day": lambda slots, context: None,
}
