"""Customers find the lines of an FAQ, and readers the sections of handbooks, in their own words.

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


#: In these, customers share hardly a word with the FAQ: they were told to.
HARD = ("car_sharing", "garden_centre", "hotel", "instruments", "insurer", "internet", "library", "pool")


@pytest.mark.parametrize(
    ("names", "least_right", "least_precise"),
    [
        pytest.param(JUDGES, 0.68, 0.8, id="judges"),
        pytest.param(CHOSEN_ON, 0.68, 0.85, id="chosen on", marks=pytest.mark.nightly),
        pytest.param(HARD, 0.6, 0.8, id="hard", marks=pytest.mark.nightly),
    ],
)
def test_most_customers_see_their_answer_among_what_is_shown(
    names: Sequence[str], least_right: float, least_precise: float
) -> None:
    measured = summarize_intents([outcome for name in names for outcome in decide(name)])

    strange, asked = measured["noneOfThem"], [each for each in measured["undecided"] if each["intent"]]
    meant = measured["messages"] - strange["messages"]
    only_wrong = [each for each in asked if each["decision"] and each["intent"] not in each["decision"]]
    assert measured["recall"] + measured["near"] >= least_right
    assert measured["precision"] >= least_precise
    assert len(only_wrong) <= 0.24 * meant
    assert strange["claimed"] <= 0.04 * strange["messages"]
    assert strange["asked"] <= 0.7 * strange["messages"]


@pytest.mark.parametrize(
    ("questions", "least_right"), [("plain", 0.6), pytest.param("in_other_words", 0.5, marks=pytest.mark.nightly)]
)
def test_readers_see_the_section_that_answers_among_three(questions: str, least_right: float) -> None:
    outcomes = [
        outcome
        for folder in sorted((FOLDER / "handbooks").iterdir())
        for outcome in read_corpus(
            folder / f"{questions}.json", has_lines=True, documents=folder / "documents"
        ).decide()
    ]

    measured = summarize_intents(outcomes)
    assert measured["near"] >= least_right
    assert measured["noneOfThem"]["asked"] <= 0.6 * measured["noneOfThem"]["messages"]


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
