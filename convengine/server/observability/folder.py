"""The folder in which the processes of an installation store their numbers: a fresh one for each start of `serve`."""

import os
import re
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

#: The library reads it when it is imported, so it is set before the processes start.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
#: Memory, not disk: a process dies when it writes to a mapped file of a full disk.
_MEMORY = Path("/dev/shm")  # noqa: S108
_PREFIX = "convengine-metrics-"
_NAME = re.compile(rf"{_PREFIX}(\d+)-")
#: A file of the values of one process.
_FILE = re.compile(r"(counter|histogram|gauge_live\w+)_(\d+)\.db")


def make_metrics_folder(environment: MutableMapping[str, str]) -> None:
    """Make the folder and name it in the environment of the processes to start, unless somebody named one.

    Folders of earlier starts whose process has ended are removed.
    """
    if environment.get(VARIABLE):
        Path(environment[VARIABLE]).mkdir(parents=True, exist_ok=True)
        return
    parent = _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    for folder in parent.glob(f"{_PREFIX}*"):
        started = _NAME.match(folder.name)
        if started and not _is_alive(int(started[1])) and _is_own(folder):
            shutil.rmtree(folder, ignore_errors=True)
    environment[VARIABLE] = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent)


def _is_own(folder: Path) -> bool:
    """Whether this user made a folder. The user may have a number without a name, as in some containers."""
    try:
        return folder.lstat().st_uid == os.getuid()
    except OSError:
        return False


@contextmanager
def merge_ended_processes(folder: Path) -> Iterator[None]:
    """Remove the files of processes that ended, and leave the others as they are while inside.

    Their counters are added to one file for all of them, because a counter must not fall.
    """
    with _lock(folder):
        ended: dict[str, list[Path]] = {}
        for file in folder.glob("*.db"):
            match = _FILE.fullmatch(file.name)
            if match and not _is_alive(int(match[2])):
                ended.setdefault(match[1], []).append(file)
        for kind, files in ended.items():
            if not kind.startswith("gauge"):
                _add_up(files, folder / f"{kind}_ended.db")
            for file in files:
                file.unlink()
        yield


def _add_up(files: Sequence[Path], total: Path) -> None:
    """Add the values of files to a total, which is complete at every moment."""
    from prometheus_client.mmap_dict import MmapedDict

    store: Any = MmapedDict
    values: dict[str, float] = {}
    for file in (total, *files):
        # A process that was killed may leave a file that it has only begun.
        with suppress(FileNotFoundError, RuntimeError, ValueError, struct.error):
            for key, value, *_ in store.read_all_values_from_file(file):
                values[key] = values.get(key, 0.0) + value
    unfinished = total.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    merged = store(str(unfinished))
    for key, value in values.items():
        merged.write_value(key, value, 0.0)
    merged.close()
    unfinished.replace(total)


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """One process at a time, where the system can do that."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
