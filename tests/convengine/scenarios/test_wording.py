from convengine.scenarios.wording import ScenarioFileError, known, told


def test_an_unknown_word_is_told_the_nearest_one() -> None:
    assert known("intnt", ["intent", "state"], "key") == "unknown key `intnt`; did you mean `intent`?"


def test_an_unknown_word_far_from_all_is_told_what_there_is() -> None:
    assert known("zzz", ["state", "intent"], "key") == "unknown key `zzz`; known: intent, state."


def test_an_error_begins_with_its_place() -> None:
    assert str(ScenarioFileError("turns[0]", "must be a map.")) == "turns[0]: must be a map."
    assert str(ScenarioFileError("", "must be a map.")) == "must be a map."


def test_values_are_told_as_json_and_shortened() -> None:
    assert told({"a": None}) == '{"a":null}'
    assert len(told("x" * 1000)) == 298
