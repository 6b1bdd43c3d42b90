import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.mmap_dict import MmapedDict

from convengine.server.observability import folder, metrics
from convengine.server.observability.folder import VARIABLE, make_metrics_folder, merge_ended_processes, write_metrics

PROCESS = """
from convengine.server.observability import metrics
metrics.create_initial_series()
metrics.TURN_SECONDS.observe(0.02, "ok")
metrics.STREAM_READERS.set(3)
metrics.RELEASE.set(7)
"""
SCRAPE = """
from convengine.server.observability import metrics
from convengine.server.observability.folder import write_metrics
metrics.STREAM_READERS.set(2)
print(write_metrics({metrics.DATABASE_UP: {(): 1}}).decode())
"""


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_each_start_has_a_folder_of_its_own_and_removes_those_of_dead_ones(tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setattr(folder, "_MEMORY", tmp_path)  # type: ignore[attr-defined]
    left = tmp_path / f"convengine-metrics-{dead_process()}-abc"
    running = tmp_path / f"convengine-metrics-{os.getpid()}-abc"
    other = tmp_path / "something-else"
    for each in (left, running, other):
        each.mkdir()
    environment: dict[str, str] = {}

    make_metrics_folder(environment)

    assert Path(environment[VARIABLE]).is_dir()
    assert (left.exists(), running.exists(), other.exists()) == (False, True, True)


def test_a_user_without_a_name_removes_folders_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_MEMORY", tmp_path)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    left = tmp_path / f"convengine-metrics-{dead_process()}-abc"
    left.mkdir()

    make_metrics_folder({})

    assert not left.exists()


def test_a_folder_that_the_operator_names_is_used(tmp_path: Path) -> None:
    environment = {VARIABLE: str(tmp_path / "mine")}

    make_metrics_folder(environment)

    assert environment == {VARIABLE: str(tmp_path / "mine")}
    assert (tmp_path / "mine").is_dir()


def write_values(file: Path, **values: float) -> None:
    written = MmapedDict(str(file))
    for name, value in values.items():
        written.write_value(name, value, 0.0)
    written.close()


def test_the_files_of_ended_processes_go_and_their_counters_stay_in_one(tmp_path: Path) -> None:
    alive, killed = os.getpid(), dead_process()
    for pid in (dead_process(), dead_process(), alive):
        write_values(tmp_path / f"counter_{pid}.db", turns=2, calls=1)
        write_values(tmp_path / f"gauge_livesum_{pid}.db", memory=7)
    (tmp_path / f"histogram_{killed}.db").touch()

    for _ in range(2):
        with merge_ended_processes(tmp_path):
            pass

    kept = {f"counter_{alive}.db", f"gauge_livesum_{alive}.db", "counter_ended.db", "histogram_ended.db", "lock"}
    assert {file.name for file in tmp_path.iterdir()} == kept
    ended = MmapedDict.read_all_values_from_file(tmp_path / "counter_ended.db")
    assert {key: value for key, value, *_ in ended} == {"turns": 4, "calls": 2}


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
