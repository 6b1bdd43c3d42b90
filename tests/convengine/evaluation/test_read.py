"""`convengine evaluate --read`: a stable face for corpora."""

import gzip
import json
from pathlib import Path

import pytest

from convengine.cli.main import main
from convengine.evaluation.read import CorpusReader
from convengine.evaluation.read_score import ReadOutcome, judge
from convengine.json_value import Json

FORM: Json = {
    "type": "object",
    "title": "Order cakes",
    "properties": {
        "cakes": {"type": "integer", "title": "Cakes"},
        "day": {"type": "string", "format": "date", "title": "Day"},
        "size": {"type": "string", "enum": ["small", "large"], "title": "Size"},
        "note": {"type": "string", "title": "Note"},
    },
    "required": ["cakes", "day", "size"],
}
KEYS = ["taken", "offered", "refused", "cleared", "positions", "moves", "answer", "lost", "overwritten"]


def write(folder: Path, *lines: Json) -> tuple[str, str]:
    """The files of a corpus and its forms."""
    corpus, forms = folder / "corpus.jsonl.gz", folder / "forms.json"
    with gzip.open(corpus, "wt", encoding="utf-8") as text:
        text.writelines(f"{json.dumps(line)}\n" for line in lines)
    forms.write_text(json.dumps({"cakes": FORM}))
    return str(corpus), str(forms)


def test_each_line_gives_its_result_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, forms = write(
        tmp_path,
        {"form": "cakes", "say": "4 March", "asked": "day"},
        {"form": FORM, "say": "a large cake", "asked": "size"},
        {"form": "cakes", "say": "yes please", "confirming": True, "held": {"cakes": 2}},
    )

    assert main(["evaluate", "--read", corpus, "--forms", forms]) == 0
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [list(result) for result in results] == [KEYS] * 3
    assert [result["taken"] for result in results] == [{"day": "2019-03-04"}, {"size": "large"}, {}]
    assert results[0]["positions"] == {"day": [0, 7]}
    assert [result["answer"] for result in results] == [None, None, "yes"]


def test_the_clock_and_the_language_of_a_line_count() -> None:
    line = {"form": "cakes", "say": "morgen", "asked": "day", "now": "2026-05-01T10:00:00+02:00", "locale": "de-DE"}

    assert CorpusReader({"cakes": FORM}).read(line).taken == {"day": "2026-05-02"}


def test_a_score_is_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = {"form": "cakes", "say": "4 March", "asked": "day", "values": {"day": "2019-03-04", "cakes": 2}}
    corpus, forms = write(tmp_path, line)

    assert main(["evaluate", "--read", corpus, "--forms", forms, "--score"]) == 0

    assert "date asked              1   100.0 %" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("labels", "outcomes"),
    [
        ({"values": {"day": "2019-03-04"}}, {"day": ReadOutcome.RIGHT}),
        ({"values": {"day": "2019-03-05"}}, {"day": ReadOutcome.WRONG}),
        ({"values": {"cakes": 4}}, {"cakes": ReadOutcome.MISSED, "day": ReadOutcome.INVENTED}),
        ({"values": {}, "offered": {"day": "2019-03-04"}}, {}),
        ({"spans": {"day": [3, 10]}}, {"day": ReadOutcome.RIGHT}),
        ({"spans": {"day": [0, 2]}}, {"day": ReadOutcome.WRONG}),
    ],
)
def test_a_label_says_what_became_of_a_value(labels: Json, outcomes: dict[str, ReadOutcome]) -> None:
    line = {"form": "cakes", "say": "on 4 March", "asked": "day", **labels}

    assert judge(line, CorpusReader({"cakes": FORM}).read(line)) == outcomes


def test_a_form_that_nobody_declares_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, forms = write(tmp_path, {"form": "bread", "say": "hello"})

    assert main(["evaluate", "--read", corpus, "--forms", forms]) == 2
    assert "'bread'" in capsys.readouterr().err


def test_a_form_that_cannot_be_used_is_refused_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, forms = write(tmp_path, {"form": {"type": "object"}, "say": "hello"})

    assert main(["evaluate", "--read", corpus, "--forms", forms]) == 2
    assert "The form cannot be used: json_schema must be an object schema" in capsys.readouterr().err


@pytest.mark.parametrize("given", [{"held": "x"}, {"held": 5}, {"now": "today"}, {"now": 5}, {"locale": ["en"]}])
def test_a_line_with_a_situation_that_cannot_be_read_is_named(
    given: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, forms = write(tmp_path, {"form": "cakes", "say": "hello"}, {"form": "cakes", "say": "hello", **given})

    assert main(["evaluate", "--read", corpus, "--forms", forms]) == 2
    assert f"corpus.jsonl.gz, line 2: `{next(iter(given))}` must be" in capsys.readouterr().err


def test_forms_that_are_no_object_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, forms = write(tmp_path, {"form": "cakes", "say": "hello"})
    Path(forms).write_text("[1]")

    assert main(["evaluate", "--read", corpus, "--forms", forms]) == 2
    assert "forms.json: write an object" in capsys.readouterr().err


def test_an_archive_that_is_cut_off_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, forms = write(tmp_path, {"form": "cakes", "say": "hello"})
    Path(corpus).write_bytes(Path(corpus).read_bytes()[:-12])

    assert main(["evaluate", "--read", corpus, "--forms", forms]) == 2
    assert "corpus.jsonl.gz: cannot be read" in capsys.readouterr().err
