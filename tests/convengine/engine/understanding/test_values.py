"""Lists of days, times, moments and lengths as people say them. The gate: nothing is read wrongly."""

import tomllib
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.understanding.field import FieldSpec, field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.span import RefusalReason, Resolved, Situation, Span, list_sorts
from convengine.engine.understanding.words import read_words

FOLDER = Path(__file__).parent / "values"
LOCALES = {
    "en": "en-GB", "de": "de-DE", "es": "es-ES", "fr": "fr-FR", "it": "it-IT", "pt": "pt-BR", "nl": "nl-NL",
}  # fmt: skip
ZONE = "Europe/Berlin"
#: A Tuesday.
NOW = datetime(2026, 11, 24, 10, 0, tzinfo=ZoneInfo(ZONE))


def list_phrases() -> Iterator[tuple[str, str, str, Any]]:
    for file in sorted(FOLDER.glob("??.toml")):
        for kind, phrases in tomllib.loads(file.read_text()).items():
            for phrase, expected in phrases.items():
                yield LOCALES[file.stem], kind, phrase, expected


def make_spec(kind: str, **declared: Any) -> FieldSpec:
    return field_spec("field", {"x-kind": kind, **{f"x-{key}": value for key, value in declared.items()}})


def find_whole(spec: FieldSpec, text: str, locale: str = "en-GB") -> Span | None:
    """The span that has every word of a text."""
    tables = get_tables(locale)
    words = read_words(text, tables.lexicon)
    chart = Chart(tables.grammar, words, text)
    for span in FINDERS[list_sorts(spec)[0]].find(chart, [spec]):
        if all(word.is_sign for word in (*words[: span.start], *words[span.end :])):
            return span
    return None


def resolve(
    text: str, spec: FieldSpec, locale: str = "en-GB", is_meant: bool = True, **situation: Any
) -> Resolved | None:
    span = find_whole(spec, text, locale)
    if span is None:
        return None
    return FINDERS[span.sort].resolve(span, spec, Situation(NOW, ZONE, locale, **situation), is_meant=is_meant)


def describe(resolved: Resolved | None) -> Any:
    """In the notation of the lists."""
    if resolved is None:
        return ""
    if not resolved.values:
        return f"!{resolved.reason}"
    return resolved.value if resolved.is_value else list(resolved.values)


@pytest.mark.parametrize(("locale", "kind", "phrase", "expected"), list(list_phrases()))
def test_a_phrase_is_read_as_people_mean_it(locale: str, kind: str, phrase: str, expected: Any) -> None:
    assert describe(resolve(phrase, make_spec(kind), locale)) == expected


@pytest.mark.parametrize(
    ("kind", "phrase"),
    [
        ("date", "12"), ("date", "sat"), ("date", "the 12"), ("date", "5th"), ("date", "May"), ("date", "tomorow"),
        ("date", "the first"), ("date", "the friday"),
        ("time", "9"), ("time", "1630"), ("time", "nine"), ("time", "in the morning"),
        ("datetime", "friday"), ("datetime", "9"), ("duration", "90"),
    ],
)  # fmt: skip
def test_a_phrase_that_may_be_something_else_is_weak(kind: str, phrase: str) -> None:
    span = find_whole(make_spec(kind), phrase)

    assert span is not None
    assert span.is_weak


@pytest.mark.parametrize(
    ("kind", "phrase"),
    [
        ("date", "tomorrow"), ("date", "5 December"), ("date", "next Friday"), ("date", "on Friday"),
        ("date", "the 5th"), ("date", "2026-12-05"), ("date", "friday the 4th"), ("time", "3pm"), ("time", "at 3"),
        ("time", "16:30"), ("time", "half past four"), ("time", "noon"), ("datetime", "friday at 4"),
        ("duration", "two weeks"),
    ],
)  # fmt: skip
def test_a_phrase_that_is_nothing_else_is_strong(kind: str, phrase: str) -> None:
    span = find_whole(make_spec(kind), phrase)

    assert span is not None
    assert not span.is_weak


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("date", "5 hours"), ("date", "4 people"), ("date", "20%"), ("date", "B12"), ("date", "3.5"), ("date", "1-2"),
        ("time", "5 December"), ("time", "10-12"), ("time", "room 4b"), ("duration", "14:30"),
        ("time", "14,30"), ("date", "5. 12 people"),
    ],
)  # fmt: skip
def test_a_part_of_another_value_is_none(kind: str, text: str) -> None:
    tables = get_tables("en-GB")
    chart = Chart(tables.grammar, read_words(text, tables.lexicon), text)
    spec = make_spec(kind)

    assert not FINDERS[list_sorts(spec)[0]].find(chart, [spec])


