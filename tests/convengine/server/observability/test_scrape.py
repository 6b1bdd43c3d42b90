import os
import subprocess
import sys
from pathlib import Path

from convengine.server.observability import metrics
from convengine.server.observability.scrape import write_metrics

PROCESS = """
from convengine.server.observability import metrics
metrics.create_initial_series()
metrics.TURN_SECONDS.observe(0.02, "ok")
metrics.STREAM_READERS.set(3)
metrics.RELEASE.set(7)
"""
SCRAPE = """
from convengine.server.observability import metrics
from convengine.server.observability.scrape import write_metrics
metrics.STREAM_READERS.set(2)
print(write_metrics({metrics.DATABASE_UP: {(): 1}}).decode())
"""


def run(program: str, folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_counters_of_ended_processes_stay_and_their_gauges_go(tmp_path: Path) -> None:
    run(PROCESS, tmp_path)
    run(PROCESS, tmp_path)

    text = run(SCRAPE, tmp_path).splitlines()

    assert 'convengine_turn_seconds_count{outcome="ok"} 2.0' in text
    assert 'convengine_turn_seconds_count{outcome="failed"} 0.0' in text
    assert "convengine_stream_readers 2.0" in text
    assert not [line for line in text if line.startswith("convengine_release{")]
    assert "convengine_database_up 1.0" in text


def test_one_process_without_a_folder_shows_its_own_numbers() -> None:
    metrics.JOB_SECONDS.observe(0.2, "one_job", "ok")

    text = write_metrics({metrics.JOB_OVERDUE_SECONDS: {("one_job",): 5.0}}).decode()

    assert 'convengine_job_seconds_count{job="one_job",outcome="ok"} 1.0' in text
    assert 'convengine_job_overdue_seconds{job="one_job"} 5.0' in text
