"""A language without tables: its calendar is known, and a number beside a word that nobody reads is only offered."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm, list_labels, make_lexicon
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.span import Situation
from convengine.engine.understanding.understand import understand
from convengine.json_value import Json

NOW = datetime(2026, 11, 26, 10, tzinfo=ZoneInfo("Europe/Warsaw"))


def read(text: str, locale: str, declared: dict[str, Json]) -> tuple[Json, Json]:
    """The value that is taken for the asked field, and the one that is offered."""
    field, tables = FormField(field_spec("field", declared), True, list_labels(["field"])), get_tables(locale)
    message = understand(text, tables, FINDERS, [field.spec], make_lexicon((field,), tables.lexicon))
    situation = Situation(NOW, locale=locale)
    reading = read_into_form(message, OpenForm((field,), asked_path="field"), FINDERS, situation)
    taken, offered = (next((item.value for item in items), None) for items in (reading.taken, reading.offered))
    return taken, offered


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("3 stycznia 1985", "pl-PL"),
        ("3 styczeń 1985", "pl"),
        ("3 ianuarie 1985", "ro-RO"),
        ("3 de enero de 1985", "es-ES"),
        ("3. ledna 1985", "cs-CZ"),
        ("3 января 1985 г.", "ru-RU"),
        ("1985年1月3日", "ja-JP"),
        ("3.1.1985", "pl-PL"),
        ("1985-01-03", "hu-HU"),
    ],
)
def test_a_day_is_read_by_the_calendar_of_its_language(text: str, locale: str) -> None:
    assert read(text, locale, {"format": "date", "x-max": "today"}) == ("1985-01-03", None)


@pytest.mark.parametrize(
    ("text", "declared", "offered"),
    [
        ("urodziłem się 3 stycznia 1985", {"format": "date"}, "1985-01-03"),
        ("najwyżej 4", {"type": "integer"}, 4),
    ],
)
def test_a_value_beside_an_unknown_word_is_offered(text: str, declared: dict[str, Json], offered: Json) -> None:
    assert read(text, "pl-PL", declared) == (None, offered)


def test_no_word_of_another_language_is_mended() -> None:
    assert read("nie 4", "pl-PL", {"type": "integer"}) == (None, 4)
    assert read("4", "pl-PL", {"type": "integer"}) == (4, None)