@pytest.mark.parametrize(
    ("text", "bounds", "expected"),
    [
        ("Friday", {"max": "today"}, "2026-11-20"),
        ("3 March", {"max": "today"}, "2026-03-03"),
        ("the 28th", {"max": "today"}, "2026-10-28"),
        ("3/5/85", {"max": "today"}, "1985-05-03"),
        ("24th April 87", {"max": "today"}, "1987-04-24"),
        ("27 08 89", {"max": "today"}, "1989-08-27"),
        ("27 08 19 89", {"max": "today"}, "1989-08-27"),
        ("27 08 89", {}, ""),
        ("May 3rd 85", {"max": "today-18y"}, "1985-05-03"),
        ("5/12 59", {"max": "today"}, "1959-12-05"),
        ("29 February", {"max": "today"}, "2024-02-29"),
        ("3 March", {"min": "today"}, "2027-03-03"),
        ("today", {"min": "today"}, "2026-11-24"),
        ("today", {"min": "today+1d"}, "!OUT_OF_BOUNDS"),
        ("next Friday", {"max": "today+5d"}, "2026-11-27"),
    ],
)
def test_a_day_lies_within_the_bounds_of_its_field(text: str, bounds: Mapping[str, str], expected: str) -> None:
    assert describe(resolve(text, make_spec("date", **bounds))) == expected


def test_a_day_out_of_bounds_is_refused_with_the_bounds() -> None:
    resolved = resolve("in 100 days", make_spec("date", min="today", max="today+90d"))

    assert resolved is not None
    assert resolved.reason is RefusalReason.OUT_OF_BOUNDS
    assert resolved.data == {"value": "2027-03-04", "min": "2026-11-24", "max": "2027-02-22"}


@pytest.mark.parametrize(
    ("text", "bounds", "expected"),
    [
        ("4", {"min": "08:00", "max": "18:00"}, "16:00"),
        ("at 9", {"min": "08:00", "max": "18:00"}, "09:00"),
        ("half past four", {}, ["04:30", "16:30"]),
        ("7pm", {"min": "08:00", "max": "18:00"}, "!OUT_OF_BOUNDS"),
        ("1", {"min": "20:00", "max": "04:00"}, "01:00"),
    ],
)
def test_of_both_halves_of_the_day_the_one_within_bounds_is_meant(
    text: str, bounds: Mapping[str, str], expected: Any
) -> None:
    assert describe(resolve(text, make_spec("time", **bounds))) == expected


@pytest.mark.parametrize(("locale", "expected"), [("", ["2027-04-03", "2027-03-04"]), ("en-US", "2027-03-04")])
def test_a_numeric_date_is_ambiguous_without_a_country(locale: str, expected: Any) -> None:
    assert describe(resolve("03/04/2027", make_spec("date"), locale)) == expected


@pytest.mark.parametrize(
    ("kind", "text", "held", "expected"),
    [
        ("date", "the day before", "2026-12-05", "2026-12-04"),
        ("date", "one week later", "2026-12-05", "2026-12-12"),
        ("date", "the 6th", "2027-01-05", "2027-01-06"),
        ("time", "an hour later", "16:30", "17:30"),
        ("time", "half an hour earlier", "16:30", "16:00"),
        ("datetime", "an hour later", "2026-12-05T16:30:00+01:00", "2026-12-05T17:30:00+01:00"),
        ("datetime", "two days later", "2026-12-05T16:30:00+01:00", "2026-12-07T16:30:00+01:00"),
        ("datetime", "at 5 pm", "2026-12-05T16:30:00+01:00", "2026-12-05T17:00:00+01:00"),
    ],
)
def test_a_relative_value_counts_from_the_held_one(kind: str, text: str, held: str, expected: str) -> None:
    assert describe(resolve(text, make_spec(kind), held={"field": held})) == expected


@pytest.mark.parametrize(
    ("kind", "text", "known", "expected"),
    [
        ("datetime", "at 4 pm", "2026-12-05", "2026-12-05T16:00:00+01:00"),
        ("datetime", "tomorrow", "16:30", "2026-11-25T16:30:00+01:00"),
        ("date", "Wednesday", "2026-12-07..2026-12-13", "2026-12-09"),
        ("date", "the 5th", "2027-03-01..2027-03-31", "2027-03-05"),
    ],
)
def test_an_answer_completes_the_known_part(kind: str, text: str, known: str, expected: str) -> None:
    assert describe(resolve(text, make_spec(kind), known_part=known)) == expected


