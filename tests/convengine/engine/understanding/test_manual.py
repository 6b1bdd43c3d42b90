"""The examples of docs/forms.md are true."""

import json
import re
import tomllib
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml

from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm, fold_label, list_labels, make_lexicon
from convengine.engine.understanding.language import get_tables, read_table
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.span import Situation
from convengine.engine.understanding.understand import understand

SITUATION = Situation(datetime(2026, 2, 24, 10, tzinfo=ZoneInfo("Europe/London")), "Europe/London", "en-GB")
PAGE, EXTENDING = (
    (Path(__file__).resolve().parents[4] / "docs" / name).read_text() for name in ("forms.md", "extending.md")
)
SCHEMA = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0])
EXAMPLES = re.findall(r"^> (.*?)(?: \[asked: (\w+)\])?(?: \[holds: (\{.*\})\])?\n= (.*)$", PAGE, re.MULTILINE)
#: Nobody reads a longer page to its end.
MOST_WORDS = 2000
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


@pytest.mark.parametrize(
    ("message", "asked_path", "held", "expected"), EXAMPLES, ids=[example[0] for example in EXAMPLES]
)
def test_an_example_of_the_manual_is_true(message: str, asked_path: str, held: str, expected: str) -> None:
    specs = [item.spec for item in FIELDS]
    understanding = understand(message, TABLES, FINDERS, specs, make_lexicon(FIELDS, TABLES.lexicon))
    values = json.loads(held or "{}")
    form = OpenForm(FIELDS, values, asked_path, is_opener=not (asked_path or held))

    reading = read_into_form(understanding, form, FINDERS, replace(SITUATION, held=values))

    taken = {item.field: item.value for item in reading.taken}
    offered = {f"{item.field}?": item.value for item in reading.offered}
    refused = {f"{item.field}!": item.reason for item in reading.refused}
    assert taken | offered | refused == json.loads(expected)


def test_there_are_examples_of_all_kinds() -> None:
    assert len(EXAMPLES) > 15
    signs = {sign for *_, expected in EXAMPLES for sign in re.findall(r'^\{\}|[?!]?":', expected)}
    assert signs == {"{}", '":', '?":', '!":'}


def test_the_tables_that_the_manual_quotes_are_those_of_english() -> None:
    quoted = tomllib.loads(re.findall(r"```toml\n(date.*?)```", EXTENDING, re.DOTALL)[0])

    assert [row for row in quoted["date"] if row not in read_table("en", "calendar")["date"]] == []
    for name, words in quoted["classes"].items():
        assert set(words) <= set(read_table("en", "words")["classes"][name])


def test_the_page_stays_short() -> None:
    assert len(re.findall(r"[^\s|]+", PAGE)) <= MOST_WORDS
