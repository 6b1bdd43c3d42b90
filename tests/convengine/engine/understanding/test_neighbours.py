"""Messages of each kind of fault, written by people who had not seen the reader. Nothing is mended for single ones."""

from pathlib import Path
from typing import Any

import yaml

from convengine.evaluation.read import FormReader

FILE = Path(__file__).parent / "neighbours.yaml"
#: What holds, so that nothing gets worse: messages that are read right, and messages that give a wrong value.
FEWEST_RIGHT, MOST_WRONG = 39, 13


def _read(entry: dict[str, Any], clock: Any) -> dict[str, Any]:
    reader = FormReader({"type": "object", "properties": entry["form"]})
    line = {
        "say": entry["message"],
        "asked": entry.get("asked"),
        "question": entry.get("question"),
        "opener": not entry.get("asked"),
        "now": str(clock).replace("Z", "+00:00"),
        "locale": entry.get("locale", "en-GB"),
    }
    return dict(reader.read(line).taken)


def test_neighbours_of_known_faults_are_read_as_well_as_before() -> None:
    judge = yaml.safe_load(FILE.read_text("utf-8"))
    right, wrong = [], []
    for entry in judge["entries"]:
        taken = _read(entry, judge["clock"])
        expected = [result["taken"] for result in (entry["result"], entry.get("or")) if result]
        if taken in expected:
            right.append(entry["message"])
        elif any(all(result.get(name) != value for result in expected) for name, value in taken.items()):
            wrong.append((entry["message"], taken))

    assert len(right) >= FEWEST_RIGHT, wrong
    assert len(wrong) <= MOST_WRONG, wrong
