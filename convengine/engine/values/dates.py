"""Days as people say them: "next Monday", "the 5th", "in two weeks", "5.12." (R114).

Each function below gives the days that a phrase of `calendar.toml` may mean, or the reason why it means none.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from convengine.engine.values.bounds import DateBounds
from convengine.engine.values.calendar_math import (
    add_units,
    find_holiday,
    find_monday,
    find_month_end,
    find_weekday_after,
    find_weekday_before,
    make_date,
)
from convengine.engine.values.language import Language
from convengine.engine.values.reading import NOTHING, Reading, Reason, refuse

Json = Any
Slots = Mapping[str, Json]
#: In so many weeks, a weekday is looked for within the bounds.
_WEEKS = 3
#: From this number on, digits without signs end with the whole year: "08081979", but not "080879".
_LONG_JOINT = 10**6
_SATURDAY, _WEEK_DAYS, _HALF_MONTH = 5, 7, 15
#: The weeks of the longest period that an answer names.
_MOST_WEEKS = 6
#: A day and month behind the day of the field before is this near.
_NEAR = timedelta(days=180)
#: Where so long ago is allowed, a day of birth is asked for.
_LONG_PAST = timedelta(days=15 * 365)
#: Phrases that tell nobody's day of birth.
_NO_BIRTHDAY = frozenset(
    {
        "weekday", "weekday_coming", "weekday_this", "weekday_next", "weekday_of_week", "weekday_last",
        "weekday_after_next", "weekday_later", "weekday_of_same_week", "weekday_by_held",
    }
)  # fmt: skip
#: The days that a phrase may mean, the most likely first; or why it means none.
Days = tuple[date, ...] | Reading
#: Of 2026 and 1926, a birthday in "3.1.26" is hardly longer ago than so many years.
_LONGEST_LIFE = 95


@dataclass(frozen=True)
class DateContext:
    """What a day depends on besides the words."""

    today: date
    bounds: DateBounds
    #: DMY or MDY; blank when numeric dates are ambiguous.
    order: str = ""
    #: A bare "12" may be a day of the month.
    takes_bare: bool = False
    #: The day that the field before this one holds: the arrival of a departure. Today or later.
    earlier: date | None = None
    #: The day that the field holds already, and that the user changes.
    held: date | None = None
    #: The first and the last day of the week or month that the last answer named: "next week", then "Wednesday".
    period: tuple[date, date] | None = None
    #: The day in the form that was done before: "the same day".
    former: date | None = None
    #: The words of the field ask for a day of birth.
    names_birth: bool = False

    @property
    def past(self) -> bool:
        return self.bounds.lies_in_past(self.today)

    @property
    def is_birthday(self) -> bool:
        """True where a day of birth is asked for."""
        first = self.bounds.first
        is_long_past = self.names_birth if first is None else self.today - first > _LONG_PAST
        return self.past and is_long_past

    def choose(self, days: list[date]) -> tuple[date, ...]:
        """The next of the days within the bounds, behind the day of the field before; the last one where the bounds say
        past.
        """
        days = sorted(days)
        if inside := self.list_inside(days):
            return inside
        first = self.today if self.earlier is None or self.past else self.earlier + timedelta(days=1)
        coming = [day for day in days if day >= first] or days[-1:]
        gone = [day for day in days if day <= self.today] or days[:1]
        likely = gone[-1] if self.past else coming[0]
        if self.bounds.allows(likely):
            return (likely,)
        allowed = [day for day in days if self.bounds.allows(day)]
        coming = [day for day in coming if self.bounds.allows(day)]
        return (coming[0],) if coming and not self.past else (allowed[0],) if len(allowed) == 1 else (likely,)

    def list_inside(self, days: list[date]) -> tuple[date, ...]:
        """Those of the days that the period has and the field allows."""
        if self.period is None:
            return ()
        first, last = self.period
        return tuple(day for day in days if first <= day <= last and self.bounds.allows(day))

    def find_base(self) -> date:
        """The day from which the next ones are counted: that of the field before, else today."""
        return self.earlier if self.earlier and not self.past else self.today


@dataclass(frozen=True)
class DateMatch:
    """A phrase for a day in a token text."""

    start: int
    end: int
    days: Days
    #: "12" alone, which is a day only as an answer.
    is_bare: bool = False
    #: Inside a sentence, the phrase counts only after a preposition: "the 5th", "may 5".
    is_weak: bool = False
    #: "Tomorrow".
    is_relative: bool = False
    #: "15." may be the beginning of "15.30".
    is_cut: bool = False
    #: "Three years ago" names no day unless one is asked for.
    is_rough: bool = False
    #: Before another word it describes that: "Halloween party".
    is_attribute: bool = False
    #: The name of the phrase in `calendar.toml`.
    means: str = ""
    #: The weekday and the day of the month that it names.
    weekday: int | None = None
    day_number: int | None = None


def match_dates(text: str, start: int, language: Language, context: DateContext) -> Iterator[DateMatch]:
    """Every phrase for a day that begins at `start`."""
    for phrase in language.date_phrases:
        match = phrase.pattern.match(text, start)
        if match is None:
            continue
        is_bare = "bare" in phrase.constants
        if is_bare and not context.takes_bare:
            continue
        if context.is_birthday and (
            phrase.means in _NO_BIRTHDAY or (phrase.means == "relative_day" and not context.takes_bare)
        ):
            continue
        slots = phrase.read(match)
        try:
            days = _MEANINGS[phrase.means](slots, context)
        except (OverflowError, ValueError):
            days = refuse(Reason.INVALID_DATE)
        words = match.group()
        is_weak = (
            phrase.means in ("day_only", "weekend", "week", "month")
            or (phrase.means == "numeric" and words.count("/") == 1 and slots.get("weekday") is None)
            or (words.split(" ", 1)[0] in language.ambiguous and not _is_dated_weekday(phrase.means, words, language))
        )
        yield DateMatch(
            start,
            match.end(),
            days,
            is_bare=is_bare,
            is_weak=is_weak,
            is_relative=phrase.means == "relative_day",
            is_rough=phrase.means == "relative" and slots["unit"] in ("month", "year"),
            is_attribute=phrase.means == "holiday",
            means=phrase.means,
            weekday=slots.get("weekday"),
            day_number=_find_day_number(slots),
            is_cut=phrase.means == "day_only"
            and words.endswith(" . ")
            and text[match.end() : match.end() + 1].isdigit(),
        )


def _is_dated_weekday(means: str, words: str, language: Language) -> bool:
    """True for "fr 20.11." and "last Sat of the month": the day behind a short weekday says that it is one."""
    if means == "weekday_of_month":
        return True
    weekday = words.split(" ", 1)[0]
    is_weekday = weekday in (language.slots["weekday"].values or {}) and weekday not in language.never_alone
    return is_weekday and means in ("numeric", "day_of_month")


def _read_relative_day(slots: Slots, context: DateContext) -> Days:
    return (context.today + timedelta(days=slots["relative_day"]),)


def _read_weekday(slots: Slots, context: DateContext) -> Days:
    today, weekday = context.today, slots["weekday"]
    if inside := _list_weekdays_inside(weekday, context):
        return inside
    before, after = find_weekday_before(today, weekday), find_weekday_after(today, weekday)
    if context.earlier and not context.past:
        return context.choose([find_weekday_after(context.earlier, weekday)])
    if today.weekday() == weekday:
        return (today, before) if context.past else (today, after)
    return context.choose([before, after, *(after + timedelta(days=7 * week) for week in range(1, _WEEKS))])


def _list_weekdays_inside(weekday: int, context: DateContext) -> tuple[date, ...]:
    """The days of the period that the last answer named, with this weekday."""
    if context.period is None:
        return ()
    first = find_weekday_after(context.period[0] - timedelta(days=1), weekday)
    return context.list_inside([first + timedelta(days=7 * week) for week in range(_MOST_WEEKS)])


def _read_weekday_coming(slots: Slots, context: DateContext) -> Days:
    return (find_weekday_after(context.find_base(), slots["weekday"]),)


def _read_weekday_this(slots: Slots, context: DateContext) -> Days:
    day = find_monday(context.today) + timedelta(days=slots["weekday"])
    if context.earlier and context.earlier >= day:
        return _read_weekday_coming(slots, context)
    return (day,) if day >= context.today or context.past else (day + timedelta(days=7),)


def _read_weekday_next(slots: Slots, context: DateContext) -> Days:
    """ "Next Friday" on a Tuesday: this week's for some people, next week's for others."""
    day = find_weekday_after(context.today, slots["weekday"])
    if context.earlier and context.earlier >= day:
        return _read_weekday_coming(slots, context)
    # Tomorrow is hardly ever called so either: on a Sunday, "next Monday" may be the one after.
    is_near = find_monday(day) == find_monday(context.today) or day - context.today == timedelta(days=1)
    return (day, day + timedelta(days=7)) if is_near else (day,)


def _read_weekday_of_week(slots: Slots, context: DateContext) -> Days:
    return (find_monday(context.today) + timedelta(days=7 * slots["weeks"] + slots["weekday"]),)


def _read_weekday_last(slots: Slots, context: DateContext) -> Days:
    return (find_weekday_before(context.today, slots["weekday"]),)


def _read_weekday_after_next(slots: Slots, context: DateContext) -> Days:
    coming = _read_weekday_next(slots, context)
    return tuple(day + timedelta(days=7) for day in coming) if isinstance(coming, tuple) else coming


def _read_weekday_later(slots: Slots, context: DateContext) -> Days:
    today, weekday = context.today, slots["weekday"]
    if "of_this" in slots and (context.held or context.earlier or context.former):
        return NOTHING  # "The Friday after that" is one behind the known day.
    weeks = timedelta(days=7 * slots["number"])
    coming = find_weekday_after(today, weekday)
    # On a Friday, "Friday week" is a week from today.
    return (today + weeks,) if today.weekday() == weekday else (coming + weeks,)


def _read_relative(slots: Slots, context: DateContext) -> Days:
    number = slots.get("count", slots.get("number", 1)) * slots.get("sign", 1)
    base = context.today + timedelta(days=slots.get("base", slots.get("relative_day", 0)))
    return (add_units(base, number, slots["unit"]),)


def _read_after_earlier(slots: Slots, context: DateContext) -> Days:
    """ "A week later", "7 nights": behind the day of the field before, else of the day that the user changes.

    Without both, behind the day in the form that was done before. Without that, "later" counts from today.
    """
    is_length = "bare" in slots  # "7 nights"
    if context.held and not is_length and (context.earlier is None or slots["count"] < 0):
        return (add_units(context.held, slots["count"], slots["unit"]),)
    if context.former and context.earlier is None and not is_length:
        return (add_units(context.former, slots["count"], slots["unit"]),)
    if "counted" in slots and context.earlier is None:
        return refuse(Reason.DAY_MISSING)  # "4 weeks from then" is none of the next days.
    if (context.earlier is None and "later" not in slots) or slots["count"] < 0:
        return NOTHING
    return (add_units(context.find_base(), slots["count"], slots["unit"]),)


def _read_units_from_day(slots: Slots, context: DateContext) -> Days:
    """ "3 weeks from 1 April"."""
    plain = replace(context, earlier=None, held=None)
    if "a" in slots:
        days = _place_day(slots, plain, slots["a"], slots["b"])
    else:
        days = _read_day_of_month(slots, plain) if "month" in slots else _read_day_only(slots, plain)
    if isinstance(days, Reading):
        return days
    return tuple(add_units(day, slots["count"], slots["unit"]) for day in days)


def _read_weekday_of_same_week(slots: Slots, context: DateContext) -> Days:
    """ "Friday that week": in the week of the day that the user changes, or of the field before."""
    base = context.held or context.earlier or context.former
    return (find_monday(base) + timedelta(days=7 * slots["weeks"] + slots["weekday"]),) if base else NOTHING


def _read_weekday_by_held(slots: Slots, context: DateContext) -> Days:
    """ "The Friday before": the nearest one beside the day that the user changes, or of the field or form before."""
    base = context.held or context.earlier or context.former or (context.today if "coming" in slots else None)
    return (_find_weekday_from(base + timedelta(days=slots["sign"]), slots),) if base else NOTHING


def _read_eight_days(slots: Slots, context: DateContext) -> Days:
    """ "In acht Tagen" is a week to many Germans, and eight days to the others."""
    base = context.today + timedelta(days=slots.get("relative_day", 0))
    return (base + timedelta(days=7), base + timedelta(days=8))


def _read_day_with_short_year(slots: Slots, context: DateContext) -> Days:
    """ "8 Aug 79", "8 8 79": a day of birth. The number behind another day may be an hour."""
    return _place_day(slots, context, slots["day"], slots["month"]) if context.past else NOTHING


def _read_spaced_numbers(slots: Slots, context: DateContext) -> Days:
    return _read_numeric(slots, context) if context.past else NOTHING


def _read_joint_digits(slots: Slots, context: DateContext) -> Days:
    """ "080879": a day of birth without signs."""
    if not context.is_birthday:
        return NOTHING
    days, year = divmod(slots["joint_day"], 100 if slots["joint_day"] < _LONG_JOINT else 10_000)
    first, second = divmod(days, 100)
    return _read_numeric({"a": first, "b": second, "short_year": year}, context)


def _read_day_of_month(slots: Slots, context: DateContext) -> Days:
    return _place_day(slots, context, slots["day"], slots["month"])


def _read_holiday(slots: Slots, context: DateContext) -> Days:
    """The day; of several that are called so, all; of a feast of several days, its period."""
    days: list[date] = []
    for name in slots["holiday"].split(" | "):
        periods = _list_periods(name, slots, context)
        if ".." in name:
            first, last = next((period for period in periods if period[1] >= context.today), periods[-1])
            return _refuse_period(max(first, context.today), last)
        days += context.choose([first for first, _ in periods])
    return tuple(sorted(days))


def _list_periods(name: str, slots: Slots, context: DateContext) -> list[tuple[date, date]]:
    """The first and the last day of a holiday in each of the years that may be meant. New Year ends in the next one."""
    first, _, last = name.partition("/")[0].partition("..")
    periods = []
    for year in _list_years(slots, context):
        begin, end = find_holiday(first, year), find_holiday(last or first, year)
        periods.append((begin, end if end >= begin else find_holiday(last, year + 1)))
    return periods


def _find_around_holiday(slots: Slots, context: DateContext) -> list[date]:
    """For each day that is called so, the last day before it or the first one after it."""
    step, days = timedelta(days=slots["sign"]), list[date]()
    for name in slots["holiday"].split(" | "):
        main = name.partition("/")[2]
        if main and slots["sign"] < 0:
            days += [find_holiday(main, year) for year in _list_years(slots, context)]
        else:
            days += [last if slots["sign"] > 0 else first for first, last in _list_periods(name, slots, context)]
    return [day + step for day in days]


def _read_holiday_shift(slots: Slots, context: DateContext) -> Days:
    """ "The day after Boxing Day", "two weeks before Easter"."""
    step = timedelta(days=slots["sign"])
    if slots["unit"] != "day" and ".." in slots["holiday"] and len(set(slots["holiday"].split(".."))) > 1:
        return refuse(Reason.DAY_MISSING)  # "A week before Easter"
    around = _find_around_holiday(slots, context)
    days = [add_units(day - step, slots["count"] * slots["sign"], slots["unit"]) for day in around]
    return _choose_named(slots, days, context)


def _read_weekday_by_holiday(slots: Slots, context: DateContext) -> Days:
    days = [_find_weekday_from(day, slots) for day in _find_around_holiday(slots, context)]
    return _choose_named(slots, days, context)


def _read_weekday_by_day(slots: Slots, context: DateContext) -> Days:
    """ "The Monday after the 5th", "der Freitag vor dem 3. Dezember"."""
    month = {} if "month" not in slots else {"month": slots["month"]}
    named = {"day": _find_day_number(slots), **month}
    days = (_read_day_of_month if month else _read_day_only)(named, context)
    if isinstance(days, Reading):
        return days
    return tuple(_find_weekday_from(day + timedelta(days=slots["sign"]), slots) for day in days)


def _find_weekday_from(day: date, slots: Slots) -> date:
    """The first such weekday from a day on, or the last one up to it."""
    if slots["sign"] > 0:
        return find_weekday_after(day - timedelta(days=1), slots["weekday"])
    return find_weekday_before(day + timedelta(days=1), slots["weekday"])


def _choose_named(slots: Slots, days: list[date], context: DateContext) -> Days:
    """The coming day; several where the holiday is one of several days."""
    count = slots["holiday"].count("|") + 1
    size = len(days) // count
    return tuple(day for number in range(count) for day in context.choose(days[number * size : (number + 1) * size]))


def _read_weekend_by_holiday(slots: Slots, context: DateContext) -> Days:
    saturdays = sorted(
        day - timedelta(days=(day.weekday() - 5) % 7) if slots["sign"] < 0 and day.weekday() != 5
        else day + timedelta(days=(5 - day.weekday()) % 7)
        for day in _find_around_holiday(slots, context)
    )  # fmt: skip
    saturday = next((day for day in saturdays if day + timedelta(days=1) >= context.today), saturdays[-1])
    return _refuse_period(max(saturday, context.today), saturday + timedelta(days=1))


def _read_week_by_holiday(slots: Slots, context: DateContext) -> Days:
    shift = timedelta(days=7 * slots["sign"])
    around = _find_around_holiday(slots, context)
    mondays = sorted(find_monday(day - timedelta(days=slots["sign"]) + shift) for day in around)
    monday = next((day for day in mondays if day + timedelta(days=6) >= context.today), mondays[-1])
    return _refuse_period(max(monday, context.today), monday + timedelta(days=6))


def _read_month_end(slots: Slots, context: DateContext) -> Days:
    if "month" in slots:
        years = [slots["year"]] if "year" in slots else [context.today.year + offset for offset in (-1, 0, 1)]
        return context.choose([find_month_end(date(year, slots["month"], 1)) for year in years])
    # From 1 April on, "the end of the month" is hardly that of March.
    base = context.find_base() if slots["months"] == 0 else context.today
    return (find_month_end(add_units(base.replace(day=1), slots["months"], "month")),)


def _read_period_end(slots: Slots, context: DateContext) -> Days:
    """ "The end of May": its last day where a day before it is known, else a part of the month."""
    is_end = context.earlier is not None and not context.past
    if "years" in slots:
        year = context.today.year + slots["years"]
        return (date(year, 12, 31),) if is_end else refuse(Reason.DAY_MISSING)
    return _read_month_end(slots, context) if is_end else _read_month(slots, context)


def _read_part_of_month(slots: Slots, context: DateContext) -> Days:
    """ "The first week of May", "the second half of June": the first week is the first seven days."""
    year = slots.get("year", context.today.year + (slots["month"] < context.today.month))
    end = find_month_end(date(year, slots["month"], 1))
    ordinal = slots["ordinal"]
    if slots["unit"] == "weekend":
        first = find_weekday_after(end.replace(day=1) - timedelta(days=1), _SATURDAY)
        last = find_weekday_before(end + timedelta(days=1), _SATURDAY)
        saturday = last if ordinal < 0 else first + timedelta(days=_WEEK_DAYS * (ordinal - 1))
        return _refuse_period(saturday, saturday + timedelta(days=1))
    size, count = (_WEEK_DAYS, 5) if slots["unit"] == "week" else (_HALF_MONTH, 2)
    if ordinal > count:
        return refuse(Reason.INVALID_DATE)
    if ordinal < 0:
        return _refuse_period(end - timedelta(days=size - 1), end)
    first = date(year, slots["month"], 1) + timedelta(days=size * (ordinal - 1))
    last = end if ordinal == count else first + timedelta(days=size - 1)
    return _refuse_period(first, last)


def _read_week_of_day(slots: Slots, context: DateContext) -> Days:
    """ "The week commencing 16 March"."""
    named = {name: value for name, value in slots.items() if name != "weekday"}
    days = _read_day_of_month(named, context) if "month" in slots else _read_day_only(named, context)
    if isinstance(days, Reading):
        return days
    monday = find_monday(days[0])
    return _refuse_period(max(monday, context.today), monday + timedelta(days=6))


def _read_unknown(slots: Slots, context: DateContext) -> Days:
    """A day that the words name in a way that is not known here: "the Friday after my birthday"."""
    return refuse(Reason.DAY_MISSING)


def _find_day_number(slots: Slots) -> int | None:
    return next((slots[name] for name in ("day", "marked_day", "bare_day") if name in slots), None)


def _read_day_only(slots: Slots, context: DateContext) -> Days:
    number = _find_day_number(slots) or 0
    if context.is_birthday:
        return refuse(Reason.AMBIGUOUS)
    base = context.find_base()
    first = base.replace(day=1)
    months = [add_units(first, offset, "month") for offset in range(-12, 13)]
    months += [context.period[0].replace(day=1)] if context.period else []
    days = [day for month in dict.fromkeys(months) if (day := make_date(month.year, month.month, number))]
    if not days:
        return refuse(Reason.INVALID_DATE, day=number)
    if inside := [day for day in context.list_inside(days) if slots.get("weekday") in (None, day.weekday())]:
        return tuple(inside)  # "In July", then "Saturday the 17th"
    if "weekday" not in slots and context.held and context.held >= context.today:
        # "Not the 3rd, the 5th": of the same month.
        same = make_date(context.held.year, context.held.month, number)
        if same and same >= context.today and context.bounds.allows(same) and (not context.earlier or same > base):
            return (same,)
    if "weekday" not in slots and context.earlier and context.earlier.day == number and not context.past:
        # "From the 3rd to the 3rd" is the same day, or a month later.
        return (context.earlier, context.choose(days)[0])
    if "weekday" in slots:
        near = [day for day in days if abs((day - base).days) < 62]
        fitting = [day for day in near if day.weekday() == slots["weekday"]]
        if not fitting:
            return _refuse_weekday(slots["weekday"], context.choose(days)[0])
        days = fitting
    return context.choose(days)


def _read_day_of_relative_month(slots: Slots, context: DateContext) -> Days:
    month = add_units(context.today.replace(day=1), slots["months"], "month")
    number = slots["day"] if "day" in slots else slots["marked_day"]
    day = make_date(month.year, month.month, number)
    return (day,) if day else refuse(Reason.INVALID_DATE, day=number, month=month.month)


def _read_weekday_of_month(slots: Slots, context: DateContext) -> Days:
    if "months" in slots:
        month = add_units(context.today.replace(day=1), slots["months"], "month")
        months = [month, add_units(month, 1, "month")] if slots.get("is_coming") else [month]
    else:
        years = [slots["year"]] if "year" in slots else [context.today.year + offset for offset in (-1, 0, 1)]
        months = [date(year, slots["month"], 1) for year in years]
    days = []
    for month in months:
        if slots["ordinal"] < 0:
            day = find_weekday_before(find_month_end(month) + timedelta(days=1), slots["weekday"])
        else:
            first = find_weekday_after(month - timedelta(days=1), slots["weekday"])
            day = first + timedelta(days=7 * (slots["ordinal"] - 1))
        if day.month == month.month:
            days.append(day)
    return context.choose(days) if days else refuse(Reason.INVALID_DATE)


def _read_numeric(slots: Slots, context: DateContext) -> Days:
    first, second = slots["a"], slots["b"]
    order = slots.get("order") or context.order
    orders = [(first, second), (second, first)]
    if order == "MDY":
        orders.reverse()
    possible = [pair for pair in dict.fromkeys(orders) if 1 <= pair[0] <= 31 and 1 <= pair[1] <= 12]
    if not possible:
        return refuse(Reason.INVALID_DATE, day=first, month=second)
    if order or len(possible) == 1:
        day, month = possible[0] if slots.get("order") is None else orders[0]
        return _place_day(slots, context, day, month)
    days: list[date] = []
    for day, month in possible:
        placed = _place_day(slots, context, day, month)
        days += placed if isinstance(placed, tuple) else ()
    return tuple(dict.fromkeys(days)) or refuse(Reason.INVALID_DATE, day=first, month=second)


def _read_iso(slots: Slots, context: DateContext) -> Days:
    return _place_day(slots, context, slots["c"], slots["b"])


def _read_week(slots: Slots, context: DateContext) -> Days:
    monday = find_monday(context.today) + timedelta(days=7 * slots["weeks"])
    return _refuse_period(max(monday, context.today), monday + timedelta(days=6))


def _read_weekend(slots: Slots, context: DateContext) -> Days:
    saturday = find_monday(context.today) + timedelta(days=7 * slots["weeks"] + 5)
    return _refuse_period(max(saturday, context.today), saturday + timedelta(days=1))


def _read_month(slots: Slots, context: DateContext) -> Days:
    if "months" in slots:
        first = add_units(context.today.replace(day=1), slots["months"], "month")
    else:
        year = slots.get("year", context.today.year + (slots["month"] < context.today.month))
        first = date(year, slots["month"], 1)
    last = find_month_end(first)
    return _refuse_period(first if last < context.today else max(first, context.today), last)


def _place_day(slots: Slots, context: DateContext, day: int, month: int) -> Days:
    """A day and month in the year that is named, or in the one that is meant. A day of birth needs its year."""
    if context.is_birthday and not {"year", "short_year"} & slots.keys():
        return refuse(Reason.AMBIGUOUS)
    weekday = slots.get("weekday")
    years = _list_years(slots, context)
    days = [candidate for year in years if (candidate := make_date(year, month, day))]
    nearest = context.today.year
    if not days or ("year" not in slots and "short_year" not in slots and (day, month) == (29, 2)):
        return refuse(Reason.INVALID_DATE, day=day, month=month, year=years[0] if len(years) == 1 else nearest)
    chosen = tuple(days) if "short_year" in slots else context.choose(days)
    if context.earlier and len(chosen) == 1 and chosen[0] - context.earlier > _NEAR:
        # "From 3 July to 10 June" is a mistake, not almost a year.
        chosen = replace(context, earlier=None).choose(days)
    if weekday is None:
        return chosen
    fitting = tuple(candidate for candidate in chosen if candidate.weekday() == weekday)
    return fitting or _refuse_weekday(weekday, chosen[0])


def _read_year(slots: Slots, context: DateContext) -> Days:
    """ "2022, of course": another year of the day that is changed; without one, a year is no day."""
    if context.held is None:
        return NOTHING
    year = slots["year"] if "year" in slots else context.today.year + slots["years"]
    moved = make_date(year, context.held.month, context.held.day)
    return (moved,) if moved else refuse(Reason.INVALID_DATE, day=context.held.day, month=context.held.month)


def _list_years(slots: Slots, context: DateContext) -> list[int]:
    if "year" in slots:
        return [slots["year"]]
    if "short_year" in slots:
        return _expand_year(slots["short_year"], context)
    period = [context.period[0].year] if context.period else []
    return [context.today.year + offset for offset in (-1, 0, 1, *((2,) if context.earlier else ()))] + period


def _expand_year(year: int, context: DateContext) -> list[int]:
    """26 is 2026. Where a field lies in the past, both centuries may be meant."""
    if year > 99:
        return [year]
    century = context.today.year // 100 * 100
    both = [century + year, century - 100 + year]
    if context.past:
        past = [candidate for candidate in both if candidate <= context.today.year]
        return [candidate for candidate in past if candidate >= context.today.year - _LONGEST_LIFE] or past
    return both[:1] if both[0] <= context.today.year + 20 else both[1:]


def _refuse_weekday(weekday: int, day: date) -> Reading:
    return refuse(Reason.WEEKDAY_MISMATCH, weekday=weekday, date=day.isoformat())


def _refuse_period(first: date, last: date) -> Reading:
    return refuse(Reason.DAY_MISSING, **{"from": first.isoformat(), "to": last.isoformat()})


_MEANINGS: Mapping[str, Callable[[Slots, DateContext], Days]] = {
    "relative_day": _read_relative_day,
    "weekday": _read_weekday,
    "weekday_coming": _read_weekday_coming,
    "weekday_this": _read_weekday_this,
    "weekday_next": _read_weekday_next,
    "weekday_of_week": _read_weekday_of_week,
    "weekday_last": _read_weekday_last,
    "weekday_after_next": _read_weekday_after_next,
    "weekday_later": _read_weekday_later,
    "relative": _read_relative,
    "after_earlier": _read_after_earlier,
    "weekday_of_same_week": _read_weekday_of_same_week,
    "weekday_by_held": _read_weekday_by_held,
    "eight_days": _read_eight_days,
    "day_of_month": _read_day_of_month,
    "day_with_short_year": _read_day_with_short_year,
    "spaced_numbers": _read_spaced_numbers,
    "joint_digits": _read_joint_digits,
    "day_only": _read_day_only,
    "day_of_relative_month": _read_day_of_relative_month,
    "weekday_of_month": _read_weekday_of_month,
    "numeric": _read_numeric,
    "iso": _read_iso,
    "holiday": _read_holiday,
    "holiday_shift": _read_holiday_shift,
    "weekday_by_holiday": _read_weekday_by_holiday,
    "weekday_by_day": _read_weekday_by_day,
    "weekend_by_holiday": _read_weekend_by_holiday,
    "week_by_holiday": _read_week_by_holiday,
    "month_end": _read_month_end,
    "year": _read_year,
    "period_end": _read_period_end,
    "units_from_day": _read_units_from_day,
    "part_of_month": _read_part_of_month,
    "week_of_day": _read_week_of_day,
    "unknown": _read_unknown,
    "week": _read_week,
    "weekend": _read_weekend,
    "month": _read_month,
}
