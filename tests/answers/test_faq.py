"""Customers find the lines of an FAQ in their own words.

The sets were written by people who had seen neither the engine nor its specification. The first four
chose the figures of `phrases/lines.py`; the others judge them.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from convengine.evaluation.corpus import read_corpus
from convengine.evaluation.measures import IntentOutcome, summarize_intents

FOLDER = Path(__file__).parent
CHOSEN_ON = ("gyms", "museum", "parcels", "sparkasse")
JUDGES = ("bakery", "campsite", "driving_school", "pharmacy")


def decide(name: str) -> list[IntentOutcome]:
    return list(read_corpus(FOLDER / "faq" / f"{name}.json", has_lines=True).decide())


@pytest.mark.parametrize("names", [CHOSEN_ON, JUDGES], ids=["chosen on", "judges"])
def test_most_customers_see_their_answer_among_what_is_shown(names: Sequence[str]) -> None:
    measured = summarize_intents([outcome for name in names for outcome in decide(name)])

    strange, asked = measured["noneOfThem"], [each for each in measured["undecided"] if each["intent"]]
    meant = measured["messages"] - strange["messages"]
    only_wrong = [each for each in asked if each["decision"] and each["intent"] not in each["decision"]]
    assert measured["recall"] + measured["near"] >= 0.68
    assert measured["precision"] >= 0.8
    assert len(only_wrong) <= 0.22 * meant
    assert strange["claimed"] <= 0.04 * strange["messages"]
    assert strange["asked"] <= 0.7 * strange["messages"]


@pytest.mark.parametrize("name", ["garden_centre", "hotel"])
def test_intents_and_lines_are_hardly_confused(name: str, tmp_path: Path) -> None:
    faq, intents = (json.loads((FOLDER / part / f"{name}.json").read_text()) for part in ("faq", "mixed"))
    lines = {line["code"] for line in faq["lines"]}
    both: dict[str, Any] = {**faq, "intents": intents["intents"], "test": [*intents["test"], *faq["test"]]}
    file = tmp_path / "both.json"
    file.write_text(json.dumps(both))

    outcomes = [outcome for outcome in read_corpus(file, has_lines=True).decide() if outcome.intent and outcome.claimed]
    confused = [outcome.message for outcome in outcomes if (outcome.intent in lines) != (outcome.claimed in lines)]
    assert len(confused) <= 0.03 * len(both["test"]), confused
