"""Responses become texts of ours, and say what they lose."""

from typing import Any

from config_admin.contrib.come_over.texts import (
    list_buttons,
    name_code,
    name_field,
    name_title,
    write_in_sequence,
    write_text,
)


def test_slots_become_templates() -> None:
    text = write_text([{"text": "A {boat} from {river-side}: {price}, {% raw"}], {"boat": "boat"})
    assert text.template == (
        'A {{ boat }} from {{ context.river_side }}: {{ context.price }}, {{ "{%" }} raw'
    )  # fmt: skip
    assert text.unset == ["river-side", "price"]
    assert text.losses == ["its text reads river-side, price, which code has to set"]


def test_variations_that_always_hold_become_several_texts() -> None:
    buttons = [{"title": "Hire", "payload": "/hire"}]
    variations: list[dict[str, Any]] = [
        {"text": "Slack only", "channel": "slack"},
        {"text": "Ahoy {name}", "buttons": buttons, "image": "a.png"},
        {"text": "Welcome"},
    ]
    text = write_text(variations, {})
    assert text.template == "Ahoy {{ context.name }}\n{% or %}\nWelcome"
    assert text.losses == [
        "2 of 3 variations", "without image",
        "its text reads name, which code has to set",
    ]  # fmt: skip
    assert write_text(variations[1:], {}, asks=True).losses[0] == "without image"
    others = [*variations[1:], {"text": "Hi", "buttons": [{"title": "Return", "payload": "/return"}]}]
    assert write_text(others, {}, asks=True).losses[0] == "1 of 3 variations"
    assert write_text(variations[:1], {}).template == "Slack only"
    assert write_text([{"custom": {"a": "b"}}], {}).template == ""


def test_texts_that_are_too_long_are_left_out() -> None:
    assert write_text([{"text": "a" * 1001}], {}, asks=True).losses == ["its text has more than 1000 characters"]
    assert write_text([{"text": "a" * 1001}], {}).losses == []
    halves = write_text([{"text": "a" * 600}, {"text": "b" * 600}], {}, asks=True)
    assert (halves.template, halves.losses) == ("a" * 600, ["1 of 2 variations"])


def test_several_texts_are_said_one_after_the_other() -> None:
    assert write_in_sequence(["a\n{% or %}\nb", "", "c\n{% or %}\nd\n{% or %}\ne"]) == (
        "a\n\nc\n{% or %}\nb\n\nd\n{% or %}\na\n\ne"
    )
    assert write_in_sequence([]) == ""


def test_buttons_give_values() -> None:
    buttons = [
        {"title": "Small", "payload": '/inform{"size": "s"}'},
        {"title": "Large", "payload": '/inform{{"size": "l"}}'},
        {"title": "Both", "payload": '/inform{"size": "l", "colour": "red"}'},
        {"title": "Broken", "payload": "/inform{size}"},
        {"title": "Yes", "payload": "/affirm"},
    ]
    buttons.append({"title": "Medium", "payload": "medium size"})
    assert list_buttons([{"buttons": buttons}]) == {
        "s": "Small", "l": "Large", "/affirm": "Yes", "medium size": "Medium",
    }  # fmt: skip


def test_names_are_those_of_flows() -> None:
    assert [name_field(name) for name in ("phone-number", "state", "2nd")] == ["phone_number", "state_value", "f2nd"]
    assert [name_code(name) for name in ("faq/ask_hours", "3d")] == ["FAQ_ASK_HOURS", "INTENT_3D"]
    assert [name_field("dueño"), name_code("réserver"), name_code("да"), name_code("нет")] == [
        "dueno", "RESERVER", "INTENT_80AH", "E1APQ",
    ]  # fmt: skip
    assert name_title("hire_boat") == "Hire boat"
