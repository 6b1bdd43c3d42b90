"""A step is found by its name: its class, its module, its place in the order, its test file."""

import re
from pathlib import Path

import pytest

from convengine.engine.pipeline.order import DEFAULT_PIPELINE

ROOT = Path(__file__).resolve().parent.parent
#: (topic, module, class) of each built-in step.
STEPS = [tuple(path.split(".")[-3:]) for path in DEFAULT_PIPELINE]


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Step")).lower()


@pytest.mark.parametrize(("topic", "module", "name"), STEPS)
def test_a_step_is_found_by_its_name(topic: str, module: str, name: str) -> None:
    # A small step is in the module of a larger one of its topic, or all of them are in `step`.
    assert module in {"step"} | {snake(other) for owner, _, other in STEPS if owner == topic}
    if [owner for owner, _, _ in STEPS].count(topic) == 1:
        assert module == "step"
    assert (ROOT / f"tests/convengine/engine/steps/{topic}/test_{module}.py").is_file()


def test_every_topic_of_steps_has_a_step() -> None:
    topics = {path.parent.name for path in (ROOT / "convengine/engine/steps").glob("*/*.py")}

    assert topics == {topic for topic, _, _ in STEPS}
