import re

import pytest

from convengine.server.observability.metric import Histogram, Metric
from convengine.server.observability.metrics import ALL

#: Labels whose values are ids or what somebody wrote; each would make endless series.
ENDLESS = {"conversation_id", "turn_id", "path", "user", "message", "session"}


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_a_metric_is_named_and_explained(metric: Metric) -> None:
    assert re.fullmatch(r"convengine_[a-z_]+[a-z]", metric.name)
    assert metric.help.endswith(".")
    assert not set(metric.labels) & ENDLESS
    assert all(len(values) == len(metric.labels) for values in metric.initial)
    assert metric.name.endswith("_seconds") or not isinstance(metric, Histogram)


def test_no_two_metrics_have_the_same_name() -> None:
    assert len({metric.name for metric in ALL}) == len(ALL)
