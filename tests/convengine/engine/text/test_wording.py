"""Words in messages."""

from convengine.engine.text.wording import did_you_mean, find_nearest, join_alternatives, join_names


def test_the_nearest_name_is_found_in_any_case() -> None:
    assert find_nearest("set_stat", ["SET_STATE", "SET_INTENT"]) == "SET_STATE"
    assert find_nearest("xyz", ["SET_STATE"]) is None
    assert find_nearest("anything", []) is None


def test_a_guess_is_a_sentence_or_nothing() -> None:
    assert did_you_mean("SET_STAT", ["SET_STATE"]) == " Did you mean SET_STATE?"
    assert did_you_mean("xyz", ["SET_STATE"]) == ""


def test_lists_are_sorted_and_say_none_when_empty() -> None:
    assert join_names(["b", "a"]) == "a, b"
    assert join_names([]) == "none"


def test_choices_end_with_or() -> None:
    assert join_alternatives(["A", "B", "C"]) == "A, B or C"
    assert join_alternatives(["A"]) == "A"
