import pytest

from convengine.engine.text.words import fold, split_name, split_words


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
