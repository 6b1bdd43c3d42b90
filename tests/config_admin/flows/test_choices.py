"""Choices are written as lines and read back the same."""

import pytest

from config_admin.flows.choices import ChoicesInvalid, format_choices, read_choices, split_cells


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("window", [{"value": "window"}]),
        ("window: by the window, outside", [{"value": "window", "synonyms": ["by the window", "outside"]}]),
        ("IN = inside: indoors", [{"value": "IN", "label": "inside", "synonyms": ["indoors"]}]),
        ("10:30: half past ten", [{"value": "10:30", "synonyms": ["half past ten"]}]),
        ('Paris: "Paris, France", city of light', [{"value": "Paris", "synonyms": ["Paris, France", "city of light"]}]),
        ("a\nb", [{"value": "a"}, {"value": "b"}]),
    ],
)
def test_lines_are_choices_and_choices_are_lines(text: str, options: list[dict[str, object]]) -> None:
    assert read_choices(text) == options
    assert format_choices(options) == text


@pytest.mark.parametrize(
    "option",
    [
        {"value": "yes", "label": "Yes, please"},
        {"value": "Size: large", "synonyms": ["big"]},
        {"value": "a = b"},
        {"value": "that is:"},
        {"value": "a", "label": "b: c", "synonyms": ["d"]},
        {"value": "pipe", "synonyms": ['6" pipe', 'the 6", please', '"the" pipe']},
    ],
)
def test_options_with_what_separates_the_parts_of_a_line_are_read_back(option: dict[str, object]) -> None:
    assert read_choices(format_choices([option])) == [option]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            "flat\tFlat tyre\tpuncture, no air",
            [{"value": "flat", "label": "Flat tyre", "synonyms": ["puncture", "no air"]}],
        ),
        ("Brakes\t\t\nGears", [{"value": "Brakes"}, {"value": "Gears"}]),
        ("\tBrakes\tstops badly", [{"value": "Brakes", "synonyms": ["stops badly"]}]),
        (
            "flat\tFlat tyre\tpuncture\t\tno air, hissing",
            [{"value": "flat", "label": "Flat tyre", "synonyms": ["puncture", "no air", "hissing"]}],
        ),
        ("10: 30\ta = b", [{"value": "10: 30", "label": "a = b"}]),
    ],
)
def test_cells_of_a_table_are_choices(text: str, options: list[dict[str, object]]) -> None:
    assert read_choices(text) == options
    assert [[option["value"], option.get("label", "")] for option in options] == [
        [value, label if label != value else ""] for value, label, _ in split_cells(text)
    ]


def test_blanks_are_ignored_and_known_values_keep_their_type() -> None:
    assert read_choices("\n a : \n\n b:x,, y \n") == [{"value": "a"}, {"value": "b:x,, y"}]
    assert read_choices("3: three", [{"value": 3}]) == [{"value": 3, "synonyms": ["three"]}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\na", "“a” occurs twice"),
        (": b", "no choice before the other words"),
        ("\t\tb", "no choice before the other words"),
        ("Flat tyre = puncture, flat", "Write other words after a colon: “Flat tyre: puncture, flat”"),
        ("a" * 300, "has 300 characters; 200 at most"),
        ("a: " + "b" * 201, "has 201 characters; 200 at most"),
    ],
)
def test_lines_that_are_no_choices_are_refused(text: str, message: str) -> None:
    with pytest.raises(ChoicesInvalid, match=message):
        read_choices(text)
