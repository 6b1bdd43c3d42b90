from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from config_admin.health.checks.collisions import Collision, CollisionSearch
from config_admin.health.diagnosis import Witness
from config_admin.health.rules.phases import SOURCES
from config_admin.health.rules.simulator import TurnSimulator, replace_custom_code
from config_admin.validation.world import World
from convengine.engine.forms.form import get_form
from convengine.engine.forms.session_form import find_schema, set_form_facts
from convengine.engine.pipeline.engine import Engine
from convengine.engine.rules.apply import run_phase
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.snapshot import Snapshot
from convengine.server import wiring
from tests import builders

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
PAIRS = [pair for file in sorted(CORPUS.glob("*.yaml")) for pair in yaml.load(file.read_text(), yaml.CSafeLoader)]
TRUE = [pair for pair in PAIRS if pair["collide"]]
ANSWER = builders.make_response()
ENGINE = Engine(wiring.steps())
FALSE = [pair for pair in PAIRS if not pair["collide"]]
_COLUMNS = {
    "intent": "intent_code", "state": "state_code", "type": "rule_type", "pattern": "match_pattern",
    "value": "action_value", "target": "match_target", "stop": "stop_processing", "null_leaf": "null_leaf_matches",
}  # fmt: skip


def _rule(spec: Mapping[str, Any], state: str) -> rows.Rule:
    values = {_COLUMNS.get(key, key): value for key, value in spec.items()}
    return builders.make_rule(**{"action_value": state, **values})


def _rows(pair: Mapping[str, Any]) -> Iterator[rows.Row]:
    for name in ("LOAN", "CARD", "FAQ"):
        yield builders.make_intent(name)
    for spec in pair.get("rows") or ():
        values = dict(spec)
        match values.pop("make"):
            case "schema":
                yield builders.make_schema(values.pop("intent_code"), values.pop("properties"), **values)
            case "policy":
                yield builders.make_policy(values.pop("rule_type"), values.pop("pattern"), **values)
            case "classifier":
                yield builders.make_classifier(values.pop("intent_code"), values.pop("pattern"), **values)
            case "intent":
                yield builders.make_intent(values.pop("intent_code"), **values)
            case "rule":
                yield builders.make_rule(**values)
            case "config":
                yield builders.make_config(values.pop("name"), values.pop("value"))
            case "container":
                address = dict.fromkeys(("page_id", "section_id", "container_id"), 1)
                yield rows.ContainerConfig(id=1, input_param_name="faq", **address, **values)


class FoundCollision(NamedTuple):
    collision: Collision
    snapshot: Snapshot


def _collision(pair: Mapping[str, Any]) -> FoundCollision | None:
    rule, other = (_rule(spec, state) for spec, state in zip(pair["rules"], ("ONE", "TWO"), strict=True))
    snapshot = builders.make_snapshot(*_rows(pair), rule, other)
    simulator = TurnSimulator(snapshot, World(model_configured=pair.get("model", False)))
    collision = CollisionSearch(simulator, replace_custom_code(snapshot)).find_collision(rule, other)
    return FoundCollision(collision, snapshot) if collision else None


def list_acting_rules(witness: Witness, snapshot: Snapshot) -> list[int]:
    """The rules that act in the first pass when the engine meets the input, in order; from the witness alone."""
    phase = RulePhase(witness.phase)
    params = {**witness.input_params, "dialogue_act": witness.dialogue_act}
    facts = witness.facts
    session = builders.make_session(
        intent=witness.intent,
        state=witness.state,
        user_text=witness.text,
        standalone_query=facts.get("standaloneQuery"),
        context=witness.context,
        input_params=params,
        turn_no=facts.get("turnNo", 1),
        lifecycle=facts.get("lifecycle", "RUNNING"),
        container_data=facts.get("containerData"),
        has_container_data="containerData" in facts,
    )
    # A form that was left with its state in this turn is known all the same.
    schemas = (find_schema(snapshot, witness.intent, witness.state), *snapshot.rows(rows.OutputSchema))
    schema = next((candidate for candidate in schemas if candidate and candidate.intent_code == witness.intent), None)
    if schema is not None and "schemaComplete" in facts:
        session = set_form_facts(session, schema, get_form(snapshot, schema).status(witness.context))
    turn = builders.make_turn(snapshot)
    run_phase(phase, SOURCES[phase], session, turn)
    applied = [event.payload["ruleId"] for event in turn.trail.events if event.stage.startswith("RULE_APPLIED")]
    matched = [event.payload for event in turn.trail.events if event.stage.startswith("RULE_MATCH")]
    return [payload["ruleId"] for payload in matched if payload["pass"] == 1 and payload["ruleId"] in applied]


def test_the_corpus_is_large_enough() -> None:
    assert len(TRUE) >= 30
    assert len(FALSE) >= 30
    assert len({pair["name"] for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("pair", TRUE, ids=lambda pair: pair["name"])
def test_a_pair_that_collides_is_shown_by_an_input(pair: Mapping[str, Any]) -> None:
    collision = _collision(pair)

    assert collision is not None, pair["why"]
    acted = list_acting_rules(collision.collision.witness, collision.snapshot)
    first, second = collision.collision.first.rule_id, collision.collision.second.rule_id
    assert acted.index(first) < acted.index(second)


@pytest.mark.parametrize("pair", [pair for pair in TRUE if "needs" not in pair], ids=lambda pair: pair["name"])
def test_the_input_makes_both_rules_act_in_a_whole_turn(pair: Mapping[str, Any]) -> None:
    collision = _collision(pair)
    assert collision is not None
    witness, pair_of = (
        collision.collision.witness,
        {collision.collision.first.rule_id, collision.collision.second.rule_id},
    )
    turn = builders.make_turn(
        builders.make_snapshot(*(row for table in collision.snapshot.tables.values() for row in table.rows), ANSWER),
        text=witness.text,
        conversation={
            "intent_code": witness.intent,
            "state_code": witness.state,
            "context_json": dict(witness.context),
            "lifecycle": witness.facts.get("lifecycle", "RUNNING"),
        },
        input_params=dict(witness.input_params),
        turn_no=witness.facts.get("turnNo", 1),
    )

    ENGINE.run(turn)

    assert pair_of <= {e.payload["ruleId"] for e in turn.trail.events if e.stage.startswith("RULE_APPLIED")}


@pytest.mark.parametrize("pair", FALSE, ids=lambda pair: pair["name"])
def test_a_pair_that_only_looks_like_it_is_not_reported(pair: Mapping[str, Any]) -> None:
    collision = _collision(pair)

    assert collision is None, (pair["why"], collision.witness)
