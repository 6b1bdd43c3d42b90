"""Labelled messages from files."""

import gzip
from pathlib import Path

import pytest

from convengine.evaluation.labelled import LabelledMessage, read_files, read_upload
from convengine.evaluation.read import EvaluationError

REPAIR = LabelledMessage("mend my tyre", "REPAIR", {"day": "Monday"}, {"asked": "day"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "message,intent,values.day,values.size,asked\nmend my tyre,REPAIR,Monday,,day\n"),
        ("a.csv", "\ufefftext; label; values.day; asked\nmend my tyre;REPAIR;Monday;day\n"),
        ("a.jsonl", '{"message": "mend my tyre", "intent": "REPAIR", "values": {"day": "Monday"}, "asked": "day"}\n\n'),
        ("a.yaml", "- {text: mend my tyre, intent: REPAIR, values: {day: Monday}, asked: day}\n"),
    ],
)
def test_a_message_has_its_intent_and_its_values(name: str, text: str) -> None:
    (message,) = read_upload(name, text.encode()).messages

    assert message == LabelledMessage(
        *[getattr(REPAIR, key) for key in ("text", "intent", "values", "situation")], message.source
    )
    assert message.source.startswith(f"{name}, ")


def test_a_blank_intent_means_none_of_them_and_a_missing_one_no_label() -> None:
    text = '{"message": "hm", "intent": null}\n{"message": "on Monday", "values": {"day": "Monday"}}'

    assert [message.intent for message in read_upload("a.jsonl", text.encode()).messages] == ["", None]


def test_words_that_yaml_reads_as_values_stay_words() -> None:
    text = "- {message: no, intent: 'NO'}\n- {message: 2026-05-01, intent: DATE}"

    assert [message.text for message in read_upload("a.yml", text.encode()).messages] == ["no", "2026-05-01"]


def test_a_folder_gives_all_its_files_in_order(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.jsonl.gz").write_bytes(gzip.compress(b'{"message": "two", "intent": "B"}'))
    (tmp_path / "a.csv").write_text("message,intent\none,A\n")
    (tmp_path / "domain.yml").write_text("version: '3.1'\nintents: [A, B]\n")
    (tmp_path / "notes.txt").write_text("nothing")

    files = read_files([tmp_path])

    assert [(message.text, message.source) for message in files.messages] == [
        ("one", "a.csv, line 2"),
        ("two", "b/two.jsonl.gz, line 1"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.txt", "x", "the name must end with .csv, .jsonl, .yaml, .yml"),
        ("a.csv", "phrase,intent\nx,A\n", "a.csv, line 1: there is no column called message"),
        ("a.csv", "message,intent\n", "the file has no labelled messages"),
        ("a.jsonl", '{"message": "x"}\n{"message"', "a.jsonl, line 2: the file is not valid JSON"),
        ("a.jsonl", '["x", "A"]', "a.jsonl, line 1: write an object"),
        ("a.jsonl", '{"message": 4}', "a.jsonl, line 1: the message must be a text"),
        ("a.jsonl", "[" * 100_000, "a.jsonl, line 1: the file is not valid JSON"),
        ("a.jsonl", '{"message": "x", "held": 5}', "a.jsonl, line 1: `held` must be an object"),
        ("a.csv", "message,offered\nx,three\n", "a.csv, line 2: `offered` must be an object"),
        ("a.jsonl", '{"message": "x", "now": 5}', "a.jsonl, line 1: `now` must be a time"),
        ("a.csv", "message,now\nx,today\n", "a.csv, line 2: `now` must be a time"),
        ("a.jsonl", '{"message": "x", "locale": ["en"]}', "a.jsonl, line 1: `locale` must be a text"),
        ("a.jsonl", f'{{"message": "{"x" * 16_001}"}}', "a.jsonl, line 1: a message has at most 16,000 characters"),
        ("a.yaml", "- a: [", "a.yaml, line 1: the file is not valid YAML"),
        ("a.yaml", "- {intent: A}", "a.yaml, entry 1: there is no key called message"),
    ],
)
def test_a_file_that_cannot_be_read_says_where_and_why(name: str, text: str, problem: str) -> None:
    with pytest.raises(EvaluationError, match=name) as refused:
        read_upload(name, text.encode())

    assert problem in str(refused.value)


def test_a_separator_of_lines_in_a_message_does_not_end_its_line() -> None:
    (message,) = read_upload("a.jsonl", '{"message": "one\u2028two", "intent": "A"}\r\n'.encode()).messages

    assert message.text == "one\u2028two"


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(b'{"message": "x", "intent": "A"}\n' * 1000))
    content[20] ^= 0xFF
    (tmp_path / "a.jsonl.gz").write_bytes(content)

    with pytest.raises(EvaluationError, match=r"a\.jsonl\.gz: cannot be read"):
        read_files([tmp_path / "a.jsonl.gz"])


def test_a_text_in_another_encoding_is_refused() -> None:
    with pytest.raises(EvaluationError, match="UTF-8"):
        read_upload("a.csv", "message,intent\nöl,A\n".encode("latin-1"))


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"nothing\.csv: cannot be read: No such file"):
        read_files([tmp_path / "nothing.csv"])
    with pytest.raises(EvaluationError, match="no file in this folder"):
        read_files([tmp_path])
