"""What `make test` runs: every part is there, none is lost, and each of them can fail the whole."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests import conftest, run
from tests.kinds import SIGNS, list_files, list_share
from tests.run import QUICK, QUICK_SHARES, SHARES, Part, count_at_once, list_parts, main

ROOT = Path(__file__).resolve().parents[1]
OF_TESTS = [f"{number}/{SHARES}" for number in range(1, SHARES + 1)]
NAMES = ["browser", "transactional", *(f"tests {share}" for share in OF_TESTS), "checks"]


def test_everything_is_run_and_each_test_by_one_part_of_postgres() -> None:
    parts = {part.name: part for part in list_parts()}
    marked = {name: part.command[part.command.index("-m") + 1] for name, part in parts.items() if name != "checks"}

    shares = {f"tests {share}": share for share in OF_TESTS}
    assert list(parts) == NAMES
    assert marked == {
        **dict.fromkeys(shares, "not browser and not transactional and not long"),
        "transactional": "transactional and not long",
        "browser": "browser and not long",
    }
    databases = {name: part.environment.get("CE_TEST_DATABASE") for name, part in parts.items()}
    assert {databases[name] for name in [*shares, "transactional"]} == {"postgres"}
    dealt = {name: part.environment.get("CE_TEST_SHARE") for name, part in parts.items()}
    assert dealt == dict.fromkeys(NAMES) | shares | {"transactional": "1/1"}


def test_what_is_long_runs_in_ci_or_nightly() -> None:
    servers, walks, dialects = list_parts(["--long"])
    assert "long and not nightly and not browser" in servers.command
    assert "long and not nightly and browser" in walks.command
    assert "dialects and not nightly" in dialects.command
    assert dialects.environment["CE_TEST_DATABASE"] == "sqlite"
    assert [part.is_patient for part in (servers, walks, dialects)] == [False, True, True]
    servers, browser, examples = list_parts(["--nightly"])
    assert "nightly and not browser" in servers.command
    assert "nightly and browser" in browser.command
    assert examples.environment["CE_TEST_EXAMPLES"] == "all"
    assert (count_at_once(["--nightly"]), count_at_once(["--long"])) == (1, 2)


def test_ci_runs_all_that_must_hold_beside_what_is_long() -> None:
    parts, apart = list_parts(["--ci"]), [*list_parts(["--long"]), *list_parts()]

    assert [(part.name, part.command, part.environment) for part in parts] == [
        (part.name, part.command, part.environment) for part in apart
    ]
    assert len({part.name for part in parts}) == len(parts)
    assert [part.name for part in parts if not part.is_patient] == ["servers"]
    assert count_at_once(["--ci"]) == 2


@pytest.mark.parametrize("count", sorted({1, QUICK_SHARES, SHARES, 7}))
def test_each_file_is_in_one_share_and_only_its_process_collects_it(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    shares = [f"{number}/{count}" for number in range(1, count + 1)]

    files = [file for share in shares for file in list_share(share)]
    assert sorted(files) == sorted((ROOT / "tests").rglob("test_*.py"))
    own = Path(__file__)
    for share in shares:
        monkeypatch.setenv("CE_TEST_SHARE", share)
        assert conftest.pytest_ignore_collect(own) is (None if own in list_share(share) else True)
        assert conftest.pytest_ignore_collect(own.parent) is None
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

    part = Part("one", ("one_part",), {"TOLD": "a word"}, is_patient=at_once)
    assert part.run(at_once=at_once) is holds
    assert ("== one ==\na word" if at_once else "a word") in capfd.readouterr().out


@pytest.mark.parametrize("failing", [*NAMES, ""])
def test_one_part_that_fails_fails_all_and_is_named(
    failing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run.Part, "run", lambda part, *, at_once: part.name != failing)

    assert main([]) == (1 if failing else 0)
    told = capsys.readouterr().out
    assert told.count("passed") == len(NAMES) - bool(failing)
    assert (f"{failing}: FAILED" in told) is bool(failing)


def test_whoever_interrupts_it_is_not_given_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    told = threading.Event()

    class Interrupted(ThreadPoolExecutor):
        def map(self, *given: Any, **more: Any) -> Any:
            super().map(*given, **more)
            assert told.wait(60)
            raise KeyboardInterrupt

        def __exit__(self, *error: Any) -> None:
            ended.set()
            super().__exit__(*error)

    ended = threading.Event()

    def one_part(part: Part, *, at_once: bool) -> bool:
        begun.append(part.name)
        if len(begun) == 4:
            told.set()
        return ended.wait(60)

    monkeypatch.setattr(run.Part, "run", one_part)
    monkeypatch.setattr(run, "ThreadPoolExecutor", Interrupted)
    monkeypatch.setattr(run, "count_at_once", lambda arguments: 4)

    with pytest.raises(KeyboardInterrupt):
        main([])
    assert sorted(begun) == sorted(NAMES[:4])
