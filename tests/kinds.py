"""Which files have the tests of a kind that runs apart, and which are the share of one process among several."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: By kind, what the text of each file has that has such tests. `tests.conftest` refuses a test that is elsewhere.
SIGNS = {
    "browser": r"mark\.browser",
    "dialects": r"mark\.dialects",
    "transactional": r"transaction=True|transactional_db|\bservers\b|\bdoomed\b",
}


@cache
def list_files(kind: str) -> tuple[str, ...]:
    """The test files that may have tests of a kind, from the root of the tree."""
    sign = re.compile(SIGNS[kind])
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return tuple(file.relative_to(ROOT).as_posix() for file in files if sign.search(file.read_text()))


@cache
def list_share(share: str) -> frozenset[Path]:
    """The test files of a share: `1/2` is the first of two. Files that take about as long are dealt out in turn."""
    number, _, count = share.partition("/")
    files = sorted((ROOT / "tests").rglob("test_*.py"), key=_estimate_time, reverse=True)
    return frozenset(files[int(number) - 1 :: int(count)])


def _estimate_time(file: Path) -> tuple[bool, bool, int, Path]:
    text = file.read_text()
    return "mark.slow" in text, "django_db" in text, len(text), file
