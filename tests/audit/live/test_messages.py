import pytest

from audit.live.messages import StreamCursor


@pytest.mark.parametrize("text", ["3.17", "0.0", "12.4.90017"])
def test_an_id_says_a_place_and_back(text: str) -> None:
    assert str(StreamCursor.read(text)) == text


@pytest.mark.parametrize("text", ["", "3", "3.", "a.b", "-1.2", "3.17.", "3.17.1.1", "99999999999.1"])
def test_anything_else_is_no_id(text: str) -> None:
    assert StreamCursor.read(text) is None
