from convengine.engine.dialogue.settings import REGEX_AFFIRM
from convengine.engine.rules.pattern_settings import get_pattern
from tests.builders import make_config, make_session, make_snapshot, make_turn, payload, stages


def test_the_pattern_of_the_row_counts() -> None:
    turn = make_turn(make_snapshot(make_config("DialogueActStep/REGEX_AFFIRM", "aye")))

    assert get_pattern(make_session(), turn, REGEX_AFFIRM).fits("AYE")
    assert stages(turn) == []


def test_a_row_that_cannot_be_used_leaves_the_built_in_pattern_and_is_told_once() -> None:
    row = make_config("DialogueActStep/REGEX_AFFIRM", "([")
    turn = make_turn(make_snapshot(row))

    for _ in range(2):
        assert get_pattern(make_session(), turn, REGEX_AFFIRM).fits("yes")
    assert stages(turn) == ["CONFIG_ROW_INVALID"]
    told = payload(turn, "CONFIG_ROW_INVALID")
    assert (told["table"], told["rowId"]) == ("ce_config", row.config_id)
    assert told["reason"].startswith("DialogueActStep/REGEX_AFFIRM: missing ]")
    assert (told["field"], told["value"], bool(told["remedy"])) == ("config_value", "([", True)


def test_a_default_of_the_deployment_that_cannot_be_used_is_told_by_its_name() -> None:
    turn = make_turn(make_snapshot(defaults={("DIALOGUEACTSTEP", "REGEX_AFFIRM"): "(["}))

    assert get_pattern(make_session(), turn, REGEX_AFFIRM).fits("yes")
    assert payload(turn, "CONFIG_VALUE_INVALID")["configKey"] == "REGEX_AFFIRM"
