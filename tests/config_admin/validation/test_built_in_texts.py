"""Built-in texts that were copied into rows are offered in the other languages."""

import pytest

from config_admin.validation.built_in_texts import find_built_in_text
from convengine.engine.forms.asking import get_texts
from convengine.engine.understanding.language import list_languages


@pytest.mark.parametrize("language", [name for name in list_languages() if name != "en"])
@pytest.mark.parametrize("name", ["task_failed", "answer_collect", "hand_over"])
def test_a_text_that_is_exactly_a_built_in_one_is_known_in_each_language(name: str, language: str) -> None:
    text = str(get_texts("en")[name])

    assert find_built_in_text(text, "en", language) == get_texts(language)[name]
    assert find_built_in_text(f"{text} ", "en", language) == ""
    assert find_built_in_text(str(get_texts(language)[name]), language, "en") == text


def test_a_confirmation_of_a_flow_and_the_default_of_a_setting_are_known() -> None:
    german = get_texts("de")
    english = get_texts("en")
    question = f"{english['check_values']} {english['confirm']}"

    assert find_built_in_text(question, "en", "de") == f"{german['check_values']} {german['confirm']}"
    closing = german["settings"]["Session/CLOSING_TEXT"]
    assert find_built_in_text(find_built_in_text(closing, "de", "en"), "en", "de") == closing


@pytest.mark.parametrize(("first", "language"), [("en", "pl"), ("pl", "en"), ("en", "en"), ("", "de")])
def test_languages_without_tables_have_none(first: str, language: str) -> None:
    assert find_built_in_text(str(get_texts("en")["confirm"]), first, language) == ""
