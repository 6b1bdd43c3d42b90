"""Words in messages."""

from config_admin.validation.wording import did_you_mean, join_names, nearest, one_of


def test_the_nearest_name_is_found_in_any_case() -> None:
    assert nearest("set_stat", ["SET_STATE", "SET_INTENT"]) == "SET_STATE"
    assert nearest("xyz", ["SET_STATE"]) is None
    assert nearest("anything", []) is None


def test_a_guess_is_a_sentence_or_nothing() -> None:
    assert did_you_mean("SET_STAT", ["SET_STATE"]) == " Did you mean SET_STATE?"
    assert did_you_mean("xyz", ["SET_STATE"]) == ""


def test_lists_are_sorted_and_say_none_when_empty() -> None:
    assert join_names(["b", "a"]) == "a, b"
    assert join_names([]) == "none"


def test_choices_end_with_or() -> None:
    assert one_of(["A", "B", "C"]) == "A, B or C"
    assert one_of(["A"]) == "A"
