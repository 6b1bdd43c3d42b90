import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.values import ReadingSituation, field_spec, language, read_value, say_value
from convengine.engine.values.language import Language, get_country, get_language, list_languages

NOW = datetime(2026, 11, 24, 10, 0, tzinfo=ZoneInfo("Europe/Berlin"))
#: Tables that only some languages need.
OPTIONAL = {"order", "compounds", "trailing_parts", "hour_words", "ordinal_endings", "US", "joins_words"}
#: Lists that are named by `compounds`.
COMPOUNDS = {
    "compound_endings",
    "relative_day_names",
    "month_parts",
    "day_parts",
    "day_part_names",
    "early_words",
    "half_words",
    "hour_names",
}


def test_english_and_german_are_whole() -> None:
    assert {"de", "en"} <= set(list_languages())


@pytest.mark.parametrize("name", list_languages())
@pytest.mark.parametrize("table", ["calendar", "numbers", "words", "say"])
def test_every_language_has_the_tables_of_english(name: str, table: str) -> None:
    english, other = (set(getattr(get_language(code), table)) for code in ("en", name))

    assert other - OPTIONAL - COMPOUNDS == english - OPTIONAL


@pytest.mark.parametrize("name", list_languages())
def test_every_phrase_of_a_language_compiles(name: str) -> None:
    tables = get_language(name)

    for phrase in (*tables.date_phrases, *tables.time_phrases, *tables.duration_phrases):
        assert phrase.pattern.groups >= 0


@pytest.mark.parametrize(
    ("locale", "name"), [("", "en"), ("en-GB", "en"), ("de_AT", "de"), ("DE", "de"), ("xx-XX", "en")]
)
def test_a_locale_has_a_language(locale: str, name: str) -> None:
    assert get_language(locale).name == name


@pytest.mark.parametrize(("locale", "country"), [("en-GB", "GB"), ("de_AT", "AT"), ("en", ""), ("zh-Hant-TW", "TW")])
def test_a_locale_has_a_country(locale: str, country: str) -> None:
    assert get_country(locale) == country


@pytest.fixture
def french(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Language]:
    """A third language: a folder with the tables of English, and some French words."""
    source = Path(language.__file__).parent / "languages"
    for name in ("en", "de"):
        shutil.copytree(source / name, tmp_path / name)
    shutil.copytree(source / "en", tmp_path / "fr")
    for file, words in {
        "calendar.toml": {
            '["monday", "mon"]': '["lundi"]', "tomorrow = 1": "demain = 1",
            'text = ["in {count} {unit}': 'text = ["dans {count} {unit}',
            'week = ["week", "weeks", "wk", "wks"]': 'week = ["semaine", "semaines"]',
        },
        "numbers.toml": {"two = 2": "deux = 2"},
        "say.toml": {"Wednesday": "mercredi", "November": "novembre"},
    }.items():  # fmt: skip
        path = tmp_path / "fr" / file
        text = path.read_text()
        for english, word in words.items():
            assert english in text
            text = text.replace(english, word)
        path.write_text(text)
    monkeypatch.setattr(language, "_get_folder", lambda: tmp_path)
    _clear_caches()
    yield get_language("fr-FR")
    _clear_caches()


def _clear_caches() -> None:
    for cached in (language.list_languages, language.get_language, language._load_language):
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


@pytest.mark.parametrize(
    ("text", "value"), [("demain", "2026-11-25"), ("lundi", "2026-11-30"), ("dans deux semaines", "2026-12-08")]
)
def test_a_third_language_is_a_folder_and_no_code(french: Language, text: str, value: Any) -> None:
    spec = field_spec("date", {"format": "date"})

    assert read_value(spec, text, ReadingSituation(NOW, "Europe/Berlin", "fr-FR")).value == value
    assert say_value(spec, "2026-11-25", "fr-FR") == "mercredi 25 novembre 2026"
