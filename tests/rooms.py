"""No room grows: the lines of each are listed, and the list only shrinks (`--write`).

An issue that names an ability may raise a room by what it needs, by hand, and says which room pays for it.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.shrinking import compare

APPS = ("convengine", "config_admin", "audit")
#: Where the rooms are one floor deeper.
HOUSES = ("convengine/engine", "convengine/server")
LIST = Path(__file__).parent / "rooms.txt"


def main() -> int:
    """0 when no room has more lines than its number in the list."""
    lines = Counter[str]()
    for path in list_modules():
        lines[_name_room(path)] += len(path.read_text("utf-8").splitlines())
    return compare(lines, LIST, limit=0, remedy="Name the ability in the issue, and the room that pays, in its number.")


def list_modules() -> Iterator[Path]:
    """The modules of the product."""
    for app in APPS:
        yield from (path for path in sorted(Path(app).rglob("*.py")) if "migrations" not in path.parts)


def _name_room(path: Path) -> str:
    floor = 3 if path.as_posix().startswith(HOUSES) else 2
    return "/".join(path.parts[:-1][:floor])


if __name__ == "__main__":
    sys.exit(main())
