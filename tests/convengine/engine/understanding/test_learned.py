"""A regression over vectors, as plain arrays."""

import numpy as np
import pytest

from convengine.engine.understanding.sentences import fit


@pytest.mark.parametrize("classes", [["low", "high"], ["low", "high", "middle"]])
def test_the_class_of_the_nearest_examples_is_the_most_likely(classes: list[str]) -> None:
    corners = {"low": (0, 0), "high": (1, 1), "middle": (1, 0)}
    examples = [(corners[name], name) for name in classes for _ in range(5)]
    learned = fit(np.array([place for place, _ in examples], np.float32), [name for _, name in examples], 20)

    for name in classes:
        rated = learned.rate(np.array(corners[name], np.float32))
        assert max(rated, key=lambda other: rated[other]) == name
        assert sum(rated.values()) == pytest.approx(1, abs=0.002)
