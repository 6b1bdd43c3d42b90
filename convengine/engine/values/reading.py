"""What came of reading a text: a value, several candidates, a refusal with its reason, or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

Json = Any


class Outcome(StrEnum):
    """The four results of reading a text."""

    #: One value, ready to store.
    VALUE = "VALUE"
    #: Several values are possible: ask which.
    CANDIDATES = "CANDIDATES"
    #: The text was understood, and cannot be taken: say why.
    REFUSED = "REFUSED"
    #: The text is no value of this kind.
    NOTHING = "NOTHING"


class Reason(StrEnum):
    """Why a text is not taken as it is. `Reading.data` has the details in brackets."""

    #: Two values are possible (candidates are in the reading).
    AMBIGUOUS = "AMBIGUOUS"
    #: There is no such day: 30 February.
    INVALID_DATE = "INVALID_DATE"
    #: There is no such time: 25:00, or an hour that the change of clocks leaves out.
    INVALID_TIME = "INVALID_TIME"
    #: The weekday does not fit the date (`weekday`, `date`).
    WEEKDAY_MISMATCH = "WEEKDAY_MISMATCH"
    #: A week or a month instead of a day (`from`, `to`).
    DAY_MISSING = "DAY_MISSING"
    #: A day without a time (`date`), or only a part of the day (`from`, `to`).
    TIME_MISSING = "TIME_MISSING"
    #: A time without a day (`time`).
    DATE_MISSING = "DATE_MISSING"
    #: The value is below `min` or above `max` (`value`, `min`, `max`).
    OUT_OF_BOUNDS = "OUT_OF_BOUNDS"
    #: Another unit or currency than the field's (`unit`, `expected`).
    WRONG_UNIT = "WRONG_UNIT"
    #: A number where the field needs a unit too (`number`).
    UNIT_MISSING = "UNIT_MISSING"
    #: A fraction where the field takes whole numbers (`value`).
    NOT_WHOLE = "NOT_WHOLE"
    #: No option is meant (`options`: their labels).
    NOT_AN_OPTION = "NOT_AN_OPTION"
    TOO_SHORT = "TOO_SHORT"
    TOO_LONG = "TOO_LONG"
    #: The check digits of an IBAN do not fit.
    WRONG_CHECK_DIGITS = "WRONG_CHECK_DIGITS"
    INVALID_PHONE = "INVALID_PHONE"
    INVALID_EMAIL = "INVALID_EMAIL"
    INVALID_POSTCODE = "INVALID_POSTCODE"
    INVALID_IBAN = "INVALID_IBAN"
    #: The text does not have the form that the field's pattern asks for.
    PATTERN_MISMATCH = "PATTERN_MISMATCH"


@dataclass(frozen=True)
class Reading:
    """The result of reading a text for one field."""

    outcome: Outcome
    value: Json = None
    #: Possible values, the most likely first.
    candidates: tuple[Json, ...] = ()
    reason: Reason | None = None
    #: Details of the reason, as JSON values.
    data: Mapping[str, Json] = field(default_factory=dict)

    @property
    def has_value(self) -> bool:
        return self.outcome is Outcome.VALUE


#: The text is no value of this kind.
NOTHING = Reading(Outcome.NOTHING)


def accept(value: Json) -> Reading:
    """One value, ready to store."""
    return Reading(Outcome.VALUE, value)


def offer(candidates: Sequence[Json]) -> Reading:
    """Several possible values."""
    return Reading(Outcome.CANDIDATES, candidates=tuple(candidates), reason=Reason.AMBIGUOUS)


def refuse(reason: Reason, **data: Json) -> Reading:
    """A text that was understood and cannot be taken."""
    return Reading(Outcome.REFUSED, reason=reason, data=data)


@dataclass(frozen=True)
class ReadingSituation:
    """What reading depends on besides the text: replays give the same one again."""

    #: The turn's time, with a time zone.
    now: datetime
    #: IANA name of the conversation's time zone; blank keeps the zone of `now`.
    time_zone: str = ""
    #: For example en-GB or de-DE. Blank is English; then numeric dates such as 03/04 are asked back.
    locale: str = ""
    #: Read next if nothing was read with `locale`, for example the conversation's language in a form of another one.
    fallback_locale: str = ""
    #: The values of the options in the order in which the bot listed them ("the second one").
    listed_options: tuple[Json, ...] = ()
    #: The bot has just asked for this field, so that a bare "12" may be the answer.
    is_asked: bool = True
    #: What an earlier answer for a date-time gave: `YYYY-MM-DD` after TIME_MISSING, `HH:MM` after DATE_MISSING.
    #: Behind a day, the hours that are meant: `[0-12]` after "Tuesday morning".
    known_part: str = ""
    #: By the name of a date field: the day that it holds already (`YYYY-MM-DD`).
    held_days: Mapping[str, str] = field(default_factory=dict)
    #: By the name of a date-time field that the message may change: the time that it holds (`HH:MM`).
    held_times: Mapping[str, str] = field(default_factory=dict)
    #: By the name of a date field: the day of the date field before it, which is over by then: arrival, departure.
    earlier_days: Mapping[str, str] = field(default_factory=dict)
    #: By the name of a field: its value in the form that was done before, for "the same day" and "same number".
    former_values: Mapping[str, Json] = field(default_factory=dict)
    #: The stems of the words in the titles and options of the form.
    subject_terms: frozenset[str] = frozenset()
