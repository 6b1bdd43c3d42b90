"""A corpus of intents: `convengine evaluate --intents`."""

import json
from pathlib import Path
from typing import Any

import pytest

from convengine.cli.main import main

CORPUS: Any = {
    "intents": {
        "Repair": ["mend my flat tyre", "the brakes are broken"],
        "buy": ["I want to buy a bicycle", "the brakes of a new model"],
    },
    "test": [["my tyre is flat, please mend it", "Repair"], ["what a day", None], ["buying a bicycle", "buy"]],
}


def write(folder: Path, corpus: Any = CORPUS) -> str:
    file = folder / "corpus.json"
    file.write_text(json.dumps(corpus))
    return str(file)


def test_each_message_gives_its_decision_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--intents", write(tmp_path)]) == 0
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [list(result) for result in results] == [["message", "decision", "confidence", "ranked"]] * 3
    assert [result["message"] for result in results] == [message for message, _ in CORPUS["test"]]
    assert [result["decision"] for result in results] == ["Repair", None, "buy"]
    assert results[0]["ranked"][0] == ["Repair", results[0]["confidence"]]


def test_only_the_first_phrases_of_each_intent_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write(tmp_path, {**CORPUS, "test": [["the brakes of a new model", "buy"]]})

    assert main(["evaluate", "--intents", corpus, "--phrases", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["decision"] is None


def test_a_score_prints_the_measures_and_judges_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", "--intents", write(tmp_path), "--score", "--json", "--fail-under"]

    assert main([*arguments, "recall=1,precision=1"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["intents"]["precision"], document["intents"]["recall"]) == ("corpus", 1.0, 1.0)
    assert main([*arguments, "taken=0.5"]) == 1


@pytest.mark.parametrize("options", [["--fail-under", "recall=0.9"], ["--junit", "report.xml"], ["--phrases", "0"]])
def test_an_option_that_would_judge_nothing_is_refused(options: list[str], tmp_path: Path) -> None:
    assert main(["evaluate", "--intents", write(tmp_path), *options]) == 2


@pytest.mark.parametrize(
    ("corpus", "problem"),
    [
        ([], "write {"),
        ({"intents": {"A": "x"}}, ", A: the phrases of an intent are a list"),
        ({"intents": {}, "test": [["x"]]}, ", test 1: write [message, code]"),
    ],
)
def test_a_corpus_in_another_form_is_refused(
    corpus: Any, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "--intents", write(tmp_path, corpus)]) == 2
    assert problem in capsys.readouterr().err
