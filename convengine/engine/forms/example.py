"""How an answer to a field looks: an example of its kind, within its bounds."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from convengine.engine.forms.form import Field
from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.kinds.day_arithmetic import read_date_bound, read_moment_bound, read_time_bound
from convengine.engine.understanding.kinds.days import lies_in_past, names_birth
from convengine.json_value import Json

#: Days until the day of an example.
_DAYS = timedelta(days=7)
#: Since the day of birth of an example.
_AGE = timedelta(days=30 * 365)
_HOUR = timedelta(hours=10, minutes=30)
_EMAIL, _DURATION, _IBAN = "name@example.com", "PT2H", "DE89370400440532013000"


def find_example(field: Field, now: datetime, country: str = "") -> Json:
    """An example of a valid value: the first of the schema's own `examples`, else one by kind; None for texts.

    `country`: that of the users, for phone numbers of fields that name none.
    """
    own = field.declared.get("examples")
    if isinstance(own, list) and own:
        return own[0]
    make = _BY_KIND.get(field.spec.kind)
    return make(field.spec, now, country) if make else None


def _limit(value: Any, first: Any, last: Any) -> Any:
    """The value, or the bound that it passes."""
    value = value if first is None else max(value, first)
    return value if last is None else min(value, last)


def _make_day(spec: FieldSpec, now: datetime, _: str) -> str:
    today = now.date()
    first, last = read_date_bound(spec.minimum, today), read_date_bound(spec.maximum, today)
    days = -_AGE if names_birth(spec) else -_DAYS if lies_in_past(spec) else _DAYS
    day = today + days
    limited: date = _limit(day, first, last)
    return limited.isoformat()


def _make_moment(spec: FieldSpec, now: datetime, _: str) -> str:
    first = read_moment_bound(spec.minimum, now, is_last=False)
    last = read_moment_bound(spec.maximum, now, is_last=True)
    start = now.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    moment: datetime = _limit(start + _DAYS + _HOUR, first, last)
    return moment.isoformat(timespec="minutes")


def _make_time(spec: FieldSpec, _now: datetime, _: str) -> str:
    minutes: int = _limit(
        int(_HOUR.total_seconds()) // 60, read_time_bound(spec.minimum), read_time_bound(spec.maximum)
    )
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _make_number(spec: FieldSpec, _now: datetime, _: str) -> Json:
    start = 50 if spec.kind is Kind.MONEY or spec.currency else 2
    numbers = [bound if isinstance(bound, (int, float)) else None for bound in (spec.minimum, spec.maximum)]
    value: Json = _limit(start, *numbers)
    return value


@lru_cache(maxsize=256)
def _make_phone_of(country: str) -> Json:
    import phonenumbers

    number = phonenumbers.example_number(country) if country else None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) if number else None


_BY_KIND: Mapping[Kind, Callable[[FieldSpec, datetime, str], Json]] = {
    Kind.DATE: _make_day,
    Kind.TIME: _make_time,
    Kind.DATE_TIME: _make_moment,
    Kind.NUMBER: _make_number,
    Kind.MONEY: _make_number,
    Kind.DURATION: lambda spec, now, country: spec.minimum or _DURATION,
    Kind.PHONE: lambda spec, now, country: _make_phone_of(spec.country or country),
    Kind.EMAIL: lambda spec, now, country: _EMAIL,
    Kind.IBAN: lambda spec, now, country: _IBAN,
}
