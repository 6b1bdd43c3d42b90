"""What no scenario file may say is an error at its place; the vocabularies of the schema are those of the code."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from convengine.engine.turn.enums import ConversationStatus
from convengine.play.expectations import EXPECTATIONS
from convengine.play.matchers import OPERATORS
from convengine.play.schema import SCHEMA, ScenarioFileError, address, check, describe_unknown, shorten_json
from convengine.play.seen_turn import PURPOSES

DEFS = SCHEMA["$defs"]


def problem(expect: Any) -> str:
    with pytest.raises(ScenarioFileError) as refused:
        check({"id": "a", "title": "A", "turns": [{"user": "hi", "expect": expect}]})
    return str(refused.value).removeprefix("turns[0].")


MALFORMED: list[tuple[str, Any, str]] = [
    ("success", "yes", 'must be true or false, not "yes".'),
    ("http_status", {"mni": 1}, ".mni: unknown key `mni`"),
    ("decision", {"equal": "X"}, ".equal: unknown key `equal`"),
    ("reason", {"equal": "X"}, ".equal: unknown key `equal`"),
    ("session", {"turn_count": 1}, ".turn_count: the path"),
    ("lifecycle", {"equal": "X"}, ".equal: unknown key `equal`"),
    ("intent", {"equal": "X"}, ".equal: unknown key `equal`"),
    ("state", {}, "Use `equals`"),
    ("response", {"equal": "X"}, ".equal: unknown key `equal`; did you mean `equals`?"),
    ("response", {"type": "HTML"}, ".type: unknown type `HTML`; known: ERROR, JSON, TEXT."),
    ("response", {"json": {"a": 1}}, ".json.a: the path 'a' must begin with $."),
    ("context", {"a": 1}, ".a: the path 'a' must begin with $."),
    ("input_params", {"a": {"x": 1}}, ".a.x: unknown key `x`"),
    ("persisted", {"intent": {"equal": 1}}, ".intent.equal: unknown key `equal`"),
    ("audit_stages_in_order", "X", 'must be a list, not "X".'),
    ("audit_stages_in_order", [1], "[0]: must be a text or a map, not 1."),
    ("audit_stages_in_order", [{"payload": {}}], "[0]: the key `stage` is missing."),
    ("audit_stages_in_order", [{"stage": "A", "payloads": {}}], "[0].payloads: unknown key `payloads`; did you mean"),
    ("audit_stages_in_order", [{"stage": "A", "payload": {"n": 1}}], "[0].payload.n: the path 'n' must begin with $."),
    ("audit_stages_in_order", [{"stage": "A", "payload": {"$.n": {"mni": 1}}}], "[0].payload['$.n'].mni: unknown key"),
    ("audit_stages_absent", "X", 'must be a list, not "X".'),
    ("audit_any_of", ["X"], '[0]: must be a list, not "X".'),
    ("audit_counts", [], "must be a map, not []."),
    ("audit_meta_absent", 1, "must be true or false, not 1."),
    ("trace_steps_in_order", [1], "[0]: must be a text, not 1."),
    ("trace_steps_absent", "X", 'must be a list, not "X".'),
    ("llm_calls", -1, "must be a whole number of at least 0 or a map, not -1."),
    ("llm_calls", {"respond": 1}, ".respond: unknown key `respond`; did you mean `response`?"),
    ("task_calls", [{"bean": "x"}], "[0]: the key `method` is missing."),
    ("tool_calls", [{"tool": "x"}], "[0].tool: unknown key `tool`"),
    ("verbose", [{"step": "x"}], "[0].step: unknown key `step`"),
    ("error", {"errorCode": "X"}, ".errorCode: unknown key `errorCode`"),
]


@pytest.mark.parametrize(("key", "value", "words"), MALFORMED)
def test_a_malformed_expectation_is_an_error_at_its_place(key: str, value: Any, words: str) -> None:
    position = f"expect.{key}"
    assert problem({key: value}).startswith(position + words if words[0] in ".[" else f"{position}: {words}")


def test_every_expectation_is_seen_malformed() -> None:
    assert {key for key, _, _ in MALFORMED} == set(EXPECTATIONS)


def test_an_unknown_expectation_is_an_error() -> None:
    assert problem({"intnt": 1}).startswith("expect.intnt: unknown key `intnt`; did you mean `intent`?")


@pytest.mark.parametrize(
    ("matcher", "words"),
    [
        ({}, ": Use `equals` to compare with an object."),
        ({"equal": 1}, ".equal: unknown key `equal`; did you mean `equals`?"),
        ({"customerId": 1}, ".customerId: unknown key `customerId`;"),
        ({"exists": "yes"}, ".exists: must be true or false, not"),
        ({"one_of": "a"}, ".one_of: must be a list, not"),
        ({"length": -1}, ".length: must be a whole number of at least 0, not -1."),
        ({"min_length": True}, ".min_length: must be a whole number of at least 0, not true."),
        ({"max_length": 1.5}, ".max_length: must be a whole number of at least 0, not 1.5."),
        ({"min": "1"}, ".min: must be a number, not"),
        ({"matches": 1}, ".matches: must be a text, not 1."),
        ({"matches": "("}, ".matches: "),
    ],
)
def test_a_malformed_matcher_is_an_error_at_its_place(matcher: Any, words: str) -> None:
    assert problem({"state": matcher}).startswith(f"expect.state{words}")


def test_an_unknown_operator_is_told_how_to_compare_with_an_object() -> None:
    assert problem({"state": {"customerId": 1}}).endswith("Use `equals` to compare with an object.")


def test_a_document_that_is_no_map_is_an_error() -> None:
    with pytest.raises(ScenarioFileError, match="must be a map, not"):
        check([])


def test_an_address_is_a_path_in_the_document() -> None:
    assert address(["turns", 0, "expect", "context", "$.a"]) == "turns[0].expect.context['$.a']"


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_the_vocabularies_are_those_of_the_code() -> None:
    response = DEFS["expect"]["properties"]["response"]["properties"].keys()

    assert set(DEFS["purpose"]["enum"]) == set(PURPOSES)
    assert DEFS["operators"]["properties"].keys() == OPERATORS.keys()
    assert response == {"type", "json", *OPERATORS}
    assert set(DEFS["conversation"]["properties"]["status"]["enum"]) == set(ConversationStatus.__members__)


def test_an_unknown_word_is_told_the_nearest_one() -> None:
    assert describe_unknown("intnt", ["intent", "state"], "key") == "unknown key `intnt`; did you mean `intent`?"


def test_an_unknown_word_far_from_all_is_told_what_there_is() -> None:
    assert describe_unknown("zzz", ["state", "intent"], "key") == "unknown key `zzz`; known: intent, state."


def test_an_error_begins_with_its_place() -> None:
    assert str(ScenarioFileError("turns[0]", "must be a map.")) == "turns[0]: must be a map."
    assert str(ScenarioFileError("", "must be a map.")) == "must be a map."


def test_values_are_told_as_json_and_shortened() -> None:
    assert shorten_json({"a": None}) == '{"a":null}'
    assert len(shorten_json("x" * 1000)) == 300
