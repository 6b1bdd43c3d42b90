"""Responses become texts of ours, and say what they lose."""

from config_admin.contrib.come_over.texts import list_buttons, name_code, name_field, name_title, write_text


def test_slots_become_templates() -> None:
    text = write_text([{"text": "A {boat} from {river-side}: {price}, {% raw"}], {"boat": "boat"})
    assert text.template == (
        'A {{ boat }} from {{ context.river_side }}: {{ context.price }}, {{ "{%" }} raw'
    )  # fmt: skip
    assert text.unset == ["river-side", "price"]
    assert text.losses == ["its text reads river-side, price, which code has to set"]


def test_the_first_plain_variation_counts() -> None:
    variations = [
        {"text": "Slack only", "channel": "slack"},
        {"text": "Ahoy", "buttons": [{"title": "Hire", "payload": "/hire"}], "image": "a.png"},
    ]
    text = write_text(variations, {})
    assert text.template == "Ahoy"
    assert text.losses == ["the first of 2 variations", "without image", "without buttons: users type"]
    assert write_text([{"custom": {"a": "b"}}], {}).template == ""


def test_texts_that_are_too_long_are_left_out() -> None:
    assert write_text([{"text": "a" * 1001}], {}, asks=True).losses == ["its text has more than 1000 characters"]
    assert write_text([{"text": "a" * 1001}], {}).losses == []


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
