"""No function becomes harder to follow: those above the limit are listed, and the list only shrinks.

The linter's limit counts branches. This one also counts each `and`, `or`, `x if y else z` and condition of a list.
`--write` takes what became simpler out of the list, or lowers its number; it never adds one.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from radon.complexity import cc_visit
from radon.visitors import Class

LIMIT = 15
FOLDERS = ("convengine", "config_admin", "audit")
LIST = Path(__file__).parent / "complex_functions.txt"


def main() -> int:
    """0 when no function is above the limit, or above its number in the list."""
    found, listed = dict(_find_complex()), _read_list()
    harder = {name: number for name, number in found.items() if number > listed.get(name, LIMIT)}
    simpler = {name for name, number in listed.items() if found.get(name, LIMIT) < number}
    if "--write" in sys.argv:
        kept = {name: min(number, listed[name]) for name, number in found.items() if name in listed}
        LIST.write_text("".join(f"{name} {number}\n" for name, number in sorted(kept.items())), "utf-8")
        simpler = set()
    for name, number in sorted(harder.items()):
        print(f"{name}: complexity {number}, at most {listed.get(name, LIMIT)}. Make it simpler.")
    for name in sorted(simpler):
        print(f"{name}: simpler than listed. Run: python -m tests.complexity --write")
    return 1 if harder or simpler else 0


def _find_complex() -> Iterator[tuple[str, int]]:
    for folder in FOLDERS:
        for path in sorted(Path(folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield from _find_in(path)


def _find_in(path: Path) -> Iterator[tuple[str, int]]:
    numbers: dict[str, int] = {}
    for block in cc_visit(path.read_text("utf-8")):
        if not isinstance(block, Class) and block.complexity > LIMIT:
            name = f"{path.as_posix()} {block.fullname}"
            numbers[name] = max(block.complexity, numbers.get(name, 0))
    yield from numbers.items()


def _read_list() -> Mapping[str, int]:
    lines = LIST.read_text("utf-8").splitlines()
    return {name: int(number) for name, _, number in (line.rpartition(" ") for line in lines)}


if __name__ == "__main__":
    sys.exit(main())
