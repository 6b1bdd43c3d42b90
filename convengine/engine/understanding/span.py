"""A part of a message that may be a value, and what it is for a field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.grammar import Chart, GrammarPhrase
from convengine.json_value import Json


class Sort(StrEnum):
    """What a part of a message may be. A field of a kind takes one sort or several."""

    DAY = "day"
    CLOCK = "clock"
    #: A day, a time, or both together.
    MOMENT = "moment"
    LENGTH = "length"
    NUMBER = "number"
    EMAIL = "email"
    PHONE = "phone"
    POSTCODE = "postcode"
    IBAN = "iban"
    PATTERN = "pattern"
    OPTION = "option"
    YES_NO = "yes_no"
    PERSON = "person"
    #: A value of a kind that the deployment adds.
    OWN = "own"


@dataclass(frozen=True)
class Span:
    """A part of a message, from one word up to another, that may be a value of a sort."""

    sort: Sort
    #: Positions in the words of the message; `end` is not included.
    start: int
    end: int
    phrase: GrammarPhrase
    #: It may be of another sort, or nothing: a bare number or weekday, a word with a slip.
    is_weak: bool = False
    #: The only field that it can be for: its option or its pattern was found. Blank for any field that takes the sort.
    field: str = ""
    #: Something that nothing reads touches it.
    is_touched: bool = False


class RefusalReason(StrEnum):
    """Why a text is not taken as it is. `Resolved.data` has the details in brackets."""

    #: Two values are possible (`candidates`).
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
    #: The value breaks the field's own JSON Schema.
    VALUE_VIOLATES_SCHEMA = "VALUE_VIOLATES_SCHEMA"
    #: The text does not have the form that the field's pattern asks for.
    PATTERN_MISMATCH = "PATTERN_MISMATCH"


@dataclass(frozen=True)
class Resolved:
    """What a span is for one field: a value, several possible ones, or a refusal with its reason."""

    #: One: the value. Several: possible values, the most likely first. None: refused.
    values: tuple[Json, ...] = ()
    #: A `Reason`, or a code of the deployment's.
    reason: str | None = None
    #: Details of the reason, as JSON values.
    data: Mapping[str, Json] = field(default_factory=dict)
    #: The parts of the value that the words do not say: `month`, `year`, `half` of the day, `country`, `sum`, `zone`.
    supplied: frozenset[str] = frozenset()
    #: It is rather told than meant: a day that is over, where nobody asked for one.
    is_doubtful: bool = False

    @property
    def value(self) -> Json:
        """The only value. Check first that there is one."""
        return self.values[0]

    @property
    def is_value(self) -> bool:
        return len(self.values) == 1


def accept(value: Json, *supplied: str) -> Resolved:
    """One value. `supplied`: the parts of it that the words do not say."""
    return Resolved((value,), supplied=frozenset(supplied))


def choose_among(values: Sequence[Json], *supplied: str) -> Resolved:
    """Several possible values; one is a value."""
    distinct = tuple(dict.fromkeys(values))
    reason = RefusalReason.AMBIGUOUS if len(distinct) > 1 else None
    return Resolved(distinct, reason, {"candidates": list(distinct)} if reason else {}, frozenset(supplied))


def refuse(reason: str, **data: Json) -> Resolved:
    """A text that was understood and cannot be taken."""
    return Resolved(reason=reason, data=data)


@dataclass(frozen=True)
class Situation:
    """What reading depends on besides the text and the form: replays give the same one again."""

    #: The turn's time, with a time zone.
    now: datetime
    #: IANA name of the conversation's time zone; blank keeps the zone of `now`.
    time_zone: str = ""
    #: For example en-GB or de-DE. Blank is English; then numeric dates such as 03/04 are asked back.
    locale: str = ""
    #: The conversation's language in a form of another one: words that `locale` does not have are looked up in it.
    fallback_locale: str = ""
    #: The values of the options in the order in which the bot listed them ("the second one").
    listed_options: tuple[Json, ...] = ()
    #: What an earlier answer to the asked field gave: `YYYY-MM-DD` after TIME_MISSING, `HH:MM` after DATE_MISSING,
    #: `YYYY-MM-DD..YYYY-MM-DD` after DAY_MISSING.
    known_part: str = ""
    #: By field: the value that the form holds.
    held: Mapping[str, Json] = field(default_factory=dict)
    #: The country of the users where neither the field nor the message says one; blank leaves it to the locale.
    country: str = ""
    #: By the name of a date field: the day of the date field before it, which is over by then: arrival, departure.
    earlier_days: Mapping[str, date] = field(default_factory=dict)


class Finder(Protocol):
    """Finds the values of one sort in a message, and says what they are for a field."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """The parts of the message that may be such values. `specs`: the fields of the form that take this sort."""

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """What a span is for a field.

        Returns None if it is no value of it. `is_meant`: the bot has asked for it, or the message names it.
        """


#: The sorts of spans that a field of a kind takes.
_SORTS: Mapping[Kind, tuple[Sort, ...]] = {
    Kind.CHOICE: (Sort.OPTION,),
    Kind.DATE: (Sort.DAY,),
    Kind.TIME: (Sort.CLOCK,),
    Kind.DATE_TIME: (Sort.MOMENT,),
    Kind.DURATION: (Sort.LENGTH,),
    Kind.NUMBER: (Sort.NUMBER,),
    Kind.MONEY: (Sort.NUMBER,),
    Kind.PHONE: (Sort.PHONE,),
    Kind.EMAIL: (Sort.EMAIL,),
    Kind.POSTCODE: (Sort.POSTCODE,),
    Kind.IBAN: (Sort.IBAN,),
    Kind.PATTERN: (Sort.PATTERN,),
    # Only where its names say that it takes one.
    Kind.TEXT: (Sort.PERSON,),
    Kind.PERSON: (Sort.PERSON,),
    Kind.YES_NO: (Sort.YES_NO,),
    Kind.OWN: (Sort.OWN,),
}


def list_sorts(spec: FieldSpec) -> tuple[Sort, ...]:
    """The sorts of spans that a field takes; a pattern of the author's (`x-extract`) counts for every kind."""
    own = _SORTS.get(spec.kind, ())
    return (*own, Sort.PATTERN) if spec.extract or spec.format in ("uuid", "uri") else own


#: The sorts of values that have a first and a last.
_PAIRED = (Sort.DAY, Sort.CLOCK, Sort.MOMENT)
_PAIR = 2


def list_paired_sorts(specs: Sequence[FieldSpec]) -> tuple[Sort, ...]:
    """The sorts that two fields take, and no third one: a first and a last day."""
    return tuple(sort for sort in _PAIRED if sum(sort in list_sorts(spec) for spec in specs) == _PAIR)


def find_own_sort(kind: str) -> Sort:
    """The sort of the values of a kind, which a deployment may have named."""
    return _SORTS[Kind(kind)][0] if kind in _SORTS else Sort.OWN
