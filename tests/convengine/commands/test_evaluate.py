"""`convengine evaluate` on the configuration of a project, and on files of other systems."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from django.core.management import CommandError, call_command

from config_admin.tables.classifier import CeIntentClassifier
from convengine.cli.main import main
from tests.worlds import create_help_desk

NLU = """nlu:
- intent: repair
  examples: |
    - mend my flat [tyre](part)
    - a flat tyre to mend
    - repair the tyre
- intent: buy
  examples: |
    - buy a new bicycle
    - a bicycle to buy
    - I would buy that bicycle
"""


@pytest.fixture
def desk(db: None) -> None:
    create_help_desk()
    phrases = {"HOURS": ["when do you open", "until when do you open"], "FEES": ["what does it cost", "the cost of it"]}
    for intent, texts in phrases.items():
        for text in texts:
            CeIntentClassifier.objects.create(intent_code=intent, state_code="IDLE", rule_type="PHRASE", pattern=text)


@pytest.mark.usefixtures("desk")
def test_without_a_file_the_phrases_of_the_configuration_are_cross_validated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("evaluate", "--json", "--fail-under", "recall=0.5")
    document = json.loads(capsys.readouterr().out)

    assert (document["configuration"], document["kind"]) == ("live", "cross-validation")
    assert {each["intent"]: each["messages"] for each in document["intents"]["intents"]} == {"HOURS": 2, "FEES": 2}


@pytest.mark.usefixtures("desk")
def test_labelled_messages_are_measured_and_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, report = tmp_path / "messages.csv", tmp_path / "reports" / "junit.xml"
    file.write_text("message,intent\nyour fees?,FEES\nwhen do you open,HOURS\nyour fees again,HOURS\n")
    with pytest.raises(SystemExit) as ended:
        call_command("evaluate", str(file), "--fail-under", "precision=0.9", "--junit", str(report))
    printed = capsys.readouterr()

    assert ended.value.code == 1
    assert "Not reached: precision 0.667, at least 0.9 is required." in printed.err
    assert "   1  HOURS → FEES" in printed.out
    assert Xml.parse(report).getroot().get("failures") == "1"


@pytest.mark.usefixtures("desk")
def test_what_cannot_be_evaluated_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("evaluate", str(tmp_path / "none.csv"))
    assert ended.value.code == 2
    assert "none.csv: cannot be read" in capsys.readouterr().err
    with pytest.raises(CommandError) as refused:
        call_command("evaluate", "--configuration", "draft:99")
    assert refused.value.returncode == 2


def test_files_of_rasa_are_cross_validated_without_a_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nlu.yml").write_text(NLU)
    arguments = ["evaluate", "--cross-validate", str(tmp_path), "--folds", "3"]

    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("6 messages: precision 1.000")
    assert main([*arguments, "--fail-under", "recall=0"]) == 0
    assert main(["evaluate", "--cross-validate", str(tmp_path), "--folds", "1"]) == 2


def test_a_file_beside_a_corpus_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", "more.csv", "--intents", "corpus.json"])
    assert ended.value.code == 2
    assert "FILE cannot be combined with" in capsys.readouterr().err
