"""What Health says about languages: missing texts, languages that nobody speaks, and two settings that disagree."""

import time
from typing import Any

import pytest

from config_admin.health.checks.languages import check_locale, find_missing_translations, find_unlisted_languages
from convengine.engine.turn import rows
from tests.builders import make_intent, make_response
from tests.config_admin.health.run_check import run_check

GERMAN = {"de": {"exact_text": {"text": "Hallo.", "of": "Hello."}}}
DAMAGED: list[Any] = [
    None,
    [],
    "x",
    {"de": []},
    {"de": {"exact_text": "Hallo."}},
    {"de": {"exact_text": {"text": " "}}},
]


def answers(count: int, **values: Any) -> list[rows.Row]:
    return [make_response(exact_text="Hello.", **values) for _ in range(count)]


def setting(key: str, value: str, **values: Any) -> rows.Config:
    return rows.Config(config_id=len(key), config_type="Session", config_key=key, config_value=value, **values)


LISTED = setting("LANGUAGES", "en-GB, de-DE, fr")


def test_missing_texts_are_counted_by_language_and_name_three_rows() -> None:
    off = make_response(exact_text="Off.", enabled=False)
    found = run_check(
        find_missing_translations,
        LISTED,
        make_intent("LOAN", display_name="Loan"),
        off,
        *answers(3),
        *answers(2, translations=GERMAN),
    )

    german, french = found
    assert german.message.startswith("4 texts have no translation into German.")
    assert french.message.startswith("6 texts have no translation into French.")
    assert [len(each.rows) for each in found] == [3, 3]
    assert german.key != french.key


@pytest.mark.parametrize("stored", DAMAGED)
def test_a_damaged_or_blank_translation_is_missing(stored: Any) -> None:
    (german, _) = run_check(find_missing_translations, LISTED, *answers(1, translations=stored))

    assert german.message.startswith("1 text has no translation into German.")
    assert not run_check(find_unlisted_languages, *answers(1, translations=stored))


@pytest.mark.parametrize(
    ("settings", "unlisted"),
    [([], ["de"]), ([setting("LANGUAGES", "en, fr")], ["de"]), ([LISTED], []), ([setting("LANGUAGES", "de")], [])],
)
def test_translations_into_a_language_that_no_setting_lists(settings: list[rows.Row], unlisted: list[str]) -> None:
    found = run_check(find_unlisted_languages, *settings, *answers(4, translations=GERMAN), *answers(1))

    assert [(each.code, each.translation, len(each.rows)) for each in found] == [
        ("LANGUAGE_UNLISTED", language, 3) for language in unlisted
    ]
    assert all("4 rows have translations into German" in each.message for each in found)


@pytest.mark.parametrize(
    ("languages", "locale", "is_found"),
    [("en-GB, de-DE", "fr-FR", True), ("en-GB, de-DE", "de_AT", False), ("en-GB, de-DE", "", False), ("", "fr", False)],
)
def test_the_locale_is_one_of_the_languages(languages: str, locale: str, is_found: bool) -> None:
    both = setting("LANGUAGES", languages), setting("LOCALE", locale)

    assert [each.code for each in run_check(check_locale, *both)] == ["LOCALE_UNLISTED"] * is_found
    assert len(run_check(check_locale, *both, touched=both[1])) == is_found
    assert not run_check(check_locale, *both, answers(1)[0], touched=answers(1)[0])


def test_ten_thousand_rows_are_counted_quickly() -> None:
    many, began = answers(10_000), time.monotonic()

    assert len(run_check(find_missing_translations, LISTED, *many)) == 2
    assert time.monotonic() - began < 2
