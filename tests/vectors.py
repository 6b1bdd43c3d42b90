"""A table of the specification's vectors: how many each chapter has, how many tests carry them, which were amended.

A test carries a vector when its name, or the id of one of its cases, does: `test_POL_V3_…`, `[P2_0_8_3-…]`. One name
may carry several (`test_FB_V1_V2_…`). The marker `amended("R13")` says that a ruling changed it.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from tests.migrated import get_run_folder

#: Chapter: (prefix of the vectors, title, numbers that this version holds).
CHAPTERS: dict[str, tuple[str, Sequence[int]]] = {
    "ENG": ("pipeline-1 1 engine", range(1, 18)),
    "LOC": ("pipeline-1 2 load or create", range(1, 9)),
    "CIA": ("pipeline-1 3 cache inspection", range(1, 6)),
    "RST": ("pipeline-1 4 reset", range(1, 11)),
    "PCB": ("pipeline-1 5 bootstrap", range(1, 6)),
    "AUI": ("pipeline-1 6 user input", range(1, 7)),
    "POL": ("pipeline-1 7 policies", range(1, 13)),
    "DA": ("pipeline-1 8 dialogue act", range(1, 25)),
    "IP": ("pipeline-1 9 interaction policy", range(1, 14)),
    "COR": ("pipeline-1 10 correction", range(1, 21)),
    "AL": ("pipeline-1 11 action lifecycle", range(1, 14)),
    "DIS": ("pipeline-1 12 disambiguation", range(1, 11)),
    "GR": ("pipeline-1 13 guardrail", range(1, 11)),
    "IR": ("pipeline-1 14 intent", range(1, 30)),
    "RRI": ("pipeline-1 15 reset intent", range(1, 8)),
    "FB": ("pipeline-1 16 fallback", range(1, 7)),
    "P2_0_8": ("pipeline-2 0.8 JSON paths", range(0)),
    "P2_1_3": ("pipeline-2 1 container data", range(1, 11)),
    "P2_2_5": ("pipeline-2 2 pending action", range(1, 11)),
    "P2_3_4": ("pipeline-2 3 direct tools", range(1, 11)),
    "P2_4_11": ("pipeline-2 4 planner", range(1, 17)),
    "P2_5_6": ("pipeline-2 5 schema extraction", range(1, 16)),
    "P2_6": ("pipeline-2 6 auto advance", range(1, 8)),
    "P2_7_6": ("pipeline-2 7 rules", range(1, 16)),
    "P2_8_3": ("pipeline-2 8 state graph", range(1, 11)),
    "P2_9_8": ("pipeline-2 9 responses", range(1, 17)),
    "P2_10_2": ("pipeline-2 10 memory", range(1, 9)),
    "P2_11": ("pipeline-2 11 persist conversation", range(1, 8)),
    "P2_13": ("pipeline-2 13 history", range(1, 7)),
    "P2_14_4": ("pipeline-2 14 verbose", range(1, 9)),
    "P2_15_2": ("pipeline-2 15 model calls", range(1, 8)),
    "P2_12": ("pipeline-2 12 end guard", range(1, 6)),
}
_NAME = re.compile(r"(?<![A-Z0-9])(P2_\d+_\d+|P2_\d+|[A-Z]{2,4})((?:_V\d+)+)")
_CASE = re.compile(r"P2_0_8_\w+")

_seen: dict[str, dict[str, bool]] = defaultdict(dict)
_amended: dict[str, set[str]] = defaultdict(set)


def vectors_of(nodeid: str) -> Iterator[tuple[str, str]]:
    """(chapter, vector) for each vector that a test's id names."""
    name = nodeid.rpartition("::")[2]
    for chapter, numbers in _NAME.findall(name):
        if chapter in CHAPTERS:
            for number in re.findall(r"\d+", numbers):
                yield chapter, f"V{number}"
    if case := _CASE.search(name):
        yield "P2_0_8", case.group(0)


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "amended(ruling): a vector that a ruling changed")


def pytest_runtest_logreport(report: Any) -> None:
    if report.when != "call" and not report.failed:
        return
    for chapter, vector in vectors_of(report.nodeid):
        _seen[chapter][vector] = _seen[chapter].get(vector, True) and report.passed
        if "amended" in report.keywords:
            _amended[chapter].add(vector)


def _merge_shares() -> bool:
    """Add what the other processes saw whose tests are shares of the same; False until all of them have ended."""
    number, _, count = os.environ.get("CE_TEST_SHARE", "1/1").partition("/")
    if count == "1":
        return True
    folder = get_run_folder()
    own = {"seen": _seen, "amended": {chapter: sorted(names) for chapter, names in _amended.items()}}
    (folder / f"vectors-{number}.json").write_text(json.dumps(own))
    shares = [json.loads(file.read_text()) for file in folder.glob("vectors-*.json")]
    for share in shares:
        for chapter, vectors in share["seen"].items():
            for vector, passed in vectors.items():
                _seen[chapter][vector] = _seen[chapter].get(vector, True) and passed
        for chapter, names in share["amended"].items():
            _amended[chapter].update(names)
    return len(shares) == int(count)


def missing() -> dict[str, list[str]]:
    """Vectors that no test carried in this run, by chapter."""
    return {
        chapter: [f"V{n}" for n in numbers if f"V{n}" not in _seen[chapter]]
        for chapter, (_, numbers) in CHAPTERS.items()
    }


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not any(_seen.values()) or "tests" not in terminalreporter.config.args or not _merge_shares():
        # Of a part of the tests, the table would only say what is missing.
        return
    write = terminalreporter.write_line
    terminalreporter.section("vectors of the specification")
    write(f"{'chapter':<42} vectors  carried  passing  amended")
    for chapter, (title, numbers) in CHAPTERS.items():
        carried = _seen[chapter]
        total = len(numbers) or len(carried)
        passing = sum(carried.values())
        write(f"{title:<42} {total:>7}  {len(carried):>7}  {passing:>7}  {len(_amended[chapter]):>7}")
    lacking = {chapter: names for chapter, names in missing().items() if names}
    if lacking:
        write("not run: " + "; ".join(f"{chapter} {', '.join(names)}" for chapter, names in lacking.items()))
