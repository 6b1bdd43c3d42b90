"""One name, five places: a step's class, its module, its place in the order, its test file, its line in the map."""

import re
from pathlib import Path

import pytest

from convengine.pipeline.order import DEFAULT_PIPELINE

ROOT = Path(__file__).resolve().parent.parent
STEPS = [(path.split(".")[-2], path.split(".")[-1]) for path in DEFAULT_PIPELINE]


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Step")).lower()


@pytest.mark.parametrize(("module", "name"), STEPS)
def test_a_step_is_found_by_its_name_everywhere(module: str, name: str) -> None:
    assert snake(name) == module
    assert (ROOT / f"convengine/steps/{module}.py").is_file()
    assert (ROOT / f"tests/convengine/steps/test_{module}.py").is_file()
    assert f"convengine/steps/{module}.py" in (ROOT / "docs/architecture.md").read_text()


def test_nothing_but_steps_lives_in_the_folder_of_steps() -> None:
    files = {path.stem for path in (ROOT / "convengine/steps").glob("*.py")} - {"__init__"}

    assert files == {module for module, _ in STEPS}


@pytest.mark.parametrize("path", sorted((ROOT / "convengine/steps").glob("*.py")), ids=lambda path: path.stem)
def test_a_step_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 150
