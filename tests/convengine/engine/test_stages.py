"""What is declared of every stage is what the code writes."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import convengine
from convengine.engine.pipeline.order import DEFAULT_PIPELINE
from convengine.engine.stages import STAGES
from convengine.engine.turn.stage import Stage, declare_stage, find_stage


def audited_keys() -> Iterator[tuple[str, Stage, str]]:
    """Every key that a call of `audit` names, with its file and stage."""
    for file in Path(convengine.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] != "audit":
                continue
            location, keys = f"{file.name}:{call.lineno}", [keyword.arg for keyword in call.keywords if keyword.arg]
            for name in map(ast.unparse, call.args):
                if name in STAGES:
                    yield from ((location, STAGES[name], key) for key in keys)


def test_every_stage_is_said_in_a_sentence() -> None:
    assert [stage for stage in STAGES.values() if len(stage.help.split()) < 2] == []


def test_keys_are_declared_once_and_steps_are_steps_of_the_pipeline() -> None:
    steps = {path.rpartition(".")[2] for path in DEFAULT_PIPELINE}
    for stage in STAGES.values():
        assert not [key for key, times in Counter(stage.keys).items() if times > 1], stage
        assert set(stage.steps) <= steps, stage


def test_every_key_that_the_code_names_is_declared() -> None:
    keys = list(audited_keys())

    assert len(keys) > 200
    assert [(location, stage, key) for location, stage, key in keys if key not in stage.keys] == []


def test_a_stage_is_declared_beside_the_code_that_writes_it() -> None:
    for file in Path(convengine.__file__).parent.rglob("stages.py"):
        declared = [call for call in ast.walk(ast.parse(file.read_text())) if isinstance(call, ast.Call)]
        for call in declared:
            if ast.unparse(call.func) == "declare_stage":
                assert ast.literal_eval(call.args[0]) in STAGES, f"{file} is not imported by convengine.engine.stages"


def test_a_name_is_declared_once() -> None:
    with pytest.raises(ValueError, match="USER_INPUT is declared twice"):
        declare_stage("USER_INPUT", STAGES["USER_INPUT"].family, "Again.")


def test_an_unknown_stage_is_refused() -> None:
    with pytest.raises(ValueError, match="NOPE is not a declared stage"):
        find_stage("NOPE")


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("STEP_ENTER", "Step enter"),
        ("INTENT_AGENT_LLM_INPUT", "Intent agent: model asked"),
        ("MCP_PLAN_LLM_ERROR", "MCP plan: model failed"),
        ("SET_JSON", "Set JSON"),
        ("MCP_DB_SQL_EXECUTION", "MCP DB SQL execution"),
    ],
)
def test_a_label_is_the_name_in_words(stage: str, words: str) -> None:
    assert STAGES[stage].label == words


def test_no_two_stages_have_one_label() -> None:
    assert len({stage.label for stage in STAGES.values()}) == len(STAGES)
