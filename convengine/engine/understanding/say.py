"""A stored value as a confirmation repeats it: "Friday 27 November 2026, 16:00"."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.kinds.lengths import parse_duration
from convengine.engine.understanding.language import Table, find_country, get_countries, get_tables
from convengine.json_value import Json


def say_value(spec: FieldSpec, value: Json, locale: str = "") -> str:
    """The full text of a stored value in the language of a locale."""
    if value is None:
        return ""
    say = get_tables(locale).say
    for option in spec.options:
        if option.value == value:
            return option.label
    if isinstance(value, bool):
        return str(say["yes"] if value else say["no"])
    if isinstance(value, (int, float)):
        if spec.currency:
            amount = _replace_signs(f"{value:,}" if isinstance(value, int) else f"{value:,.2f}", say, locale)
            if (sign := say["signs"].get(spec.currency)) is None:
                return f"{spec.currency} {amount}"
            return str(_get_format(say, locale, "money")).format(symbol=sign, amount=amount)
        text = f"{value:,}" if isinstance(value, int) else f"{value:,.10f}".rstrip("0").rstrip(".")
        # Four digits are as often a year or an id as an amount.
        return _replace_signs(text if abs(value) >= 10_000 else text.replace(",", ""), say, locale)
    return _say_text(spec, value, say, locale) if isinstance(value, str) else str(value)


def say_values(spec: FieldSpec, values: Sequence[Json], locale: str = "") -> list[str]:
    """The texts of several values. Of an hour that the change of clocks repeats, each says which one it is."""
    texts = [say_value(spec, value, locale) for value in values]
    if len(set(texts)) == len(texts) or spec.kind is not Kind.DATE_TIME:
        return texts
    say = get_tables(locale).say
    offsets = [datetime.fromisoformat(str(value)).utcoffset() or timedelta() for value in values]
    halves = [say["summer_time" if offset == max(offsets) else "winter_time"] for offset in offsets]
    return [f"{text} ({half})" if texts.count(text) > 1 else text for text, half in zip(texts, halves, strict=True)]


def _say_text(spec: FieldSpec, value: str, say: Table, locale: str) -> str:
    """A stored text in words, by the kind of its field. One that does not fit the kind is said as it is."""
    try:
        if spec.kind is Kind.DATE:
            return _say_date(date.fromisoformat(value), say, locale)
        if spec.kind is Kind.TIME:
            return _say_time(time.fromisoformat(value), say, locale)
        if spec.kind is Kind.DATE_TIME:
            moment = datetime.fromisoformat(value)
            day, clock = _say_date(moment.date(), say, locale), _say_time(moment.time(), say, locale)
            return str(_get_format(say, locale, "date_time")).format(date=day, time=clock)
    except ValueError:
        return value
    if spec.kind is Kind.DURATION and (parts := parse_duration(value)):
        named = [f"{number} {say['units'][unit][number != 1]}" for unit, number in parts.items()]
        return f" {say['and']} ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    if spec.kind is Kind.PHONE:
        return _say_phone(value)
    if spec.kind is Kind.IBAN:
        return " ".join(value[start : start + 4] for start in range(0, len(value), 4))
    return value


def _get_format(say: Table, locale: str, name: str) -> Json:
    own = say.get(find_country(locale), {})
    return own.get(name, say.get(name))


def _say_date(day: date, say: Table, locale: str) -> str:
    """A day as the language and the country write it, with its weekday."""
    return str(_get_format(say, locale, "date")).format(
        weekday=say["weekdays"][day.weekday()],
        day=day.day,
        month=say["months"][day.month - 1],
        year=day.year,
    )


def _say_time(clock: time, say: Table, locale: str) -> str:
    """A time of day as the language and the country write it: in 24 hours, or in 12 with am and pm."""
    halves = _get_format(say, locale, "halves")
    return str(_get_format(say, locale, "time")).format(
        hour=clock.hour,
        minute=clock.minute,
        hour12=(clock.hour - 1) % 12 + 1,
        half=halves[clock.hour // 12] if halves else "",
    )


def _replace_signs(text: str, say: Table, locale: str) -> str:
    """The signs of the locale in a number. Where the country has another one before decimals, ’ groups."""
    point = get_countries().get(find_country(locale), {}).get("decimal", say["decimal"])
    group = say["group"] if point == say["decimal"] or say["decimal"] == "." else "’"
    return text.translate({ord(","): group, ord("."): point})


@lru_cache(maxsize=1024)
def _say_phone(value: str) -> str:
    """An international number with blanks between its parts. Other texts are said as they are."""
    if not value.startswith("+"):
        return value
    import phonenumbers

    try:
        number = phonenumbers.parse(value)
    except phonenumbers.NumberParseException:
        return value
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
