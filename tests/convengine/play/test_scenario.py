from convengine.engine.llm.settings import PURPOSES as ENGINE
from convengine.play.scenario import BEGINNING
from convengine.play.seen_turn import PURPOSES, scenario_purpose
from convengine.server.deployment.folders import find_shipped


def test_every_purpose_of_a_scenario_is_one_of_the_engine() -> None:
    covered = [purpose for purposes in PURPOSES.values() for purpose in purposes]

    assert set(covered) <= set(ENGINE)
    assert len(covered) == len(set(covered))


def test_the_manual_names_the_beginning_of_the_clock() -> None:
    manual = (find_shipped("docs") / "scenarios.md").read_text("utf-8")

    assert f"`0s` is {BEGINNING:%A, %-d %B %Y, %H:%M %Z}." in manual


def test_a_purpose_of_the_engine_has_one_name_in_scenarios() -> None:
    assert scenario_purpose("COLLISION") == "response"
    assert scenario_purpose("SQL_REPAIR") == "SQL_REPAIR"
