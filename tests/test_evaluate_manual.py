"""The examples of docs/evaluate.md: their files are written, their commands run, as a reader would run them."""

import json
import re
import shlex
from pathlib import Path

import pytest

from convengine.cli.main import main
from convengine.evaluation.labelled import read_files

MANUAL = (Path(__file__).resolve().parent.parent / "docs/evaluate.md").read_text()


def read_examples(language: str, heading: str) -> list[str]:
    """The code blocks below a heading."""
    section = MANUAL.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def test_the_corpus_gives_the_result_of_the_manual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, result = read_examples("json", "A corpus of intents")
    (tmp_path / "corpus.json").write_text(corpus)
    monkeypatch.chdir(tmp_path)
    (command,) = re.findall(r"^    convengine (evaluate --intents .*)$", MANUAL, re.MULTILINE)

    assert main(shlex.split(command)) == 0
    first, second = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = json.loads(result)

    assert list(first) == list(expected)
    assert (first["message"], first["decision"], first["ranked"][0][0]) == (
        expected["message"],
        expected["decision"],
        "order",
    )
    assert second["decision"] is None


def test_the_labelled_messages_of_the_manual_are_read(tmp_path: Path) -> None:
    (table,), (line,) = read_examples("csv", "Labelled messages"), read_examples("json", "Labelled messages")
    (tmp_path / "messages.csv").write_text(table)
    (tmp_path / "messages.jsonl").write_text(line)

    first, second, third = read_files([tmp_path / "messages.csv"]).messages
    (same,) = read_files([tmp_path / "messages.jsonl"]).messages

    assert [message.intent for message in (first, second, third)] == ["ORDER_CAKES", "ORDER_CAKES", ""]
    assert (second.text, second.values, second.situation) == (same.text, same.values, same.situation)
