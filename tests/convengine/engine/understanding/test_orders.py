"""Options of several choices in one order, though nobody asks for them."""

import pytest

from convengine.json_value import Json
from tests.convengine.engine.understanding.test_persons import read

ORDER: dict[str, dict[str, Json]] = {
    "tea": {"enum": ["Assam", "Earl Grey"], "title": "Tea"},
    "sweetener": {"enum": ["Honey syrup", "Maple syrup", "Sugar-free maple syrup"], "title": "Sweetener"},
    "milk": {"enum": ["Oat milk", "Rice milk"], "title": "Milk"},
    "cups": {"type": "integer", "title": "Number of cups"},
}


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("an Earl Grey with a bit of honey", {"tea": "Earl Grey", "sweetener": "Honey syrup"}),
        ("Assam and maple", {"tea": "Assam", "sweetener": "Maple syrup"}),
        ("3 cups of Assam with ricemilk", {"cups": 3, "tea": "Assam", "milk": "Rice milk"}),
        ("is there rice in it?", {}),
        ("a maple-ish one", {}),
        ("honey syrup or maple", {}),
    ],
)
def test_a_word_that_only_one_option_has_orders_it(text: str, taken: dict[str, Json]) -> None:
    assert read(text, ORDER, "") == taken
