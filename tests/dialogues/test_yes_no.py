"""Answers to yes/no questions, as people write them: a reason instead of a yes, a denial beside one, dialect.

Who wrote them had not seen the engine. Those in `seen` were looked at while the reader was made, those in `unseen`
were read once, at the end. Most that are not understood need knowledge of the world; they are asked again.
"""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from convengine.evaluation.read import FormReader
from convengine.json_value import Json

FOLDER = Path(__file__).parent / "yes_no"
#: The least share of answers that are taken right, and the largest share with a value that nobody meant.
FLOORS = {"seen": (Fraction(72, 100), Fraction(1, 100)), "unseen": (Fraction(65, 100), Fraction(2, 100))}


@pytest.mark.nightly
@pytest.mark.parametrize("half", list(FLOORS))
def test_most_answers_to_yes_no_questions_are_understood(half: str) -> None:
    lines = [json.loads(line) for line in (FOLDER / f"{half}.jsonl").read_text("utf-8").splitlines()]
    least_right, most_wrong = FLOORS[half]
    outcomes = Counter(_judge(line) for line in lines)
    wrong = [line["say"] for line in lines if _judge(line) == "wrong"]
    assert Fraction(outcomes["right"], outcomes["right"] + outcomes["missed"] + outcomes["wrong"]) >= least_right
    assert Fraction(len(wrong), len(lines)) <= most_wrong, "\n".join(wrong)


def _judge(line: dict[str, Json]) -> str:
    """`right` and `missed` are of answers that a clerk would write down, `asked` of those that he would ask about."""
    name = str(line["name"])
    field = {"type": "boolean", "title": line["title"], "x-ask": line["question"]}
    reader = FormReader({"type": "object", "required": [name], "properties": {name: field}})
    asked = {"asked": name, "question": line["question"], "say": line["say"], "locale": line["locale"]}
    taken = reader.read(asked).taken
    if name in taken:
        return "right" if taken[name] is line["value"] else "wrong"
    return "asked" if line["value"] is None else "missed"
