"""Kinds of tests that run apart from the others, and the files that have them: only those are collected for them."""

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
