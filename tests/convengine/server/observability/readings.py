"""Read the numbers that this process has recorded."""

from prometheus_client import REGISTRY

from convengine.server.observability.metric import Metric, flush


def read(metric: Metric, *values: str, suffix: str = "") -> float:
    """The value of a series; 0 for one that does not exist."""
    flush()
    sample = REGISTRY.get_sample_value(metric.name + suffix, dict(zip(metric.labels, values, strict=True)))
    return sample or 0.0
