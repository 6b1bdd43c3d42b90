"""What `make test` runs: every part is there, none is lost, and each of them can fail the whole."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests import conftest, run
from tests.kinds import SIGNS, list_files, list_share
from tests.run import QUICK, SHARES, Part, list_lanes, main

ROOT = Path(__file__).resolve().parents[1]


def test_everything_is_run_and_each_test_by_one_part_of_postgres() -> None:
    parts = {part.name: part for lane in list_lanes() for part in lane}
    marked = {name: part.command[part.command.index("-m") + 1] for name, part in parts.items() if name != "checks"}

    assert marked == {
        "tests 1/2": "not browser and not transactional and not long",
        "tests 2/2": "not browser and not transactional and not long",
        "dialects": "dialects and not long",
        "transactional": "transactional and not long",
        "browser": "browser and not long",
    }
    databases = {name: part.environment.get("CE_TEST_DATABASE") for name, part in parts.items()}
    assert databases["tests 1/2"] == databases["tests 2/2"] == databases["transactional"] == "postgres"
    assert databases["dialects"] == "sqlite"
    shares = {name: part.environment.get("CE_TEST_SHARE") for name, part in parts.items()}
    assert (shares["tests 1/2"], shares["tests 2/2"], shares["transactional"]) == ("1/2", "2/2", None)
    ((servers, browser, examples),) = list_lanes(["--long"])
    assert "long and not browser" in servers.command
    assert "long and browser" in browser.command
    assert examples.environment["CE_TEST_EXAMPLES"] == "all"


def test_each_file_is_in_one_share_and_only_its_process_collects_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (list_share(share) for share in SHARES)

    assert sorted([*first, *second]) == sorted((ROOT / "tests").rglob("test_*.py"))
    own = Path(__file__)
    monkeypatch.setenv("CE_TEST_SHARE", SHARES[0] if own in first else SHARES[1])
    assert conftest.pytest_ignore_collect(own) is None
    assert conftest.pytest_ignore_collect(own.parent) is None
    monkeypatch.setenv("CE_TEST_SHARE", SHARES[1] if own in first else SHARES[0])
    assert conftest.pytest_ignore_collect(own) is True
    monkeypatch.delenv("CE_TEST_SHARE")
    assert conftest.pytest_ignore_collect(own) is None


def test_each_kind_of_test_is_looked_for_in_some_files_only() -> None:
    assert {kind: len(list_files(kind)) > 20 for kind in SIGNS} == dict.fromkeys(SIGNS, True)


def test_a_test_of_a_kind_is_refused_where_nobody_looks_for_it() -> None:
    class Item:
        nodeid = "tests/elsewhere.py::test"
        marks: ClassVar[set[str]] = {"dialects"}

        def get_closest_marker(self, name: str) -> Any:
            return pytest.mark.dialects.mark if name in self.marks else None

    with pytest.raises(pytest.UsageError, match="is dialects, but its file has not"):
        next(conftest.pytest_collection_modifyitems([Item()]))  # type: ignore[list-item]


@pytest.mark.parametrize("path", QUICK)
def test_what_is_quick_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("code", "holds"), [(0, True), (1, False), (2, False), (5, False), (-9, False)])
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


@pytest.mark.parametrize("failing", ["checks", "tests 1/2", "tests 2/2", "dialects", "transactional", "browser", ""])
def test_one_part_that_fails_fails_all_and_is_named(
    failing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run.Part, "run", lambda part, *, at_once: part.name != failing)

    assert main([]) == (1 if failing else 0)
    told = capsys.readouterr().out
    assert told.count("passed") == (5 if failing else 6)
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
        if len(begun) == 4:
            told.set()
        return ended.wait(10)

    monkeypatch.setattr(run.Part, "run", one_part)
    monkeypatch.setattr(run, "ThreadPoolExecutor", Interrupted)

    with pytest.raises(KeyboardInterrupt):
        main([])
    assert sorted(begun) == ["browser", "checks", "tests 1/2", "tests 2/2"]
