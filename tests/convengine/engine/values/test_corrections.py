from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.values import (
    ReadingSituation,
    blank_leading_no,
    has_only_fillers,
    is_correction,
    is_indifferent,
    is_slip,
    strip_correction,
)

NOW = datetime(2026, 11, 24, 10, 0, tzinfo=ZoneInfo("Europe/London"))
ENGLISH = ReadingSituation(NOW, "Europe/London", "en-GB")
BOTH = ReadingSituation(NOW, "Europe/London", "de-DE", fallback_locale="en-GB")


@pytest.mark.parametrize(
    "text",
    ["actually Friday", "no, the 5th", "sorry, I meant Monday", "change it to 4pm", "Friday instead", "not 3 but 4",
     "doch lieber um vier", "nein, Montag", "ich meinte den 5.", "ändere den Tag"],
)  # fmt: skip
def test_words_of_a_correction_are_known_in_the_languages_of_the_situation(text: str) -> None:
    assert is_correction(text, BOTH)


@pytest.mark.parametrize("text", ["Friday", "the nose hurts", "I know", "Notting Hill", "morgen um vier"])
def test_other_words_correct_nothing(text: str) -> None:
    assert not is_correction(text, BOTH)


@pytest.mark.parametrize(
    "text", ["sorry typo, 29", "oops I meant 29", "no wait, Rosa", "ups, 2 natürlich", "vertippt, 25"]
)
def test_a_slip_takes_back_the_last_answer(text: str) -> None:
    assert is_slip(text, BOTH)


@pytest.mark.parametrize("text", ["29", "actually 29", "no, the 5th", "nein, der 5."])
def test_other_corrections_are_no_slips(text: str) -> None:
    assert not is_slip(text, BOTH)


@pytest.mark.parametrize("text", ["whoever", "don't mind who", "egal", "ist mir egal"])
def test_it_does_not_matter_in_the_languages_of_the_situation(text: str) -> None:
    assert is_indifferent(text, BOTH)


def test_a_no_at_the_beginning_becomes_blanks() -> None:
    assert blank_leading_no("no, the 5th", ENGLISH) == "  , the 5th"
    assert blank_leading_no("Nein Freitag", BOTH) == "     Freitag"
    assert blank_leading_no("not Friday", ENGLISH) == "not Friday"


def test_the_words_of_a_correction_are_taken_off_the_beginning() -> None:
    assert strip_correction("no, sorry, the 5th", ENGLISH) == "the 5th"
    assert strip_correction("nein, der 5.", BOTH) == "der 5."
    assert strip_correction("Friday", ENGLISH) == "Friday"


def test_courtesies_add_nothing_to_a_value() -> None:
    assert has_only_fillers(["can I come on ", " please?"], ENGLISH)
    assert not has_only_fillers(["my dog comes ", ""], ENGLISH)
