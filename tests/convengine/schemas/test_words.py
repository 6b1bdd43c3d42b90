import pytest

from convengine.schemas.words import fold, name_words, run_in, says_nothing, words


@pytest.mark.parametrize(
    ("text", "folded"),
    [("  Zürich ", "zurich"), ("São\tPaulo", "sao paulo"), ("don’t", "don't"), ("ＡＢ１２", "ab12"), (None, "")],
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
        ("größe", ("große",)),
        ("_", ()),
    ],
)
def test_a_name_is_cut_into_words(name: str, expected: tuple[str, ...]) -> None:
    assert name_words(name) == expected


def test_words_and_runs_of_them() -> None:
    assert words("Date of birth!") == ("date", "of", "birth")
    assert run_in(("of", "birth"), ("date", "of", "birth"))
    assert not run_in(("date", "birth"), ("date", "of", "birth"))
    assert not run_in((), ("date",))


def test_fillers_say_nothing() -> None:
    assert says_nothing(("it", "is"))
    assert says_nothing(())
    assert not says_nothing(("the", "city"))
