"""The rooms of reading stay easy to follow: their modules are short. The linter bounds the branches of a function."""

import tomllib
from pathlib import Path

import pytest

import convengine.engine as engine

ROOM = Path(engine.__file__).parent
READING = (
    "understanding",
    "forms",
    "steps/dialogue_act",
    "steps/interaction",
    "steps/correction",
    "steps/forms",
    "steps/intents",
    "steps/responses",
)
MOST_LINES = 400


@pytest.mark.parametrize("folder", READING)
def test_no_module_of_reading_is_long(folder: str) -> None:
    modules = {path: len(path.read_text("utf-8").splitlines()) for path in (ROOM / folder).rglob("*.py")}

    assert modules
    assert {path.name: lines for path, lines in modules.items() if lines > MOST_LINES} == {}


def test_the_linter_refuses_functions_with_many_branches() -> None:
    linter = tomllib.loads((ROOM.parents[1] / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]

    assert "C90" in linter["select"]
    assert linter["mccabe"]["max-complexity"] <= 15
