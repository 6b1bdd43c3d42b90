"""What is kept of an answer to a question for a text: a line of `texts.yaml`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from convengine.evaluation.read import FormReader
from convengine.json_value import Json

WORLD = yaml.safe_load(Path(__file__).with_name("texts.yaml").read_text("utf-8"))


def _list_cases() -> Iterator[Any]:
    for question in WORLD["questions"]:
        for answer in question["answers"]:
            yield pytest.param(question, answer, id=f"{question['title']}: {answer['say']}")


@pytest.mark.parametrize(("question", "answer"), [*_list_cases()])
def test_a_text_is_kept(question: dict[str, str], answer: dict[str, str]) -> None:
    beside = {name: {"type": "string", **declared} for name, declared in WORLD["beside"].items()}
    asked: Json = {"type": "string", "title": question["title"], "x-ask": question["asks"]}
    reader = FormReader({"type": "object", "title": "Form", "properties": {"asked": asked, **beside}})
    line = {"asked": "asked", "question": question["asks"], "say": answer["say"], "held": {"code": "PL4N8Z"}}
    taken = reader.read(line | {"now": WORLD["clock"], "locale": WORLD["locale"]}).taken
    kept = answer.get("kept")
    assert taken.get("asked") == (answer["say"] if kept == "whole" else kept)
    assert "code" not in taken
