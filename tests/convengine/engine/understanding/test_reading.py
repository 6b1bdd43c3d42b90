"""What a message gives to a form: a line of `readings/` is a message with what is taken, offered, refused, emptied."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm, fold_label, list_labels, make_lexicon
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.reading import Reading
from convengine.engine.understanding.span import Situation
from convengine.engine.understanding.understand import understand
from convengine.json_value import Json

FOLDER = Path(__file__).parent / "readings"
#: What a line may say of a reading; what it leaves out is empty, except for `echoes`.
_KEYS = ("takes", "offers", "refuses", "empties", "names")


def _list_cases() -> Iterator[Any]:
    for file in sorted(FOLDER.glob("*.yaml")):
        world = yaml.safe_load(file.read_text("utf-8"))
        for line in world["readings"]:
            yield pytest.param(world, line, id=f"{world['locale']}: {line['say']} ({line.get('asked', 'confirm')})")


def _read(world: dict[str, Json], line: dict[str, Json]) -> Reading:
    fields = tuple(_make_field(name, declared) for name, declared in world["fields"].items())
    held = {name: value for name, value in line.get("held", {}).items() if value is not None}
    asked = line.get("asked", "")
    begins = fold_label(line.get("begins", ""))
    form = OpenForm(
        fields,
        held,
        asked,
        is_asked_again=line.get("again", False),
        is_confirming=not (asked or begins),
        is_opener=bool(begins),
        own_words=frozenset(begins),
    )
    specs, tables = [item.spec for item in fields], get_tables(world["locale"])
    options = form.asked_field.spec.options if form.asked_field else ()
    situation = Situation(
        datetime.fromisoformat(world["clock"]),
        world["time_zone"],
        world["locale"],
        listed_options=tuple(option.value for option in options),
        held=held,
    )
    understanding = understand(line["say"], tables, FINDERS, specs, make_lexicon(fields, tables.lexicon))
    return read_into_form(understanding, form, FINDERS, situation)


def _make_field(name: str, declared: dict[str, Json]) -> FormField:
    spec = field_spec(name, {"type": "string", **declared})
    question = frozenset(fold_label(declared.get("x-ask", "")))
    return FormField(spec, not declared.get("optional"), list_labels([spec.title, name]), question)


@pytest.mark.parametrize(("world", "line"), list(_list_cases()))
def test_a_message_gives_to_the_form_what_it_says(world: dict[str, Json], line: dict[str, Json]) -> None:
    reading = _read(world, line)

    got = {
        "takes": {item.field: item.value for item in reading.taken},
        "offers": {item.field: item.value for item in reading.offered},
        "refuses": {item.field: str(item.reason) for item in reading.refused},
        "empties": list(reading.cleared),
        "names": list(reading.named),
    }
    assert got == {key: line.get(key, type(got[key])()) for key in _KEYS}
    if "echoes" in line:
        assert [item.field for item in reading.taken if item.is_echoed] == line["echoes"]
