"""A real Prometheus scrapes `serve` with two processes; a trace arrives at a collector; the log has a line per turn."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.api import make_key
from tests.fakes.openai_server import Says, model_server
from tests.fakes.otlp_receiver import OtlpReceiver, attributes_of, receive_spans
from tests.live.client import Talk, post
from tests.live.processes import Server, database_url, find_children, free_port, start
from tests.live.written import written_desk
from tests.test_monitoring import ALERTS, list_panels

TOKEN = "scrape-me-if-you-can"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("prometheus"), reason="needs Prometheus: apt-get install prometheus"),
]


@dataclass
class Installation:
    """`manage.py serve` with two processes for turns and one for streams, a model service, and a collector."""

    server: Server
    collector: OtlpReceiver

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        http = HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        http.request("GET", path, headers={"Host": "10.1.2.3", **headers})
        response = http.getresponse()
        text = response.read().decode()
        http.close()
        return response.status, text

    def scrape(self) -> dict[str, float]:
        """The numbers by series."""
        status, text = self.get("/metrics", Authorization=f"Bearer {TOKEN}")
        assert status == 200
        lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return {series: float(value) for series, _, value in lines}

    def lines(self, event: str) -> list[dict[str, Any]]:
        """The lines of the log with this event."""
        written = [json.loads(line) for line in self.server.text().splitlines() if line.startswith("{")]
        return [line for line in written if line["event"] == event]


@pytest.fixture
def installation(transactional_db: None) -> Iterator[Installation]:
    written_desk()
    port, streams_port = free_port(), free_port()
    with model_server(Says("No fees.")) as model, receive_spans() as collector:
        variables = {
            "DATABASE_URL": database_url(),
            "CE_METRICS_TOKEN": TOKEN,
            "CE_ACCESS_LOG": "true",
            "CE_LLM_BASE_URL": model.url,
            "CE_LLM_MODEL": "small",
            "CE_LLM_PRICES": '{"small": [100, 200]}',
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }
        command = [sys.executable, "manage.py", "serve", "--port", str(port), "--streams-port", str(streams_port)]
        server = start(command, port, {**os.environ, **variables})
        try:
            server.wait_until_ready()
            yield Installation(server, collector)
        finally:
            server.end()


@contextmanager
def prometheus(port: int, folder: Path) -> Iterator[Callable[..., Any]]:
    """A Prometheus that scrapes this port every second; gives a function that calls its API."""
    config = f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{ALERTS}]
scrape_configs:
  - job_name: convengine
    authorization: {{credentials: {TOKEN}}}
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""
    (folder / "prometheus.yml").write_text(config)
    own_port = free_port()
    process = subprocess.Popen(
        ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
         f"--web.listen-address=127.0.0.1:{own_port}", "--log.level=error"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def call(path: str, **parameters: str) -> Any:
        http = HTTPConnection("127.0.0.1", own_port, timeout=20)
        http.request("GET", f"/api/v1/{path}?{urlencode(parameters)}")
        body = json.loads(http.getresponse().read())
        http.close()
        assert body["status"] == "success", body
        return body["data"]

    try:
        yield call
    finally:
        process.terminate()
        process.wait(20)


def wait_until(holds: Callable[[], bool], seconds: float = 40) -> None:
    ends = time.monotonic() + seconds
    while True:
        try:
            if holds():
                return
        except OSError:
            pass
        assert time.monotonic() < ends
        time.sleep(0.2)


def test_every_query_of_the_dashboard_returns_data_and_every_alert_is_evaluated(
    installation: Installation, tmp_path: Path
) -> None:
    talks = [Talk(make_key()) for _ in range(4)]
    with prometheus(installation.server.port, tmp_path) as call:
        wait_until(lambda: bool(call("query", query="up == 1")["result"]))
        for _ in range(8):
            for talk in talks:
                talk.say(installation.server.port, "fees")
            time.sleep(0.5)
        time.sleep(6)
        empty = []
        for panel in list_panels():
            for target in panel["targets"]:
                query = target["expr"].replace("$__rate_interval", "15s").replace("$instance", ".*")
                if not call("query", query=query)["result"]:
                    empty.append(f"{panel['title']}: {query}")
        rules = [rule for group in call("rules")["groups"] for rule in group["rules"]]
        turns = call("query", query='sum(convengine_turn_seconds_count{outcome="ok"})')["result"][0]["value"][1]

    assert empty == []
    assert {rule["health"] for rule in rules} == {"ok"}
    assert [rule["name"] for rule in rules if rule["state"] == "firing"] == []
    # Both processes answered turns, and each scrape has the sum.
    assert float(turns) == 32


def test_a_process_that_dies_takes_its_gauges_and_leaves_its_counters(installation: Installation) -> None:
    talk = Talk(make_key())
    for _ in range(6):
        talk.say(installation.server.port, "fees")
    ok = 'convengine_turn_seconds_count{outcome="ok"}'
    # The processes record every few seconds.
    wait_until(lambda: len(list_pids(installation.scrape())) == 3 and installation.scrape()[ok] == 6)
    before, pids = installation.scrape(), list_pids(installation.scrape())
    # The first two children serve turns, the third streams.
    os.kill(find_children(installation.server.pid)[0], signal.SIGKILL)

    wait_until(lambda: len(list_pids(installation.scrape()) - pids) == 1)

    after = installation.scrape()
    assert (before[ok], after[ok]) == (6, 6)
    assert len(list_pids(after)) == 3
    assert sum(value for series, value in after.items() if series.startswith("convengine_process_restarts_total")) == 1


def list_pids(numbers: dict[str, float]) -> set[str]:
    return set(re.findall(r'convengine_process_memory_bytes{pid="(\d+)"}', " ".join(numbers)))


def test_a_trace_arrives_at_the_collector_and_the_log_names_it(installation: Installation) -> None:
    body = {"message": "fees, said Swordfish"}
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "X-Request-ID": "shop-17"}
    assert post(installation.server.port, make_key(), body, **headers)

    turn = installation.collector.wait_for("turn")
    model = installation.collector.wait_for("model call")
    spans = {span.span_id: span for span in installation.collector.spans}
    assert (turn.trace_id.hex(), turn.parent_span_id.hex()) == (TRACE, PARENT)
    assert attributes_of(turn)["convengine.request_id"] == "shop-17"
    assert "convengine.step" in attributes_of(spans[model.parent_span_id])
    assert spans[model.parent_span_id].parent_span_id == turn.span_id
    assert attributes_of(model)["gen_ai.request.model"] == "small"
    (line,) = installation.lines("turn")
    assert (line["trace_id"], line["request_id"], line["outcome"], line["model_calls"]) == (TRACE, "shop-17", "ok", 1)
    assert [(line["path"], line["status"]) for line in installation.lines("request") if line["method"] == "POST"] == [
        ("/api/v1/conversation/message", 200)
    ]
    assert "swordfish" not in installation.server.text().lower()


def test_probes_answer_under_every_host_and_a_wrong_host_elsewhere_is_one_line(installation: Installation) -> None:
    assert installation.get("/livez") == (200, '{"status": "alive"}')
    status, text = installation.get("/readyz")
    parts = {"database": "ok", "migrations": "ok", "configuration": "ok", "jobs": "ok"}
    assert (status, json.loads(text)) == (200, {"status": "ready", "parts": parts})
    assert installation.get("/metrics")[0] == 401
    assert installation.get("/admin/")[0] == 400

    wait_until(lambda: bool(installation.lines("host not served here")))
    assert [line["host"] for line in installation.lines("host not served here")] == ["10.1.2.3"]
    assert "Traceback" not in installation.server.text()
    assert "Invalid HTTP_HOST" not in installation.server.text()
