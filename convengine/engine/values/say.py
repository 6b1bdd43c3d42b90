"""A stored value as a confirmation repeats it: "Friday 27 November 2026, 16:00" (R114)."""

from datetime import date, datetime, time
from functools import lru_cache
from typing import Any

from convengine.engine.values.durations import parse_duration
from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.language import Language, get_countries, get_country, get_language

Json = Any


def say_value(spec: FieldSpec, value: Json, locale: str = "") -> str:
    """The full text of a stored value in the language of a locale."""
    if value is None:
        return ""
    language = get_language(locale)
    for option in spec.options:
        if option.value == value:
            return option.label
    if isinstance(value, bool):
        return str(language.say["yes"] if value else language.say["no"])
    if isinstance(value, (int, float)):
        return _say_money(value, spec, language, locale) if spec.currency else _say_number(value, language, locale)
    return _say_text(spec, value, language, locale) if isinstance(value, str) else str(value)


def _say_text(spec: FieldSpec, value: str, language: Language, locale: str) -> str:
    try:
        if spec.kind is Kind.DATE:
            return _say_date(date.fromisoformat(value), language, locale)
        if spec.kind is Kind.TIME:
            return _say_time(time.fromisoformat(value), language, locale)
        if spec.kind is Kind.DATE_TIME:
            return _say_date_time(datetime.fromisoformat(value), language, locale)
    except ValueError:
        return value
    if spec.kind is Kind.DURATION:
        return _say_duration(value, language)
    if spec.kind is Kind.PHONE:
        return _say_phone(value)
    if spec.kind is Kind.IBAN:
        return " ".join(value[start : start + 4] for start in range(0, len(value), 4))
    return value


def _get_format(language: Language, locale: str, name: str) -> Json:
    own = language.say.get(get_country(locale), {})
    return own.get(name, language.say.get(name))


def _say_date(day: date, language: Language, locale: str) -> str:
    return str(_get_format(language, locale, "date")).format(
        weekday=language.say["weekdays"][day.weekday()],
        day=day.day,
        month=language.say["months"][day.month - 1],
        year=day.year,
    )


def _say_time(clock: time, language: Language, locale: str) -> str:
    halves = _get_format(language, locale, "halves")
    return str(_get_format(language, locale, "time")).format(
        hour=clock.hour,
        minute=clock.minute,
        hour12=(clock.hour - 1) % 12 + 1,
        half=halves[clock.hour // 12] if halves else "",
    )


def _say_date_time(moment: datetime, language: Language, locale: str) -> str:
    return str(_get_format(language, locale, "date_time")).format(
        date=_say_date(moment.date(), language, locale), time=_say_time(moment.time(), language, locale)
    )


def _say_duration(value: str, language: Language) -> str:
    parts = parse_duration(value)
    if not parts:
        return value
    named = [f"{number} {language.say['units'][unit][number != 1]}" for unit, number in parts.items()]
    return f" {language.say['and']} ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def _say_number(value: float, language: Language, locale: str) -> str:
    point = get_countries().get(get_country(locale), {}).get("decimal", language.numbers["decimal"])
    group = "," if language.numbers["decimal"] == "." else "." if point == "," else "’"
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.10f}".rstrip("0").rstrip(".")
    # Four digits are as often a year or an id as an amount.
    return _replace_signs(text if abs(value) >= 10_000 else text.replace(",", ""), group, point)


def _say_money(value: float, spec: FieldSpec, language: Language, locale: str) -> str:
    point = get_countries().get(get_country(locale), {}).get("decimal", language.numbers["decimal"])
    group = "," if language.numbers["decimal"] == "." else "." if point == "," else "’"
    text = f"{value:,}" if float(value).is_integer() and isinstance(value, int) else f"{value:,.2f}"
    listed = language.numbers["currencies"].get(spec.currency, [spec.currency])
    symbol = str(listed[0])
    if symbol.isalpha():
        return f"{spec.currency} {_replace_signs(text, group, point)}"
    return str(_get_format(language, locale, "money")).format(symbol=symbol, amount=_replace_signs(text, group, point))


def _replace_signs(text: str, group: str, point: str) -> str:
    return text.translate({ord(","): group, ord("."): point})


@lru_cache(maxsize=1024)
def _say_phone(value: str) -> str:
    if not value.startswith("+"):
        return value
    import phonenumbers

    try:
        number = phonenumbers.parse(value)
    except phonenumbers.NumberParseException:
        return value
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
