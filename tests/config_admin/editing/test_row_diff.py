"""Differences as people read them."""

from typing import Any

from config_admin.editing.row_diff import changes
from convengine.engine.text.difference import MAX_PARTS

ROW: dict[str, Any] = {
    "rule_type": "REGEX",
    "pattern": "cvv",
    "response_text": "Never send card details.",
    "priority": 5,
    "enabled": True,
    "description": None,
}


def segments(before: Any, after: Any) -> list[tuple[str, str]]:
    (change,) = changes("ce_policy", ROW | {"response_text": before}, ROW | {"response_text": after})
    return [tuple(part) for part in change.segments]


def test_only_the_words_that_differ_are_marked() -> None:
    assert segments("Never send card details.", "Never post card details.") == [
        ("same", "Never "),
        ("out", "send"),
        ("in", "post"),
        ("same", " card details."),
    ]


def test_a_blank_between_changed_words_belongs_to_the_change() -> None:
    assert segments("My own text", "Your order here") == [("out", "My own text"), ("in", "Your order here")]


def test_a_template_tells_which_names_it_uses_now_and_which_no_more() -> None:
    before, after = {"exact_text": "Dear {{ name }}."}, {"exact_text": "Dear {{ context.first }}, {{ name | upper }}."}
    (change,) = changes("ce_response", before, after)
    (gone,) = changes("ce_response", after, {"exact_text": "Dear you"})

    assert change.note == "Now uses: context.first."
    assert gone.note == "No longer uses: context.first, name."
    (broken,) = changes("ce_response", after, {"exact_text": "Dear {{ name }"})
    assert broken.note == ""
    assert [part.text for part in change.segments if part.kind == "out"] == ["{{ name }}"]


def test_a_blank_column_that_is_filled_in_has_nothing_taken_out() -> None:
    (change,) = changes("ce_policy", ROW, ROW | {"description": "PCI"})

    assert [tuple(part) for part in change.segments] == [("in", "PCI")]


def test_switches_read_yes_and_no() -> None:
    (change,) = changes("ce_policy", ROW, ROW | {"enabled": False})

    assert [tuple(part) for part in change.segments] == [("out", "yes"), ("in", "no")]


def test_null_and_blank_look_the_same() -> None:
    assert changes("ce_policy", ROW, ROW | {"description": ""}) == []


def test_a_new_row_tells_what_is_filled_in() -> None:
    assert [change.label for change in changes("ce_policy", None, ROW)] == [
        "Match type",
        "Pattern",
        "Answer",
        "Priority",
        "Enabled",
    ]


def test_very_long_texts_are_shown_whole() -> None:
    long = " x" * MAX_PARTS

    assert segments(long, f"{long} y") == [("out", long), ("in", f"{long} y")]


def test_long_stretches_that_are_the_same_are_shortened() -> None:
    same = "word " * 200

    (first, *_) = segments(f"{same}a", f"{same}b")

    assert first[0] == "same"
    assert len(first[1]) < 300


def test_the_order_of_keys_is_no_difference() -> None:
    assert changes("ce_output_schema", {"json_schema": {"a": 1, "b": 2}}, {"json_schema": {"b": 2, "a": 1}}) == []
