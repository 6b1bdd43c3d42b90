import pytest

from convengine.engine.threads.phrases import is_one_of, split_at_joins


@pytest.mark.parametrize("text", ["Perfect, thanks!", "perfect thanks", "  PERFECT  thanks. "])
def test_punctuation_and_case_do_not_count(text: str) -> None:
    assert is_one_of(text, ["perfect thanks"])


@pytest.mark.parametrize("text", ["never mind the gap", "", None, "mind"])
def test_a_phrase_is_the_whole_text_or_nothing(text: str | None) -> None:
    assert not is_one_of(text, ["never mind"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("looks good but also add a hotel", ("looks good", "add a hotel")),
        ("Looks good, and a hotel", ("looks good", "a hotel")),
        ("done except the hotel", ("done", "the hotel")),
        ("yes plus breakfast", ("yes", "breakfast")),
    ],
)
def test_more_begins_behind_a_joining_word(text: str, found: tuple[str, str]) -> None:
    assert split_at_joins(text)[0] == found


@pytest.mark.parametrize("text", ["looks good", "looks good but", "looks good, ...", "sandy beach", "and more"])
def test_without_a_word_more_there_is_nothing_more(text: str) -> None:
    assert split_at_joins(text) == []
