"""What is said of every stage is what the code writes."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import convengine
from convengine.domain.stage_facts import FACTS, label
from convengine.domain.stages import Stage
from convengine.pipeline.order import DEFAULT_PIPELINE


def audited() -> Iterator[tuple[str, Stage, str]]:
    """Every key that a call of `audit` names, with its stage and its place."""
    for file in Path(convengine.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] != "audit":
                continue
            place, keys = f"{file.name}:{call.lineno}", [one.arg for one in call.keywords if one.arg]
            for stage in map(ast.unparse, call.args):
                if stage.startswith("Stage."):
                    yield from ((place, Stage[stage.removeprefix("Stage.")], key) for key in keys)


def test_every_stage_is_told_of_in_the_order_of_the_vocabulary() -> None:
    assert list(FACTS) == list(Stage)


def test_keys_are_said_once_and_steps_are_steps_of_the_pipeline() -> None:
    steps = {path.rpartition(".")[2] for path in DEFAULT_PIPELINE}
    for stage, told in FACTS.items():
        assert not [key for key, times in Counter(told.keys).items() if times > 1], stage
        assert set(told.steps) <= steps, stage


def test_every_key_that_the_code_names_is_told_of() -> None:
    found = list(audited())

    assert len(found) > 200
    assert [(place, stage.value, key) for place, stage, key in found if key not in FACTS[stage].keys] == []


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        (Stage.STEP_ENTER, "Step enter"),
        (Stage.INTENT_AGENT_LLM_INPUT, "Intent agent: model asked"),
        (Stage.MCP_PLAN_LLM_ERROR, "MCP plan: model failed"),
        (Stage.SET_JSON, "Set JSON"),
        (Stage.MCP_DB_SQL_EXECUTION, "MCP DB SQL execution"),
    ],
)
def test_a_label_is_the_name_in_words(stage: Stage, words: str) -> None:
    assert label(stage) == words


def test_no_two_stages_have_one_label() -> None:
    assert len({label(stage) for stage in Stage}) == len(Stage)
