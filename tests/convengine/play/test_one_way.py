"""There is one way to run a turn, one that stores nothing, one format of stubs, one comparison."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PRODUCT = [
    file
    for app in ("convengine", "config_admin", "audit")
    for file in (ROOT / app).rglob("*.py")
    if "migrations" not in file.parts
]


def list_modules(pattern: str) -> list[str]:
    """The modules of the product with a text."""
    found = re.compile(pattern)
    return sorted(file.relative_to(ROOT).as_posix() for file in PRODUCT if found.search(file.read_text("utf-8")))


@pytest.mark.parametrize(
    ("what", "pattern", "modules"),
    [
        (
            "the engine runs a turn that is stored, and one that leaves no trace",
            r"engine\(\)\.run\(",
            ["convengine/play/play.py", "convengine/server/turns/take_turn.py"],
        ),
        (
            "a recorded turn begins again in one place",
            r"release_choice=recorded",
            ["convengine/play/play.py"],
        ),
        (
            "the tapes of recorded turns are chosen in one place",
            r"(?:Playback|Reuse)\(recorded",
            ["audit/replay/replay.py"],
        ),
        (
            "a played turn is compared in one place",
            r"(?m)^def compare_turns\(",
            ["convengine/play/comparison.py"],
        ),
    ],
)
def test_there_is_one_way(what: str, pattern: str, modules: list[str]) -> None:
    assert list_modules(pattern) == modules, what
