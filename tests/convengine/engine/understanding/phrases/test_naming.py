"""A group of messages has the name of the words that most of them share."""

import pytest

from convengine.engine.understanding.phrases.naming import name_by_words


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (
            ["do you sharpen ice skates?", "can somebody sharpen my skates", "Sharpening skates on Monday"],
            "Sharpen skates",
        ),
        (["is there a cloakroom"], "Cloakroom"),
        (["Schleifen Sie auch Messer?", "könnten Sie meine Messer schleifen", "Messer"], "Messer schleifen"),
        (["?!", "ok", "12"], ""),
        ([], ""),
    ],
)
def test_the_name_has_the_words_that_most_messages_share(texts: list[str], name: str) -> None:
    assert name_by_words(texts) == name
