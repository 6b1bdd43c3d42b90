"""What people type, and what must be read out of it: nothing wrong, nearly everything right (docs/extraction.md)."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml

from convengine.engine.forms.extract import extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation
from tests.cases import for_each

SITUATION = ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=ZoneInfo("Europe/London")), "Europe/London")
CORPUS = Path(__file__).parent / "corpus"


def utterances() -> Iterator[tuple[str, Form, dict[str, Any]]]:
    for path in sorted(CORPUS.glob("*.yaml")):
        world = yaml.load(path.read_text(), yaml.CSafeLoader)
        form = Form(world["schema"])
        assert form.problem is None
        for utterance in world["utterances"]:
            yield path.stem, form, utterance


def read(form: Form, utterance: dict[str, Any]) -> dict[str, Any]:
    extraction = extract(form, utterance["say"], asked_paths=utterance.get("asked", ()), situation=SITUATION)
    return {finding.field: finding.value for finding in extraction.extracted}


@for_each("name, form, utterance", list(utterances()))
def test_no_wrong_value_is_taken(name: str, form: Form, utterance: dict[str, Any]) -> None:
    wrong = {path: value for path, value in read(form, utterance).items() if utterance["expect"].get(path) != value}

    assert wrong == {}


def test_nine_of_ten_values_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    cases = list(utterances())
    values = [(name, u["say"], path, value, read(f, u)) for name, f, u in cases for path, value in u["expect"].items()]
    misses = [
        f"{name}: {say!r} {path}" for name, say, path, value, read_values in values if read_values.get(path) != value
    ]
    right = len(values) - len(misses)
    with capsys.disabled():
        print(f"\nextraction: {right} of {len(values)} values found in {len(cases)} utterances over", end=" ")
        print(f"{len({name for name, _, _ in cases})} schemas" + "".join(f"\n  missed {line}" for line in misses))

    assert len(cases) >= 100
    assert right >= 0.9 * len(values)
