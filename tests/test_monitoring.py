"""Dashboard, alerts and manual name the metrics that exist."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from convengine.server.observability.metric import Counter, Gauge, Histogram
from convengine.server.observability.metrics import ALL

ROOT = Path(__file__).resolve().parent.parent
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
DASHBOARD = ROOT / "deploy/grafana/convengine.json"
CHAPTER = (ROOT / "docs/observability.md").read_text()
#: The suffixes of the names under which a scrape shows a metric.
SUFFIXES = {Counter: ("_total",), Gauge: ("",), Histogram: ("_bucket", "_sum", "_count")}
#: By the name that a query uses.
BY_NAME = {metric.name + suffix: metric for metric in ALL for suffix in SUFFIXES[type(metric)]}
#: What Prometheus itself adds to a series.
ADDED = {"job", "instance", "le", "pid"}


def list_rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


def list_panels() -> list[dict[str, Any]]:
    return [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]


def list_queries() -> Iterator[tuple[str, str]]:
    """Every query of the dashboard and the alerts, with the name of its panel or alert."""
    for panel in list_panels():
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for rule in list_rules():
        yield rule["alert"], rule["expr"]


@pytest.mark.parametrize(("name", "query"), list(list_queries()))
def test_a_query_names_metrics_and_labels_that_exist(name: str, query: str) -> None:
    used = re.findall(r"\b(convengine_\w+)(?:\{([^}]*)\})?", query)

    assert {metric for metric, _ in used} <= BY_NAME.keys()
    for metric, selectors in used:
        labels = set(re.findall(r"(\w+)\s*[=!]~?", selectors))
        assert labels <= {*BY_NAME[metric].labels, *ADDED}, metric
    if used:
        known = set(BY_NAME[used[0][0]].labels) | ADDED
        for grouping in re.findall(r"by \(([^)]*)\)", query):
            assert {label.strip() for label in grouping.split(",")} <= known


def test_every_metric_is_on_the_dashboard() -> None:
    queries = " ".join(query for _, query in list_queries())

    drawn = {metric.name for name, metric in BY_NAME.items() if name in queries}
    assert {metric.name for metric in ALL} - drawn == set()


def test_the_manual_says_what_to_do_at_every_alert() -> None:
    rows = re.findall(r"^\| `(ConvEngine\w+)` \|[^|]+\|$", CHAPTER, re.MULTILINE)

    assert rows == [rule["alert"] for rule in list_rules()]


def test_the_panels_that_the_manual_names_exist() -> None:
    titles = {panel["title"] for panel in list_panels()}
    named = {
        *("Errors by code", "Time in steps", "Time of model calls"),
        *("Request threads", "Turns waiting for external calls"),
    }

    assert named <= titles
    assert all(f"*{name}*" in CHAPTER for name in named)


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool: apt-get install prometheus")
def test_prometheus_accepts_the_alerts() -> None:
    done = subprocess.run(["promtool", "check", "rules", ALERTS], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
