from convengine.engine.llm.settings import PURPOSES as ENGINE
from convengine.scenarios.scenario import PURPOSES, scenario_purpose


def test_every_purpose_of_a_scenario_is_one_of_the_engine() -> None:
    covered = [purpose for purposes in PURPOSES.values() for purpose in purposes]

    assert set(covered) <= set(ENGINE)
    assert len(covered) == len(set(covered))


def test_a_purpose_of_the_engine_has_one_name_in_scenarios() -> None:
    assert scenario_purpose("COLLISION") == "response"
    assert scenario_purpose("SQL_REPAIR") == "SQL_REPAIR"
