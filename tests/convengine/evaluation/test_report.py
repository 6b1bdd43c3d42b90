"""Reports of evaluations."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from convengine.evaluation.measures import summarize_intents
from convengine.evaluation.read import EvaluationError
from convengine.evaluation.report import (
    format_evaluation,
    format_junit,
    parse_thresholds,
    write_junit,
    write_rasa_files,
)
from tests.convengine.evaluation.test_measures import OUTCOMES

DOCUMENT: dict[str, Any] = {"notes": ["A note."], "intents": summarize_intents(OUTCOMES), "fields": None}


def test_the_report_names_confusions_with_the_phrase_that_caused_them() -> None:
    lines = list(format_evaluation(DOCUMENT))

    assert lines[:3] == [
        "A note.",
        "8 messages: precision 0.400, recall 0.333, asked rightly 0.167, right one among the first three 0.667",
        "Averages weighted by messages: precision 0.444, recall 0.333, F1 0.355",
    ]
    at = lines.index("Confusions")
    assert lines[at + 1 : at + 3] == ["   2  BUY → REPAIR", "        “b” by “phrase of REPAIR” (0.80)"]
    assert "   1  none of them → BUY" in lines
    at = lines.index("Asked, or not understood")
    assert lines[at + 1 : at + 3] == [
        "      BUY: “d” → asked: REPAIR or BUY",
        "      REPAIR: “f” → nothing, nearest REPAIR",
    ]
    assert lines[-2:] == [
        "BUY            4      1      1      2       0      1      0.500   0.250  0.333",
        "REPAIR         2      1      0      0       1      2      0.333   0.500  0.400",
    ]


def test_the_files_of_rasa_name_measures_confusions_and_errors(tmp_path: Path) -> None:
    write_rasa_files(DOCUMENT["intents"], tmp_path / "results")

    report, errors = (
        json.loads((tmp_path / "results" / f"intent_{name}.json").read_text()) for name in ("report", "errors")
    )
    buy = {"precision": 0.5, "recall": 0.25, "f1-score": 0.3333, "support": 4, "confused_with": {"REPAIR": 2}}
    assert report["BUY"] == buy
    assert report["accuracy"] == 0.3333
    assert report["weighted avg"] == {"precision": 0.4444, "recall": 0.3333, "f1-score": 0.3555, "support": 6}
    assert report["macro avg"]["support"] == 6
    predicted = {error["text"]: error["intent_prediction"]["name"] for error in errors}
    assert predicted == {"b": "REPAIR", "c": "REPAIR", "g": "BUY", "d": None, "f": None}


def test_junit_fails_where_a_required_measure_is_not_reached() -> None:
    suite = Xml.fromstring(write_junit(DOCUMENT, parse_thresholds("precision=0.4,recall=0.5"), 1.5))

    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    failed = [
        (case.get("name"), failure.get("message"))
        for case in suite.iter("testcase")
        for failure in case.iter("failure")
    ]
    assert failed == [("recall", "recall 0.333, at least 0.5 is required")]
    faults = {case.get("name"): case.findtext("system-out") for case in suite.iter("testcase")}
    assert faults["BUY"] == ("precision 0.500, recall 0.250, 4 messages\n→ REPAIR: b\n→ REPAIR: c\n→ REPAIR or BUY: d")


@pytest.mark.parametrize("text", ["recall", "recall=x", "recall=2", "recall=nan", "accuracy=0.9"])
def test_a_measure_that_cannot_be_required_is_refused(text: str) -> None:
    with pytest.raises(EvaluationError, match=r"write recall=0\.9"):
        parse_thresholds(text)


def test_what_was_not_measured_is_not_reached() -> None:
    (threshold,) = parse_thresholds("taken=0")

    assert not threshold.is_reached(DOCUMENT)


def test_what_xml_cannot_hold_is_left_out_of_texts_and_of_attributes() -> None:
    case = Xml.Element("testcase", name="a\x01\ud800b")
    Xml.SubElement(case, "system-out").text = "c\ufffe\x0bd\te\U0001f600"

    ((read,),) = Xml.fromstring(format_junit("a", [case], 0.0))
    assert (read.get("name"), read[0].text) == ("ab", "cd\te\U0001f600")
