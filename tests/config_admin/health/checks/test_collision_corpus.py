from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from config_admin.health.checks.collisions import Collision, find_collision
from config_admin.health.player import TurnPlayer
from config_admin.validation.world import World
from convengine.engine.turn import rows
from tests import builders

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
PAIRS = [pair for file in sorted(CORPUS.glob("*.yaml")) for pair in yaml.load(file.read_text(), yaml.CSafeLoader)]
SHOWN = [pair for pair in PAIRS if pair["collide"] is True]
HINTS = [pair for pair in PAIRS if pair["collide"] == "hint"]
NONE = [pair for pair in PAIRS if pair["collide"] is False]
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
            case "template":
                yield rows.PromptTemplate(template_id=1, response_type="TEXT", **values)
            case "action":
                yield builders.make_action(values.pop("action_key"), **values)
            case "container":
                address = dict.fromkeys(("page_id", "section_id", "container_id"), 1)
                yield rows.ContainerConfig(id=1, input_param_name="faq", **address, **values)


def _find_collision(pair: Mapping[str, Any]) -> tuple[Collision | None, TurnPlayer]:
    rule, other = (_rule(spec, state) for spec, state in zip(pair["rules"], ("ONE", "TWO"), strict=True))
    world = World(model_configured=pair.get("model", False))
    player = TurnPlayer(builders.make_snapshot(*_rows(pair), rule, other), world)
    return find_collision(player, rule, other), player


def test_the_corpus_is_large_enough() -> None:
    assert len(SHOWN) >= 30
    assert len(NONE) >= 30
    assert len({pair["name"] for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("pair", SHOWN, ids=lambda pair: pair["name"])
def test_a_pair_that_collides_is_shown_by_a_played_turn(pair: Mapping[str, Any]) -> None:
    collision, player = _find_collision(pair)

    assert collision is not None, pair["why"]
    assert collision.witness is not None, pair["why"]
    acted = [step.rule_id for step in player.play(collision.witness).applied if step.number == 1]
    assert acted.index(collision.first.rule_id) < acted.index(collision.second.rule_id)


@pytest.mark.parametrize("pair", HINTS, ids=lambda pair: pair["name"])
def test_what_depends_on_a_model_or_a_tool_is_a_hint(pair: Mapping[str, Any]) -> None:
    collision, _ = _find_collision(pair)

    assert collision is not None, pair["why"]
    assert collision.witness is None


@pytest.mark.parametrize("pair", NONE, ids=lambda pair: pair["name"])
def test_a_pair_that_only_looks_like_it_is_not_reported(pair: Mapping[str, Any]) -> None:
    collision, _ = _find_collision(pair)

    assert collision is None, (pair["why"], collision.witness)
