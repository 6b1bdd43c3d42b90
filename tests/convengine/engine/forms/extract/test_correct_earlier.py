"""Changes that say the earlier value, that name their field, or that leave a value out."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.forms.extract.correction import read_correction
from convengine.engine.forms.extract.emptied import find_emptied_field
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation

NOW = datetime(2026, 3, 9, 9, tzinfo=ZoneInfo("Europe/London"))
FORM = Form(
    {
        "type": "object",
        "required": ["cut", "guests", "day", "time", "been", "name"],
        "properties": {
            "cut": {
                "enum": ["wash", "trim", "colour"],
                "title": "Service",
                "x-labels": ["Leistung"],
                "x-options": [
                    {"value": "wash", "label": "Wash", "synonyms": ["Waschen"]},
                    {"value": "trim", "label": "Trim", "synonyms": ["Schneiden"]},
                    {"value": "colour", "label": "Colour", "synonyms": ["Färben"]},
                ],
            },
            "guests": {"type": "integer", "title": "Guests", "x-labels": ["Gäste"], "minimum": 1, "maximum": 8},
            "day": {"format": "date", "title": "Day", "x-labels": ["Tag"], "x-min": "today", "x-max": "today+60d"},
            "time": {
                "format": "time", "title": "Time", "x-labels": ["Uhrzeit"], "x-min": "09:00", "x-max": "18:00",
            },
            "been": {"type": "boolean", "title": "Been before", "x-ask": "Have you been with us before?"},
            "name": {"type": "string", "title": "Name", "x-ask": "What is your name?"},
            "notes": {"type": "string", "title": "Notes", "x-labels": ["Hinweis"], "x-ask": "Anything else?"},
        },
    }
)  # fmt: skip
HELD = {
    "cut": "wash", "guests": 2, "day": "2026-03-18", "time": "14:00", "been": True, "name": "Carol Webb",
    "notes": "Ground floor",
}  # fmt: skip


def make_situation(locale: str) -> ReadingSituation:
    return ReadingSituation(NOW, "Europe/London", locale, held_days={"day": HELD["day"]})


def correct(text: str, locale: str = "en-GB", *, asked: str | None = None) -> dict[str, Any] | None:
    held = {path: value for path, value in HELD.items() if asked is None or path not in (asked, "notes")}
    extraction = read_correction(FORM, text, held, make_situation(locale), asked_path=asked, is_expected=asked is None)
    return extraction and {item.field: item.value for item in extraction.extracted}


@pytest.mark.parametrize(
    ("text", "locale", "changed"),
    [
        ("could you make it the 19th not the 18th", "en-GB", {"day": "2026-03-19"}),
        ("no it's thurs not weds", "en-GB", {"day": "2026-03-19"}),
        ("I said thursday not wednesday", "en-GB", {"day": "2026-03-19"}),
        ("should be 3pm, not 2", "en-GB", {"time": "15:00"}),
        ("it's a trim not a wash", "en-GB", {"cut": "trim"}),
        ("its Caroline Webb not Carol", "en-GB", {"name": "Caroline Webb"}),
        ("name is Carol Webber not Carol Webb", "en-GB", {"name": "Carol Webber"}),
        ("my surname is Weber, not Webb", "en-GB", {"name": "Carol Weber"}),
        ("nein, schneiden nicht waschen", "de-DE", {"cut": "trim"}),
        ("donnerstag ned mittwoch", "de-AT", {"day": "2026-03-19"}),
        ("es heißt Weber nicht Webb", "de-DE", {"name": "Carol Weber"}),
        ("Webb schreibt sich Weber", "de-DE", {"name": "Carol Weber"}),
    ],
)
def test_small_words_may_stand_around_the_new_and_the_earlier_value(
    text: str, locale: str, changed: dict[str, Any]
) -> None:
    assert correct(text, locale) == changed


@pytest.mark.parametrize(
    ("text", "locale", "changed"),
    [
        ("2pm is a bit early for us, 4pm would be better", "en-GB", {"time": "16:00"}),
        ("the time doesn't work any more, 4.30pm?", "en-GB", {"time": "16:30"}),
        ("wednesday is no good after all, can we do thursday", "en-GB", {"day": "2026-03-19"}),
        ("the 18th doesnt suit. the 20th please", "en-GB", {"day": "2026-03-20"}),
        ("can't make wednesday now, thursday at 10 would work", "en-GB", {"day": "2026-03-19", "time": "10:00"}),
        ("I can't do two, only at four", "en-GB", {"time": "16:00"}),
        ("a wash is no good, a trim please", "en-GB", {"cut": "trim"}),
        ("14 uhr is ma zu früh, geht 16 uhr?", "de-AT", {"time": "16:00"}),
        ("am 18. gehts leider nicht, bitte am 20.3.", "de-DE", {"day": "2026-03-20"}),
        ("am 18. kann ich ned, am 20. gings", "de-AT", {"day": "2026-03-20"}),
        ("der tag passt nicht, gehts am 20.?", "de-DE", {"day": "2026-03-20"}),
        ("mittwoch ist schlecht, donnerstag wäre besser", "de-DE", {"day": "2026-03-19"}),
    ],
)
def test_a_value_behind_the_refused_one_replaces_it(text: str, locale: str, changed: dict[str, Any]) -> None:
    assert correct(text, locale) == changed
    assert correct(text, locale, asked="name") == changed


@pytest.mark.parametrize("text", ["2pm is too early", "it's too early, I'm tired"])
def test_a_refusal_without_another_value_changes_nothing(text: str) -> None:
    assert not correct(text, asked="name")


@pytest.mark.parametrize(
    ("text", "locale", "changed"),
    [
        ("den namen bitte auf Lena Roth ändern", "de-DE", {"name": "Lena Roth"}),
        ("können sie den namen in Lena Roth ändern?", "de-DE", {"name": "Lena Roth"}),
        ("tag bitte auf 20.3. ändern", "de-DE", {"day": "2026-03-20"}),
        ("tag ändern auf 20.3. und wir sind 4 gäste", "de-DE", {"day": "2026-03-20", "guests": 4}),
        ("uhrzeit auf 15 uhr verschieben", "de-DE", {"time": "15:00"}),
        ("name to Lena Roth please", "en-GB", {"name": "Lena Roth"}),
        ("day to the 20th and time to 3pm", "en-GB", {"day": "2026-03-20", "time": "15:00"}),
        ("bitte auf Lena Roth", "de-DE", {"name": "Lena Roth"}),
        ("lieber auf Lena Roth buchen", "de-DE", {"name": "Lena Roth"}),
        ("under Lena Roth please", "en-GB", {"name": "Lena Roth"}),
        ("put it in Lena Roth's name", "en-GB", {"name": "Lena Roth"}),
        ("mein name schreibt sich übrigens Carola Webb", "de-DE", {"name": "Carola Webb"}),
    ],
)
def test_a_field_changes_by_its_name_and_a_name_by_its_form(text: str, locale: str, changed: dict[str, Any]) -> None:
    assert correct(text, locale) == changed


@pytest.mark.parametrize("text", ["bitte auf Rechnung", "bitte auf Donnerstag", "for my wife", "danke für Ihre Hilfe"])
def test_what_is_written_like_no_full_name_is_none(text: str) -> None:
    assert "name" not in (correct(text, "de-DE") or {})


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("a week later, same time", "en-GB"),
        ("same time but a week later pls", "en-GB"),
        ("can we do a week later at the same time", "en-GB"),
        ("bitte eine woche später, gleiche uhrzeit", "de-DE"),
        ("eine woche später zur selben zeit", "de-DE"),
    ],
)
def test_a_shift_may_say_what_stays(text: str, locale: str) -> None:
    assert correct(text, locale) == {"day": "2026-03-25"}


@pytest.mark.parametrize(
    "text", ["no, I haven't been before", "wrong, never been before", "sorry, I haven't been before"]
)
def test_a_yes_or_no_is_told_anew(text: str) -> None:
    assert correct(text) == {"been": False}


@pytest.mark.parametrize("text", ["I have been before", "no lunch", "before noon please"])
def test_what_tells_nothing_new_changes_no_yes_or_no(text: str) -> None:
    assert not correct(text)


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("drop the note", "en-GB"), ("please take the notes off", "en-GB"), ("no notes please", "en-GB"),
        ("actually no need for the note", "en-GB"), ("the note isn't needed", "en-GB"),
        ("den hinweis bitte weglassen", "de-DE"), ("hinweis weg bitte", "de-DE"), ("ohne hinweis bitte", "de-DE"),
        ("nehmen sie den hinweis raus", "de-DE"), ("den hinweis brauchts nicht", "de-DE"),
    ],
)  # fmt: skip
def test_an_optional_value_is_left_out(text: str, locale: str) -> None:
    assert find_emptied_field(FORM, text, HELD, make_situation(locale), None) == "notes"


@pytest.mark.parametrize(
    "text",
    [
        "don't forget the note",
        "is the note in there",
        "drop the name",
        "no, the note",
        "drop it",
        "no note on the door",
    ],
)
def test_other_words_leave_nothing_out(text: str) -> None:
    assert find_emptied_field(FORM, text, HELD, make_situation("en-GB"), None) is None
