from convengine.scenarios.wording import ScenarioFileError, describe_unknown, shorten_json


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
