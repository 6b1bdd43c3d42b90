from typing import Any

import pytest

from convengine.engine.turn.ports import LlmAnswer
from convengine.server.model_clients.connections import ModelConnectionInvalid, ModelUnknown, read_connections

DESK = {"base_url": "https://desk.example/v1", "models": ["small", "big"], "prices": {"small": [1, 2]}}
LAB = {"base_url": "http://lab:8080/v1", "models": "big"}


def test_a_model_is_found_by_its_name_or_with_its_connection() -> None:
    connections = read_connections({"desk": DESK, "lab": LAB})

    assert [connections.find(name)[0].name for name in ("", "small", "big", "lab:big")] == [
        "desk",
        "desk",
        "desk",
        "lab",
    ]
    assert connections.find("")[1] == "small"
    assert connections.names == {"small", "big", "desk:small", "desk:big", "lab:big"}


def test_a_service_of_vectors_answers_no_prompts() -> None:
    connections = read_connections({"vectors": {**LAB, "models": "m3", "answers": "vectors"}, "desk": DESK})

    assert connections.find("")[0].name == "desk"
    assert connections.find("vectors:m3")[0].answers == "vectors"
    assert connections.names == {"small", "big", "desk:small", "desk:big"}
    assert connections.all_names == connections.names | {"m3", "vectors:m3"}
    with pytest.raises(ModelUnknown):
        read_connections({"vectors": {**LAB, "answers": "vectors"}}).find("")


def test_a_model_that_is_not_allowed_is_refused_with_those_that_are() -> None:
    with pytest.raises(ModelUnknown, match=r"'huge', which this deployment does not allow\. Allowed: big, desk:big"):
        read_connections({"desk": DESK}).find("huge")


def test_cost_is_told_where_there_is_a_price_and_a_count() -> None:
    connection, _ = read_connections({"desk": DESK}).find("small")

    assert connection.cost("small", LlmAnswer(input_tokens=1000, output_tokens=500)) == 0.002
    assert connection.cost("big", LlmAnswer(input_tokens=1000)) is None
    assert connection.cost("small", LlmAnswer()) is None


def test_the_key_is_not_shown() -> None:
    made = read_connections({"desk": {**DESK, "api_key": "sk-1", "headers": {"X-Key": "sk-2"}}})

    assert "sk-" not in repr(made)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base_url": "desk.example"}, "'desk' has base_url = 'desk.example'; it must be an address such as"),
        ({"base_url": "http://[x"}, "base_url = 'http://[x'; it must be an address"),
        ({"base_url": "http://x:port/v1"}, "base_url = 'http://x:port/v1'; it must be an address"),
        ({"models": []}, "models = []; it must be a list of names"),
        ({"prices": {"small": 3}}, "prices.small = 3; it must be two amounts"),
        ({"prices": {"small": [1, -1]}}, "prices.small"),
        ({"answers": "xml"}, "answers = 'xml'; it must be one of schema, object, text"),
        ({"provider": "other"}, "provider = 'other'; it must be one of"),
        ({"proxy": "squid"}, "proxy = 'squid'; it must be an address"),
        ({"headers": []}, "headers = []; it must be an object"),
        ({"modles": 1}, "modles = 1; it must be left out; known are"),
    ],
)
def test_a_connection_that_cannot_be_used_is_named_with_field_value_and_remedy(change: Any, message: str) -> None:
    with pytest.raises(ModelConnectionInvalid) as caught:
        read_connections({"desk": {**DESK, **change}})

    assert message in str(caught.value)


def test_a_long_value_in_the_wrong_place_is_not_shown() -> None:
    with pytest.raises(ModelConnectionInvalid) as caught:
        read_connections({"desk": {**DESK, "key": "sk-" + "x" * 80}})

    assert "sk-" not in str(caught.value)
