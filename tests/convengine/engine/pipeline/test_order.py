import random
from typing import Any

import pytest
from django.utils.module_loading import import_string

from convengine.engine import errors
from convengine.engine.pipeline.order import DEFAULT_PIPELINE, order_steps
from convengine.engine.pipeline.step import Step


def make_step(name: str, **attributes: Any) -> Step:
    return type(name, (Step,), attributes)()


BOOTSTRAP = {"bootstrap": True}
TERMINAL = {"terminal": True}


def names(steps: Any) -> list[str]:
    return [step.name for step in steps]


def test_ENG_V1_bootstrap_comes_first_and_terminal_last_whatever_the_registration() -> None:
    steps = [make_step("End", **TERMINAL), make_step("Work", requires_persisted=True), make_step("Boot", **BOOTSTRAP)]

    assert names(order_steps(steps)) == ["Boot", "Work", "End"]


def test_ENG_V2_a_missing_terminal_step_refuses_the_start() -> None:
    with pytest.raises(errors.MissingTerminalStep) as refused:
        order_steps([make_step("Boot", **BOOTSTRAP)])

    assert refused.value.code == "MISSING_TERMINAL_STEP"


def test_ENG_V3_two_bootstrap_steps_refuse_the_start() -> None:
    with pytest.raises(errors.MissingBootstrapStep, match="Boot, Other") as refused:
        order_steps([make_step("Boot", **BOOTSTRAP), make_step("Other", **BOOTSTRAP), make_step("End", **TERMINAL)])

    assert refused.value.code == "MISSING_BOOTSTRAP_STEP"


def test_ENG_V4_a_circle_is_refused_and_named() -> None:
    steps = [
        make_step("A", after=("B",)),
        make_step("B", after=("A",)),
        make_step("Boot", **BOOTSTRAP),
        make_step("End", **TERMINAL),
    ]

    with pytest.raises(errors.MissingDagCycle, match=r"A, B") as refused:
        order_steps(steps)

    assert refused.value.code == "MISSING_DAG_CYCLE"


def test_ENG_V5_a_step_that_is_named_must_be_there() -> None:
    steps = [make_step("A", after=("Nope",)), make_step("Boot", **BOOTSTRAP), make_step("End", **TERMINAL)]

    with pytest.raises(errors.MissingDependentStep, match="Nope") as refused:
        order_steps(steps)

    assert refused.value.code == "MISSING_DEPENDENT_STEP"


def test_ENG_V6_the_built_in_steps_keep_their_order_whatever_the_registration() -> None:
    canonical = [path.rpartition(".")[2] for path in DEFAULT_PIPELINE]
    steps = [import_string(path)() for path in DEFAULT_PIPELINE]
    shuffle = random.Random(1).shuffle

    for _ in range(20):
        shuffle(steps)
        assert names(order_steps(steps)) == canonical


def test_two_steps_of_one_name_are_refused() -> None:
    steps = [make_step("Boot", **BOOTSTRAP), make_step("Boot"), make_step("End", **TERMINAL)]

    with pytest.raises(errors.DuplicateEngineStep):
        order_steps(steps)


def test_before_places_a_step_in_front() -> None:
    steps = [
        make_step("Boot", **BOOTSTRAP),
        make_step("Late", rank=1),
        make_step("Early", rank=2, before=("Late",)),
        make_step("End", **TERMINAL),
    ]

    assert names(order_steps(steps)).index("Early") < names(order_steps(steps)).index("Late")


def test_ties_go_by_rank_then_by_name() -> None:
    steps = [
        make_step("B", rank=5),
        make_step("A", rank=5),
        make_step("C", rank=1),
        make_step("Boot", rank=0, **BOOTSTRAP),
        make_step("End", **TERMINAL),
    ]

    assert names(order_steps(steps)) == ["Boot", "C", "A", "B", "End"]
