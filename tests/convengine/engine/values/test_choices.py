"""Options as people name them: nothing at all, a weekday in short, a word written apart."""

from datetime import UTC, datetime

import pytest

from convengine.engine.values import ReadingSituation, field_spec, read_value
from convengine.engine.values.field_spec import FieldSpec

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def make_choice(question: str, *labels: str) -> FieldSpec:
    options = [{"value": label, "label": label} for label in labels]
    return field_spec("field", {"type": "string", "title": "Field", "x-ask": question, "x-options": options})


def read(spec: FieldSpec, text: str, locale: str) -> object:
    reading = read_value(spec, text, ReadingSituation(NOW, locale=locale))
    return list(reading.candidates) or reading.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("none at all", "None"),
        ("none whatsoever I'm afraid", "None"),
        ("we have no allergies", "None"),
        ("i dont have any", "None"),
        ("no thanks", "None"),
        ("don't know", None),
        ("no nuts", None),
        ("not many", None),
        ("do i have any?", None),
    ],
)
def test_nothing_names_the_option_that_is_nothing(text: str, value: str | None) -> None:
    spec = make_choice("Any allergies: none, nuts or milk?", "None", "Nuts", "Milk")

    assert read(spec, text, "en-GB") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("gar keine", "Keine"),
        ("überhaupt keine", "Keine"),
        ("wir brauchen keine", "Keine"),
        ("nö", "Keine"),
        ("keine Ahnung", None),
        ("keine Nüsse", None),
    ],
)
def test_nothing_names_the_option_that_is_nothing_in_german(text: str, value: str | None) -> None:
    spec = make_choice("Welche Beilage: keine, Pommes oder Nüsse?", "Keine", "Pommes", "Nüsse")

    assert read(spec, text, "de-DE") == value


@pytest.mark.parametrize(
    ("labels", "text", "locale", "value"),
    [
        (("Wednesday", "Thursday"), "weds", "en-GB", "Wednesday"),
        (("Wednesday", "Thursday"), "thurs works best", "en-GB", "Thursday"),
        (("Wed", "Thu"), "on thursdays please", "en-GB", "Thu"),
        (("Wednesday", "Thursday"), "not thurs", "en-GB", None),
        (("Wednesday", "Thursday"), "weds or thurs", "en-GB", ["Wednesday", "Thursday"]),
        (("September", "October"), "sept", "en-GB", "September"),
        (("Montag", "Donnerstag", "Sonntag"), "Do", "de-DE", "Donnerstag"),
        (("Montag", "Donnerstag", "Sonntag"), "immer donnerstags", "de-DE", "Donnerstag"),
        (("Montag", "Donnerstag", "Sonntag"), "am Mo bitte", "de-DE", "Montag"),
        (("Montag", "Donnerstag", "Sonntag"), "so, Montag", "de-DE", "Montag"),
        (("Februar", "Oktober"), "okt", "de-DE", "Oktober"),
    ],
)
def test_a_short_form_names_a_weekday_or_month(labels: list[str], text: str, locale: str, value: object) -> None:
    assert read(make_choice("Which one?", *labels), text, locale) == value


@pytest.mark.parametrize(
    ("labels", "text", "locale", "value"),
    [
        (("House key", "Mailbox key"), "mail box", "en-US", "Mailbox key"),
        (("House key", "Mailbox key"), "well then i need a mail box one as well", "en-US", "Mailbox key"),
        (("House key", "Mailbox key"), "housekey", "en-US", "House key"),
        (("Hausschlüssel", "Kellerschlüssel"), "den haus schlüssel bitte", "de-DE", "Hausschlüssel"),
        (("Hausschlüssel", "Kellerschlüssel"), "Keller", "de-DE", "Kellerschlüssel"),
        (("Hausschlüssel", "Kellerschlüssel"), "Schlüssel", "de-DE", None),
    ],
)
def test_a_word_of_an_option_is_written_apart_or_together(
    labels: list[str], text: str, locale: str, value: object
) -> None:
    assert read(make_choice("Which key?", *labels), text, locale) == value
