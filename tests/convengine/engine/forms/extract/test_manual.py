"""The examples of docs/extraction.md are true."""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml

from convengine.engine.forms.extract import extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation

SITUATION = ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=ZoneInfo("Europe/London")), "Europe/London")
PAGE = (Path(__file__).resolve().parents[5] / "docs/extraction.md").read_text()
FORM = Form(yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]))
EXAMPLES = re.findall(r"^> (.*?)(?: \[asked: (\w+)\])?\n= (.*)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("message", "asked_path", "expected"), EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_an_example_of_the_manual_is_true(message: str, asked_path: str, expected: str) -> None:
    asked_paths = [asked_path] if asked_path else ()
    values: dict[str, Any] = {
        finding.field: finding.value
        for finding in extract(FORM, message, asked_paths=asked_paths, situation=SITUATION).extracted
    }

    assert values == json.loads(expected)


def test_there_are_examples_of_both_kinds() -> None:
    assert FORM.problem is None
    assert len(EXAMPLES) > 20
    assert any(expected == "{}" for _, _, expected in EXAMPLES)
