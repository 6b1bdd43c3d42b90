import time

import pytest

from convengine.engine.text.compare import blank, fold, match_text, norm, split_name, split_words, storable, truthy
from tests.pace import allow


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        (None, ""),
        ("  A\n\tb  ", "a b"),
        ("don’t", "don't"),
        ("b\u200bomb", "bomb"),
        ("ｂｏｍｂ", "bomb"),
        ("É", "é"),
    ],
)
def test_norm(text: str | None, normal: str) -> None:
    assert norm(text) == normal


def test_a_match_text_loses_its_closing_marks_but_not_a_question() -> None:
    assert match_text("Yes!!! …") == "yes"
    assert match_text("Yes?") == "yes?"


@pytest.mark.parametrize("value", [True, 1, 1.0, "true", " YES ", "y", "On", "1"])
def test_truthy(value: object) -> None:
    assert truthy(value)


@pytest.mark.parametrize("value", [False, 0, 2, None, "", "maybe", "false", [], {}, [1]])
def test_not_truthy(value: object) -> None:
    assert not truthy(value)


def test_what_no_database_takes_is_replaced() -> None:
    assert storable("a\x00b") == "a\ufffdb"
    assert storable("a\ud800b") == "a\ufffdb"
    assert storable("plain") == "plain"


def test_blank() -> None:
    assert blank(None)
    assert blank("  ")
    assert not blank(0)


def test_marks_that_close_nothing_are_read_once() -> None:
    text, begun = "." * 16_000 + "x", time.process_time()

    assert match_text(text) == text
    assert time.process_time() - begun < allow(0.2)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("  Zürich ", "zurich"),
        ("São\tPaulo", "sao paulo"),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("don’t", "don't"),
        ("ＡＢ１２", "ab12"),
        (None, ""),
    ],
)
def test_two_spellings_of_one_word_fold_to_the_same(text: str | None, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dueDate", ("due", "date")),
        ("due_date", ("due", "date")),
        ("Due-Date", ("due", "date")),
        ("line2", ("line", "2")),
        ("HTTPServer", ("http", "server")),
        ("größe", ("grosse",)),
        ("_", ()),
    ],
)
def test_a_name_is_cut_into_words(name: str, expected: tuple[str, ...]) -> None:
    assert split_name(name) == expected


def test_a_text_is_cut_into_folded_words() -> None:
    assert split_words("Date of birth!") == ("date", "of", "birth")
