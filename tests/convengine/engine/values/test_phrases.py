"""Lists of what people say. The gate: nothing is read wrongly, and nothing is read that is no value."""

import tomllib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.forms.asking import has_leaving_clause, says_nothing, wants_to_leave
from convengine.engine.values import (
    Outcome,
    Reading,
    ReadingSituation,
    field_spec,
    read_opening,
    read_value,
    says_yes_or_no,
)

FOLDER = Path(__file__).parent / "phrases"
LOCALES = {"en": "en-GB", "de": "de-DE"}
NOW = datetime(2026, 11, 24, 10, 0, tzinfo=ZoneInfo("Europe/Berlin"))


def read_confirmation(text: str, locale: str) -> bool | str:
    value = says_yes_or_no(text, locale)
    value = read_opening(text, locale) if value is None else value
    return "" if value is None else value


#: What is no value of a field: the answer to a confirmation, an optional field left empty, a wish to stop.
ANSWERS: dict[str, Callable[[str, str], Any]] = {
    "confirmation": read_confirmation,
    "skip": lambda text, _: says_nothing(text),
    "leave": lambda text, _: wants_to_leave(text) or has_leaving_clause(text),
}


def list_phrases(*, of_fields: bool) -> Iterator[tuple[str, str, str, Any]]:
    for file in sorted(FOLDER.glob("*.toml")):
        for kind, phrases in tomllib.loads(file.read_text()).items():
            for phrase, expected in phrases.items() if (kind not in ANSWERS) is of_fields else ():
                yield LOCALES[file.stem], kind, phrase, expected


def describe_reading(reading: Reading) -> Any:
    """In the notation of the lists."""
    if reading.outcome is Outcome.NOTHING:
        return ""
    if reading.outcome is Outcome.REFUSED:
        return f"!{reading.reason}"
    return list(reading.candidates) if reading.candidates else reading.value


@pytest.mark.parametrize(("locale", "kind", "phrase", "expected"), list(list_phrases(of_fields=True)))
def test_a_phrase_is_read_as_people_mean_it(locale: str, kind: str, phrase: str, expected: Any) -> None:
    spec = field_spec("field", {"x-kind": kind})

    assert describe_reading(read_value(spec, phrase, ReadingSituation(NOW, "Europe/Berlin", locale))) == expected


@pytest.mark.parametrize(("locale", "kind", "phrase", "expected"), list(list_phrases(of_fields=False)))
def test_an_answer_without_a_value_is_read_as_people_mean_it(
    locale: str, kind: str, phrase: str, expected: Any
) -> None:
    assert ANSWERS[kind](phrase, locale) == expected


#: Only an answer to the question that the bot has just asked.
BARE = {"date": ("12", "sat", "mi", "wed", "24.12"), "time": ("9", "17", "1630", "12"), "datetime": ("12", "9")}


@pytest.mark.parametrize(("kind", "phrase"), [(kind, phrase) for kind, phrases in BARE.items() for phrase in phrases])
@pytest.mark.parametrize("locale", LOCALES.values())
def test_a_bare_number_is_no_day_and_no_time_of_a_field_that_was_not_asked(kind: str, phrase: str, locale: str) -> None:
    situation = ReadingSituation(NOW, "Europe/Berlin", locale, is_asked=False)

    assert describe_reading(read_value(field_spec("field", {"x-kind": kind}), phrase, situation)) == ""
