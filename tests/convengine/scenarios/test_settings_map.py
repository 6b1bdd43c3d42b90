from typing import Any

import pytest

from convengine.domain.settings import CATALOGUE, read
from convengine.scenarios.reading import Node
from convengine.scenarios.settings_map import DEFAULTS, LIVE, TRANSLATED, WITHOUT_EFFECT, WorldSettings, world_settings
from convengine.scenarios.wording import ScenarioFileError
from tests.builders import make_config, make_snapshot


def of(**given: Any) -> WorldSettings:
    return world_settings(Node(given))


def in_force(settings: WorldSettings, name: str) -> Any:
    key = name.upper().partition("/")
    setting = CATALOGUE[key[0], key[2]]
    return read(make_snapshot(defaults=settings.live), setting).value


def test_a_world_without_settings_has_the_defaults_of_the_format() -> None:
    world = of()

    assert in_force(world, "DialogueActStep/RESOLUTE") == "REGEX_ONLY"
    assert in_force(world, "DialogueActStep/QUERY_REWRITE_ENABLED") is False
    assert in_force(world, "MemoryStep/ENABLED") is False
    assert in_force(world, "StateGraphStep/ENABLED") is False
    assert in_force(world, "StateGraphStep/ON_VIOLATION") == "AUDIT_ONLY"
    assert in_force(world, "AUDIT/FLUSH") == "STEP"
    assert world.deployment == {"AUDIT_RATE_LIMIT": None}


def test_given_settings_stand_on_top_of_the_defaults() -> None:
    world = of(flow={"action_lifecycle": {"ttl_turns": 1}, "state_graph": {"soft_block_on_violation": True}})

    assert in_force(world, "ActionLifecycleStep/TTL_TURNS") == 1
    assert in_force(world, "ActionLifecycleStep/TTL_MINUTES") == 30
    assert in_force(world, "StateGraphStep/ON_VIOLATION") == "SOFT_BLOCK"


def test_lists_and_objects_come_through_whole() -> None:
    world = of(
        flow={"guardrail": {"sensitive_patterns": ["a, b", "c"]}, "interaction_policy": {"matrix": {"NONE:EDIT": ""}}},
        audit={"exclude_stages": ["CONTAINER_*", "X"]},
    )

    assert in_force(world, "GuardrailStep/SENSITIVE_PATTERNS") == ("a, b", "c")
    assert in_force(world, "InteractionPolicyStep/MATRIX") == {"NONE:EDIT": ""}
    assert in_force(world, "AUDIT/EXCLUDE_STAGES") == ("CONTAINER_*", "X")


def test_a_row_of_the_world_wins_over_a_setting() -> None:
    row = make_config("DialogueActStep/RESOLUTE", "LLM_ONLY")

    assert read(make_snapshot(row, defaults=of().live), LIVE["flow.dialogue_act.resolute"]).value == "LLM_ONLY"


@pytest.mark.parametrize(("mode", "flush"), [("IMMEDIATE", "STEP"), ("STEP_BULK", "STEP"), ("DEFERRED_BULK", "TURN")])
def test_ways_of_writing_are_translated(mode: str, flush: str) -> None:
    assert in_force(of(audit={"persistence": {"mode": mode}}), "AUDIT/FLUSH") == flush


def test_audit_switched_off_is_level_none() -> None:
    assert in_force(of(audit={"enabled": False, "level": "ALL"}), "AUDIT/LEVEL") == "NONE"
    assert in_force(of(audit={"enabled": True, "level": "STANDARD"}), "AUDIT/LEVEL") == "STANDARD"


def test_a_rate_limit_is_a_setting_of_the_deployment() -> None:
    limit = of(audit={"rate_limit": {"enabled": True, "max_events": 3, "per_stage": False}}).deployment

    assert limit["AUDIT_RATE_LIMIT"]["max_events"] == 3
    assert limit["AUDIT_RATE_LIMIT"]["per_stage"] is False
    assert limit["AUDIT_RATE_LIMIT"]["window_ms"] == 1000


def test_a_rate_limit_that_is_not_enabled_is_none() -> None:
    assert of(audit={"rate_limit": {"max_events": 3}}).deployment == {"AUDIT_RATE_LIMIT": None}


def test_the_state_graph_may_stand_in_the_settings() -> None:
    world = of(flow={"state_graph": {"allowed_transitions": {"A": ["B", "C"], "B": ["C"]}}})

    assert world.transitions == [("A", "B"), ("A", "C"), ("B", "C")]


@pytest.mark.parametrize("name", sorted(WITHOUT_EFFECT))
def test_settings_without_a_counterpart_are_understood_and_change_nothing(name: str) -> None:
    given: Any = "x"
    for part in reversed(name.split(".")):
        given = {part: given}

    assert world_settings(Node(given)) == of()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"flow": {"guardrails": {}}}, "flow.guardrails: unknown setting `flow.guardrails`; did you mean"),
        ({"flow": {"memory": {"enable": True}}}, "flow.memory.enable: unknown setting `flow.memory.enable`; did you"),
        ({"flwo": {}}, "flwo: unknown setting `flwo`"),
        ({"flow": 1}, "flow: must be a map."),
        ({"flow": {"memory": {"enabled": "perhaps"}}}, "flow.memory.enabled: must be true or false."),
        ({"flow": {"dialogue_act": {"resolute": "X"}}}, "flow.dialogue_act.resolute: must be one of REGEX_ONLY"),
        ({"flow": {"action_lifecycle": {"ttl_turns": "many"}}}, "flow.action_lifecycle.ttl_turns: must be a whole"),
        ({"flow": {"interaction_policy": {"matrix": []}}}, "flow.interaction_policy.matrix: must be a JSON object."),
        ({"flow": {"guardrail": {"sensitive_patterns": "x"}}}, "flow.guardrail.sensitive_patterns: must be a list."),
        ({"flow": {"guardrail": {"sensitive_patterns": [" "]}}}, "flow.guardrail.sensitive_patterns: has an entry"),
        ({"audit": {"persistence": {"mode": "LATER"}}}, 'audit.persistence.mode: must be one of "IMMEDIATE"'),
        ({"audit": {"persistence": {"mode": ["x"]}}}, "audit.persistence.mode: must be one of"),
        ({"audit": {"rate_limit": {"max_events": 0}}}, "audit.rate_limit.max_events: must be a whole number of at"),
        ({"audit": {"rate_limit": {"per_stage": 1}}}, "audit.rate_limit.per_stage: must be true or false."),
    ],
)
def test_a_name_or_value_that_is_not_known_is_an_error_at_its_place(given: Any, problem: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        world_settings(Node(given))

    assert str(refused.value).startswith(problem)


def test_every_default_has_its_place_in_the_mapping() -> None:
    names = {
        f"{family}.{group}.{key}"
        for family, groups in DEFAULTS.items()
        for group, keys in groups.items()
        if isinstance(keys, dict)
        for key in keys
    }

    assert names <= {*LIVE, *TRANSLATED, *WITHOUT_EFFECT}
