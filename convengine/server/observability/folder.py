"""The folder in which the processes of an installation store their numbers: a fresh one for each start of `serve`.

A scrape shows the numbers of all of them, and what the scraped process reads at this moment.
"""

import os
import re
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from convengine.server.observability.metric import Gauge, flush

#: The library reads it when it is imported, so it is set before the processes start.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
#: Memory, not disk: a process dies when it writes to a mapped file of a full disk.
_MEMORY = Path("/dev/shm")  # noqa: S108
_PREFIX = "convengine-metrics-"
_NAME = re.compile(rf"{_PREFIX}(\d+)-")
#: A file of the values of one process.
_FILE = re.compile(r"(counter|histogram|gauge_live\w+)_(\d+)\.db")
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Values by the values of the labels, for each metric that is read at the scrape.
Readings = Mapping[Gauge, Mapping[tuple[str, ...], float]]


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
