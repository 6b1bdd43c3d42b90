"""A server starts again when the files of extensions change."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from convengine.server import wiring
from convengine.server.startup.reload import ExtensionWatcher, find_extension_files, run_with_reload


@pytest.fixture
def shop(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of extensions, loaded in place of those of this installation."""
    folder = tmp_path / "reloaded_shop"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "prices.py").write_text("PRICE = 1\n")
    (folder / "extensions.py").write_text("from reloaded_shop.prices import PRICE\n")
    monkeypatch.syspath_prepend(tmp_path)
    settings.CONVENGINE = {**settings.CONVENGINE, "EXTENSIONS": ["reloaded_shop.extensions"]}
    wiring.load_extensions.cache_clear()
    wiring.load_extensions()
    yield folder
    wiring.load_extensions.cache_clear()
    wiring.engine.cache_clear()
    for name in [name for name in sys.modules if name.startswith("reloaded_shop")]:
        del sys.modules[name]


def change(file: Path, text: str) -> None:
    """Write a file so that its time differs for sure."""
    file.write_text(text)
    later = file.stat().st_mtime_ns + 10_000_000
    os.utime(file, ns=(later, later))


def test_a_change_of_a_module_of_the_package_is_noticed_once(shop: Path) -> None:
    watcher = ExtensionWatcher()
    assert not watcher.has_changed()

    change(shop / "prices.py", "PRICE = 2\n")

    assert watcher.has_changed()
    assert not watcher.has_changed()


def test_a_server_starts_again_at_each_change_until_it_ends_by_itself(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first start changes a file and waits; the second ends."""
    program = (
        "import pathlib, sys, time\n"
        f"started = pathlib.Path({str(tmp_path / 'started')!r})\n"
        "if started.exists():\n    sys.exit(7)\n"
        "started.touch()\n"
        f"pathlib.Path({str(shop / 'prices.py')!r}).write_text('PRICE = 300')\n"
        "time.sleep(60)\n"
    )
    told: list[str] = []
    monkeypatch.setattr("signal.signal", lambda *given: None)

    assert run_with_reload([sys.executable, "-c", program], told.append) == 7
    assert told == ["Extensions changed: starting again."]


@pytest.mark.long
def test_a_server_ends_with_the_process_that_watches(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    server = f"import os, pathlib, time; pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid())); time.sleep(60)"
    code = (
        "import sys\nimport django\ndjango.setup()\n"
        "from convengine.server.startup.reload import run_with_reload\n"
        f"run_with_reload([sys.executable, '-c', {server!r}], print)\n"
    )
    watching = subprocess.Popen([sys.executable, "-c", code])
    try:
        pid = wait_for(lambda: int(pid_file.read_text()))
        watching.terminate()

        assert watching.wait(20) == 128 + signal.SIGTERM
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    finally:
        watching.kill()


def wait_for(read: Callable[[], int]) -> int:
    """The number, as soon as it can be read."""
    for _ in range(300):
        try:
            return read()
        except (OSError, ValueError):
            time.sleep(0.1)
    raise TimeoutError


def test_a_file_that_is_removed_while_the_files_are_listed_counts_as_removed(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiring.load_extensions()
    read = Path.stat

    def fail_for_prices(file: Path, **options: Any) -> Any:
        if file.name == "prices.py":
            raise FileNotFoundError(file)
        return read(file, **options)

    monkeypatch.setattr(Path, "stat", fail_for_prices)

    assert {file.name for file in find_extension_files()} == {"__init__.py", "extensions.py"}
