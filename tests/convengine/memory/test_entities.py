import pytest

from convengine.memory.entities import entities


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://shop.example/a?b=1, please", ["https://shop.example/a?b=1"]),
        ("(http://x.example/y).", ["http://x.example/y"]),
        ("write to Ana.B+c@mail.example.com.", ["Ana.B+c@mail.example.com"]),
        ("the file Report_2026.final.PDF and notes.txt!", ["Report_2026.final.PDF", "notes.txt"]),
        ('"Blue Harbour" or “Green Hill”', ["Blue Harbour", "Green Hill"]),
        ("„Zur Post“, «Chez Léa», 「東京駅」", ["Zur Post", "Chez Léa", "東京駅"]),
        ('قابلني في "مقهى النور" غدا', ["مقهى النور"]),
        ("version 1.2 of e.g. this, don't worry", []),
        ("", []),
    ],
)
def test_names_are_found_as_they_stand(text: str, found: list[str]) -> None:
    assert list(entities(text)) == found


def test_a_long_text_of_almost_names_takes_no_time() -> None:
    for piece in ("a.", "a@", '"', "https://", "x-", "_."):
        assert list(entities(piece * 2000)) is not None
