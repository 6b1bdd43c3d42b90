"""What a writer who has not read the tables answers to questions, with the values that are right (`blind/`)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from convengine.evaluation.read import CorpusReader
from convengine.json_value import Json

FOLDER = Path(__file__).with_name("blind")
FORMS = json.loads((FOLDER / "forms.json").read_text("utf-8"))
#: Of 100 answers: how many are taken or asked back where they could mean two things, and how many are taken wrongly.
FEWEST_RIGHT, MOST_WRONG = 85, 1


def is_same(value: Json, right: Json) -> bool:
    if isinstance(value, str) and isinstance(right, str):
        # Offsets follow from the zone.
        return value[:16] == right[:16]
    return value == right


def judge(reader: CorpusReader, line: dict[str, Json]) -> str:
    result, values = reader.read(line), line["values"]
    taken: dict[str, Json] = {**result.taken, **dict.fromkeys(result.cleared)}
    if any(field not in values or not is_same(value, values[field]) for field, value in taken.items()):
        return "wrong"
    if not values:
        return "right"
    return "right" if taken.keys() == values.keys() or result.offered.keys() & values.keys() else "missed"


def list_judged(language: str) -> Iterator[tuple[str, dict[str, Json]]]:
    reader = CorpusReader(FORMS)
    for line in map(json.loads, (FOLDER / f"{language}.jsonl").read_text("utf-8").splitlines()):
        yield judge(reader, line), line


@pytest.mark.parametrize("language", [file.stem for file in sorted(FOLDER.glob("*.jsonl"))])
def test_most_values_are_taken_and_hardly_any_is_wrong(language: str) -> None:
    judged = [*list_judged(language)]
    shares = {each: 100 * sum(outcome == each for outcome, _ in judged) / len(judged) for each in ("right", "wrong")}
    others = "\n".join(f"{outcome}: {line['id']} {line['say']}" for outcome, line in judged if outcome != "right")
    assert (shares["right"] >= FEWEST_RIGHT, shares["wrong"] <= MOST_WRONG) == (True, True), f"{shares}\n{others}"
