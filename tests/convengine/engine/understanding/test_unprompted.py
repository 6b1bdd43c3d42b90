"""Messages that answer no question and begin no form: what may be talk in them is offered."""

import pytest

from convengine.evaluation.read import FormReader
from convengine.json_value import Json

SCHEMA: Json = {
    "type": "object",
    "title": "Hire a boat",
    "properties": {
        "crew": {"type": "integer", "title": "Crew", "minimum": 1},
        "day": {"type": "string", "format": "date", "title": "Day"},
        "account_type": {"type": "string", "title": "Account type", "enum": ["savings", "checking"]},
    },
}


def _read(text: str, **line: Json) -> tuple[dict[str, Json], dict[str, Json]]:
    result = FormReader(SCHEMA).read({"say": text, **line})
    return dict(result.taken), dict(result.offered)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("207", {"crew": 207}),
        ("the harbour is so full of people today", {"day": "2019-03-01"}),
        ("we shall see the skipper tomorrow", {"day": "2019-03-02"}),
    ],
)
def test_what_may_be_talk_is_offered(text: str, offered: Json) -> None:
    assert _read(text) == ({}, offered)


def test_a_day_without_more_words_and_one_with_a_date_are_taken() -> None:
    assert _read("today please") == ({"day": "2019-03-01"}, {})
    assert _read("we shall see the skipper on 7 March") == ({"day": "2019-03-07"}, {})


@pytest.mark.parametrize("prompt", [{"asked": "crew"}, {"opener": True}, {"confirming": True}])
def test_an_answer_and_an_opener_are_meant(prompt: dict[str, Json]) -> None:
    assert _read("I need the boat today", **prompt) == ({"day": "2019-03-01"}, {})


def test_a_word_of_an_option_beside_a_word_of_the_name_is_offered() -> None:
    assert _read("I must check my account") == ({}, {"account_type": "checking"})
    assert _read("account type: checking") == ({"account_type": "checking"}, {})
