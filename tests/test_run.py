"""What `make test` runs: every part is there, none is lost, and each of them can fail the whole."""

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests import run
from tests.run import BROWSER_FOLDERS, NOTHING_TO_RUN, Part, lanes, main

ROOT = Path(__file__).resolve().parents[1]


def test_everything_is_run_and_each_test_by_one_part_of_a_database() -> None:
    parts = {part.name: part for lane in lanes([]) for part in lane}

    assert set(parts) == {"checks", "browser", "sqlite", "postgres"}
    assert parts["browser"].command[-4:] == ("-m", "browser", *BROWSER_FOLDERS)
    assert parts["sqlite"].command[-2:] == parts["postgres"].command[-2:] == ("-m", "not browser")
    assert [parts[name].environment["CE_TEST_DATABASE"] for name in ("sqlite", "postgres")] == ["sqlite", "postgres"]
    assert "CE_TEST_DATABASE_ONLY" not in parts["sqlite"].environment


def test_tests_with_a_browser_are_where_they_are_looked_for() -> None:
    marked = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "tests").rglob("test_*.py")
        if "pytest.mark.browser" in file.read_text() and file != Path(__file__)
    }

    assert len(marked) > 20
    assert [name for name in marked if not name.startswith(BROWSER_FOLDERS)] == []


def test_with_arguments_they_are_all_that_is_asked_of_pytest() -> None:
    first, second = lanes(["tests/audit", "-x"])

    assert [part.name for part in (*first, *second)] == ["sqlite", "browser", "postgres"]
    assert {part.command[-2:] for part in (*first, *second)} == {("tests/audit", "-x")}


@pytest.mark.parametrize(("code", "holds"), [(0, True), (1, False), (2, False), (NOTHING_TO_RUN, False), (-9, False)])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_part_holds_as_its_process_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    code: int,
    holds: bool,
    at_once: bool,
) -> None:
    end = f"os.kill(os.getpid(), {-code})" if code < 0 else f"sys.exit({code})"
    (tmp_path / "one_part.py").write_text(f"import os, sys\nprint(os.environ['TOLD'], flush=True)\n{end}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    assert Part("one", ("one_part",), {"TOLD": "a word"}).run(at_once=at_once) is holds
    assert ("== one ==\na word" if at_once else "a word") in capfd.readouterr().out


def test_only_of_what_was_asked_for_a_part_may_have_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one_part.py").write_text(f"import sys\nsys.exit({NOTHING_TO_RUN})\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    assert Part("one", ("one_part",), may_be_empty=True).run(at_once=True)
    assert not any(part.may_be_empty for lane in lanes([]) for part in lane)
    assert all(part.may_be_empty for lane in lanes(["tests/audit"]) for part in lane)


def test_the_second_database_gets_what_touches_one_and_is_not_proven_by_once() -> None:
    asked = ["tests/convengine/test_codec.py", "tests/demo/test_questions.py", "tests/convengine/test_rights.py"]
    environment = {**os.environ, "CE_TEST_DATABASE_ONLY": "true", "PYTEST_XDIST_WORKER": "none"}
    command = [sys.executable, "-m", "pytest", "--collect-only", *asked]
    told = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False).stdout

    assert f"{asked[2]}::test_every_right_of_the_table_is_there" in told
    assert [name for name in asked[:2] if name in told] == []
    shown = re.findall(r"test_nothing_that_is_shown_leads_to_a_refusal\[(\w+)", told)
    assert shown == ["config_admin"]


@pytest.mark.parametrize("failing", ["checks", "sqlite", "browser", "postgres", ""])
def test_one_part_that_fails_fails_all_and_is_named(
    failing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run.Part, "run", lambda part, *, at_once: part.name != failing)

    assert main([]) == (1 if failing else 0)
    told = capsys.readouterr().out
    assert told.count("passed") == (3 if failing else 4)
    assert (f"{failing}: FAILED" in told) is bool(failing)


def test_whoever_interrupts_it_is_not_given_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    told = threading.Event()

    class Interrupted(ThreadPoolExecutor):
        def map(self, *given: Any, **more: Any) -> Any:
            super().map(*given, **more)
            assert told.wait(10)
            raise KeyboardInterrupt

        def __exit__(self, *error: Any) -> None:
            ended.set()
            super().__exit__(*error)

    ended = threading.Event()

    def one_part(part: Part, *, at_once: bool) -> bool:
        begun.append(part.name)
        if len(begun) == 2:
            told.set()
        return ended.wait(10)

    monkeypatch.setattr(run.Part, "run", one_part)
    monkeypatch.setattr(run, "ThreadPoolExecutor", Interrupted)

    with pytest.raises(KeyboardInterrupt):
        main([])
    assert sorted(begun) == ["browser", "checks"]
