from collections.abc import Iterator
from typing import Any

import pytest

from convengine.engine.turn.live_settings import CATALOGUE, read
from convengine.play.schema import SCHEMA, ScenarioFileError
from convengine.play.settings_map import LIVE, TRANSLATED, WorldSettings, world_settings
from tests.builders import make_config, make_snapshot


def of(**given: Any) -> WorldSettings:
    return world_settings(given)


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


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"flow": {"memory": {"enabled": "perhaps"}}}, "flow.memory.enabled: must be true or false."),
        ({"flow": {"dialogue_act": {"resolute": "X"}}}, "flow.dialogue_act.resolute: must be one of AUTO"),
        ({"flow": {"action_lifecycle": {"ttl_turns": "many"}}}, "flow.action_lifecycle.ttl_turns: must be a whole"),
        ({"flow": {"guardrail": {"sensitive_patterns": [" "]}}}, "flow.guardrail.sensitive_patterns: has an entry"),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_an_error_at_its_place(given: Any, problem: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        world_settings(given)

    assert str(refused.value).startswith(f"settings.{problem}")


def names(schema: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in schema["properties"].items():
        if "properties" in inner:
            yield from names(inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", inner


def test_every_setting_of_the_schema_has_a_counterpart_or_says_that_it_changes_nothing() -> None:
    effective = {
        name for name, schema in names(SCHEMA["$defs"]["settings"]) if schema.get("$ref") != "#/$defs/without_effect"
    }
    others = {name for name in effective if name.startswith("audit.rate_limit.")}

    assert effective - others == {*LIVE, *TRANSLATED, "audit.enabled", "flow.state_graph.allowed_transitions"}
    for name, (_, texts) in TRANSLATED.items():
        schema = dict(names(SCHEMA["$defs"]["settings"]))[name]
        assert set(schema.get("enum", (True, False))) == set(texts)


def test_settings_without_a_counterpart_change_nothing() -> None:
    assert of(audit={"dispatch": {"worker_threads": 4}, "persistence": {"flush_stages": "X"}}) == of()
