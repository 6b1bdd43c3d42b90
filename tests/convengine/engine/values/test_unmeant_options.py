"""Options that a message names without choosing them."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.values import ReadingSituation, blank_denials, blank_unmeant_options, field_spec
from convengine.engine.values.unmeant_options import speaks_to_somebody

STAFF = field_spec(
    "staff", {"x-options": [{"value": "1", "label": "Jonas Berger"}, {"value": "2", "label": "Anna Kolb"}]}
)


def make_situation(locale: str) -> ReadingSituation:
    return ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=ZoneInfo("Europe/Berlin")), "Europe/Berlin", locale)


@pytest.mark.parametrize(
    ("locale", "text", "left"),
    [
        ("en", "anyone but Jonas", "anyone but"),
        ("en", "anyone but Jonas or Anna", "anyone but       or"),
        ("en", "anyone except Jonas Berger, Anna maybe", "anyone except             , Anna maybe"),
        ("en", "thanks Anna", "thanks"),
        ("en", "thanks, Anna", "thanks, Anna"),
        ("en", "Anna, thanks", "Anna, thanks"),
        ("en", "thanks Anna, Jonas then", "thanks Anna, Jonas then"),
        ("en", "no Anna", "no Anna"),
        ("de", "alle außer Jonas", "alle außer"),
        ("de", "danke schön Anna", "danke schön"),
        ("de", "nicht beim Jonas", "nicht beim"),
    ],
)
def test_an_option_that_is_excepted_or_spoken_to_is_not_chosen(locale: str, text: str, left: str) -> None:
    assert blank_unmeant_options([STAFF], text, make_situation(locale)).rstrip() == left


def test_a_denied_option_counts_only_where_denials_are_asked_for() -> None:
    situation = make_situation("de")

    assert blank_unmeant_options([STAFF], "nicht Jonas", situation) == "nicht Jonas"
    assert blank_unmeant_options([STAFF], "nicht Jonas", situation, with_denials=True).strip() == "nicht"
    assert blank_unmeant_options([STAFF], "nein Jonas", situation, with_denials=True) == "nein Jonas"


@pytest.mark.parametrize(
    ("locale", "text", "speaks"),
    [
        ("en", "sorry boss", True),
        ("en", "thanks mate", True),
        ("de", "sorry Chef", True),
        ("de", "Entschuldigung Meister", True),
        ("de", "sorry Tom Haase", False),
        ("de", "Meister", False),
    ],
)
def test_somebody_who_is_called_by_no_name_is_none(locale: str, text: str, speaks: bool) -> None:
    assert speaks_to_somebody(text, make_situation(locale)) is speaks


@pytest.mark.parametrize(
    ("locale", "phrase", "text", "left"),
    [
        ("en", "we can't come tomorrow", "we cant come tomorrow", "we      come tomorrow"),
        ("en", "we can't come tomorrow", "Zak won't be there tomorrow", "Zak won't be there tomorrow"),
        ("en", "no boxes please", "no boxes from the 3rd on", "no boxes from the 3rd on"),
        ("de", "bitte keine Kisten", "bitte keine Kisten vom 3.7. an", "bitte       Kisten vom 3.7. an"),
    ],
)
def test_what_the_phrases_of_an_intent_deny_denies_no_value(locale: str, phrase: str, text: str, left: str) -> None:
    assert blank_denials(text, [phrase], make_situation(locale)) == left
