"""No function becomes harder to follow: those above the limit are listed, and the list only shrinks (`--write`).

The linter's limit counts branches. This one also counts each `and`, `or`, `x if y else z` and condition of a list.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from radon.complexity import cc_visit
from radon.visitors import Class

from tests.rooms import list_modules
from tests.shrinking import compare

LIMIT = 15
LIST = Path(__file__).parent / "complex_functions.txt"


def main() -> int:
    """0 when no function is above the limit, or above its number in the list."""
    numbers: dict[str, int] = {}
    for name, number in _find_complex():
        numbers[name] = max(number, numbers.get(name, 0))
    return compare(numbers, LIST, limit=LIMIT, remedy="Make it simpler.")


def _find_complex() -> Iterator[tuple[str, int]]:
    for path in list_modules():
        for block in cc_visit(path.read_text("utf-8")):
            if not isinstance(block, Class) and block.complexity > LIMIT:
                yield f"{path.as_posix()} {block.fullname}", block.complexity


if __name__ == "__main__":
    sys.exit(main())
