"""Yes/no fields that a message names, though nobody asks for them."""

import pytest

from convengine.json_value import Json
from tests.convengine.engine.understanding.test_persons import read

ROOM: dict[str, dict[str, Json]] = {
    "has_wifi": {"type": "boolean", "title": "Has wifi", "x-labels": ["Internet"]},
    "smoking": {"type": "boolean", "title": "Smoking allowed"},
    "shared": {"type": "boolean", "title": "Shared bathroom"},
    "children": {"type": "boolean", "title": "Good for kids"},
    "town": {},
}


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("with wifi", {"has_wifi": True}),
        ("no smoking", {"smoking": False}),
        ("a shared bathroom is fine", {"shared": True}),
        ("we don't need wifi", {"has_wifi": False}),
        ("wifi: no", {"has_wifi": False}),
        ("wifi is not necessary", {"has_wifi": False}),
        ("wifi not needed but kids are welcome", {"has_wifi": False, "children": True}),
        ("smoking is not a problem", {"smoking": True}),
        ("something child-friendly", {"children": True}),
        ("the bathroom is cold", {}),
        ("2 kids", {}),
        ("is smoking allowed?", {}),
        ("something with free internet access", {"has_wifi": True}),
        ("it should be for non-smokers, no internet", {"has_wifi": False}),
    ],
)
def test_the_telling_words_of_a_name_say_yes_or_no(text: str, taken: dict[str, Json]) -> None:
    assert read(text, ROOM, "") == taken
