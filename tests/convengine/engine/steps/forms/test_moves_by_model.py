import pytest

from convengine.engine.steps.forms.moves_by_model import NOT_IN_MESSAGE, OF_ANOTHER_FIELD, find_words
from convengine.engine.understanding.reading import Reading, Taken


@pytest.mark.parametrize(
    ("text", "words", "position"),
    [
        ("2 adults and 2 kids", "2", (13, 14)),
        ("2 adults and 12 kids", "2", OF_ANOTHER_FIELD),
        ("two adults and 12 kids", "2", NOT_IN_MESSAGE),
        ("2 adults and 2 kids", "2 ADULTS", OF_ANOTHER_FIELD),
        ("2 adults", "children", NOT_IN_MESSAGE),
    ],
)
def test_words_that_stand_twice_are_those_that_no_other_field_took(
    text: str, words: str, position: tuple[int, int] | str
) -> None:
    reading = Reading((Taken("adults", 2, 0, 1, "ASKED"),))

    assert find_words(text, words, reading) == position
