"""Lists of numbers that only become smaller: of functions that are hard to follow, and of the lines of rooms."""

import sys
from collections.abc import Mapping
from pathlib import Path


def compare(measured: Mapping[str, int], path: Path, *, limit: int, remedy: str) -> int:
    """0 when everything has its number in the list, or is below the limit if it is not in it.

    What became smaller is no failure after `--write`, which lowers the list; it never says more than before.
    """
    lines = path.read_text("utf-8").splitlines()
    listed = {name: int(number) for name, _, number in (line.rpartition(" ") for line in lines)}
    grown = {name: number for name, number in measured.items() if number > listed.get(name, limit)}
    for name, number in sorted(grown.items()):
        print(f"{name}: {number:,}, at most {listed.get(name, limit):,}. {remedy}")
    smaller = {name for name, number in listed.items() if measured.get(name, 0) < number}
    if "--write" in sys.argv:
        least = {name: min(number, measured.get(name, 0)) for name, number in listed.items() if name in measured}
        path.write_text("".join(f"{name} {number}\n" for name, number in sorted(least.items())), "utf-8")
        smaller = set()
    for name in sorted(smaller):
        print(f"{name}: smaller than listed. Add --write to keep it so.")
    return 1 if grown or smaller else 0
