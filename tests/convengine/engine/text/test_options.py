import pytest

from convengine.engine.text.options import select_option

OPTIONS = [
    ("cancel_flight", "cancel_flight (Cancel the flight)"),
    ("cancel_hotel", "cancel_hotel (Cancel the hotel booking)"),
]


@pytest.mark.parametrize(
    ("reply", "index"),
    [
        ("2", 1),
        ("the hotel one", 1),
        ("the hotel, please", 1),
        ("cancel flight", 0),
        ("CANCEL_HOTEL.", 1),
        ("the second one", 1),
        ("I'll take option 1 please", 0),
        ("the third", None),
        ("option 3", None),
        ("3", None),
        ("0", None),
        pytest.param("9" * 5000, None, id="a number that Python does not read"),
        ("cancel", None),
        ("the one please", None),
        ("", None),
        (None, None),
        ("neither", None),
    ],
)
def test_a_reply_means_one_option_or_none(reply: str | None, index: int | None) -> None:
    assert select_option(reply, OPTIONS) == index