@pytest.mark.parametrize(
    ("kind", "text", "bounds", "expected"),
    [
        ("date", "5 December 2026", {}, set()),
        ("date", "5 December", {}, set()),
        ("date", "5 March", {}, {"year"}),
        ("date", "the 5th", {}, {"month"}),
        ("time", "16:30", {}, set()),
        ("time", "4", {"min": "08:00", "max": "18:00"}, set()),
        ("datetime", "tomorrow at 3", {}, {"half"}),
        ("datetime", "the 5th at 3 pm", {}, {"month"}),
        ("time", "4pm EST", {}, {"zone"}),
        ("datetime", "tomorrow at 4pm EST", {}, {"zone"}),
    ],
)
def test_a_value_names_the_parts_that_nobody_said(
    kind: str, text: str, bounds: Mapping[str, str], expected: set[str]
) -> None:
    resolved = resolve(text, make_spec(kind, **bounds))

    assert resolved is not None
    assert resolved.supplied == expected


@pytest.mark.parametrize(
    ("text", "bounds", "is_meant", "expected"),
    [
        ("yesterday", {}, False, True),
        ("two days ago", {}, False, True),
        ("last Friday", {}, False, True),
        ("tomorrow", {}, False, False),
        ("yesterday", {}, True, False),
        ("yesterday", {"max": "today"}, False, False),
    ],
)
def test_a_day_that_is_over_is_rather_told_than_meant(
    text: str, bounds: Mapping[str, str], is_meant: bool, expected: bool
) -> None:
    resolved = resolve(text, make_spec("date", **bounds), is_meant=is_meant)

    assert resolved is not None
    assert resolved.is_doubtful is expected


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("3 November", "On which day was the flight?", "2026-11-03"),
        ("Friday", "When did it happen?", "2026-11-20"),
        ("the 30th", "On which day was the flight?", "2026-10-30"),
        ("3 November", "Which day suits you?", "2027-11-03"),
    ],
)
def test_a_question_about_what_is_over_asks_for_a_day_of_the_past(text: str, question: str, expected: str) -> None:
    assert describe(resolve(text, make_spec("date", ask=question))) == expected


@pytest.mark.parametrize(
    ("text", "locale", "day"),
    [
        ("we landed on the 3rd of November", "en-GB", "2026-11-03"),
        ("on 3 November it broke", "en-GB", "2026-11-03"),
        ("am 3. November ist es passiert", "de-DE", "2026-11-03"),
        ("my phone broke, can I come on 3 November", "en-GB", "2027-11-03"),
        ("it broke can I come on 3 November", "en-GB", "2027-11-03"),
        ("I was thinking of 3 November", "en-GB", "2027-11-03"),
    ],
)
def test_a_day_on_which_something_happened_is_over(text: str, locale: str, day: str) -> None:
    tables, spec = get_tables(locale), make_spec("date")
    chart = Chart(tables.grammar, read_words(text, tables.lexicon), text)
    (span,) = FINDERS[list_sorts(spec)[0]].find(chart, [spec])
    resolved = FINDERS[span.sort].resolve(span, spec, Situation(NOW, ZONE, locale), is_meant=True)

    assert describe(resolved) == day


@pytest.mark.parametrize(
    ("kind", "text", "reason", "data"),
    [
        ("date", "30 February", RefusalReason.INVALID_DATE, {"day": 30, "month": 2}),
        ("date", "Monday 5 December", RefusalReason.WEEKDAY_MISMATCH, {"weekday": 0, "date": "2026-12-05"}),
        ("date", "next week", RefusalReason.DAY_MISSING, {"from": "2026-11-30", "to": "2026-12-06"}),
        ("date", "in March", RefusalReason.DAY_MISSING, {"from": "2027-03-01", "to": "2027-03-31"}),
        ("time", "25:00", RefusalReason.INVALID_TIME, {}),
        ("time", "in the morning", RefusalReason.TIME_MISSING, {"hours": [0, 12]}),
        ("datetime", "tomorrow", RefusalReason.TIME_MISSING, {"date": "2026-11-25"}),
        ("datetime", "4 pm", RefusalReason.DATE_MISSING, {"time": "16:00"}),
        # On which day says whether that is today or tomorrow here.
        ("datetime", "11 pm PST", RefusalReason.DATE_MISSING, {}),
        ("duration", "2", RefusalReason.UNIT_MISSING, {"number": 2}),
    ],
)
def test_a_refusal_names_its_reason(kind: str, text: str, reason: RefusalReason, data: Mapping[str, Any]) -> None:
    resolved = resolve(text, make_spec(kind))

    assert resolved is not None
    assert (resolved.reason, resolved.data) == (reason, data)


def test_a_length_lies_within_the_bounds_of_its_field() -> None:
    spec = make_spec("duration", min="P1D", max="P2W")

    assert describe(resolve("two weeks", spec)) == "P2W"
    assert describe(resolve("15 days", spec)) == "!OUT_OF_BOUNDS"
