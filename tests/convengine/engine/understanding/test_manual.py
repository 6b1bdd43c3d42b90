"""The examples of docs/extraction.md are true."""

import json
import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml

from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm, fold_label, list_labels, make_lexicon
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.span import Situation
from convengine.engine.understanding.understand import understand

SITUATION = Situation(datetime(2026, 2, 24, 10, tzinfo=ZoneInfo("Europe/London")), "Europe/London", "en-GB")
PAGE = (Path(__file__).resolve().parents[4] / "docs/extraction.md").read_text()
SCHEMA = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0])
EXAMPLES = re.findall(r"^> (.*?)(?: \[asked: (\w+)\])?\n= (.*)$", PAGE, re.MULTILINE)
TABLES = get_tables("en-GB")
FIELDS = tuple(
    FormField(
        field_spec(name, declared),
        name in SCHEMA["required"],
        list_labels([declared.get("title", name), *declared.get("x-labels", ())]),
        frozenset(fold_label(declared.get("x-ask", ""))),
    )
    for name, declared in SCHEMA["properties"].items()
)


@pytest.mark.parametrize(("message", "asked_path", "expected"), EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_an_example_of_the_manual_is_true(message: str, asked_path: str, expected: str) -> None:
    specs = [item.spec for item in FIELDS]
    understanding = understand(message, TABLES, FINDERS, specs, make_lexicon(FIELDS, TABLES.lexicon))
    form = OpenForm(FIELDS, asked_path=asked_path, is_opener=not asked_path)

    reading = read_into_form(understanding, form, TABLES, FINDERS, SITUATION)

    values = {item.field: item.value for item in reading.taken}
    offers = {f"{item.field}?": item.value for item in reading.offered}
    assert values | offers == json.loads(expected)


def test_there_are_examples_of_all_kinds() -> None:
    assert len(EXAMPLES) > 15
    assert any(expected == "{}" for _, _, expected in EXAMPLES)
    assert any('?"' in expected for _, _, expected in EXAMPLES)
