"""The processor time of process trees, according to the kernel."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(roots: Iterable[int]) -> float:
    """User and system time of these processes and their descendants, including ended ones."""
    parents, ticks = _processes()
    children: dict[int, list[int]] = defaultdict(list)
    for pid, parent in parents.items():
        children[parent].append(pid)
    return sum(ticks[pid] for root in roots for pid in _tree(root, children) if pid in ticks) / _TICK


def _tree(root: int, children: dict[int, list[int]]) -> Iterator[int]:
    yield root
    for child in children[root]:
        yield from _tree(child, children)


def _processes() -> tuple[dict[int, int], dict[int, int]]:
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue  # It has ended meanwhile.
            fields = stat.rpartition(")")[2].split()
            parents[int(entry.name)] = int(fields[1])
            # utime, stime, and both for waited children
            ticks[int(entry.name)] = sum(int(field) for field in fields[11:15])
    return parents, ticks
