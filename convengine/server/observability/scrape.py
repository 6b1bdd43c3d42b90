"""The text of a scrape: the numbers of all processes, and what the scraped process reads at this moment."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from convengine.server.observability.folder import VARIABLE, merge_ended_processes
from convengine.server.observability.later import flush
from convengine.server.observability.metric import Gauge

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Values by the values of the labels, for each metric that is read at the scrape.
Readings = Mapping[Gauge, Mapping[tuple[str, ...], float]]


def write_metrics(readings: Readings) -> bytes:
    """All metrics in the text format of Prometheus."""
    flush()
    from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    folder = os.environ.get(VARIABLE)
    now = CollectorRegistry()
    now.register(_Readings(readings))
    if not folder:
        return generate_latest(REGISTRY) + generate_latest(now)
    with merge_ended_processes(Path(folder)):
        MultiProcessCollector(now, folder)  # type: ignore[no-untyped-call]
        return generate_latest(now)


class _Readings:
    """What the library calls a collector."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    def describe(self) -> Iterable[Any]:
        """Nothing, so that registering collects nothing."""
        return ()

    def collect(self) -> Iterable[Any]:
        from prometheus_client.core import GaugeMetricFamily

        for metric, series in self._readings.items():
            family = GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
            for values, value in series.items():
                family.add_metric(values, value)
            yield family
