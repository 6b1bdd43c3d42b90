"""The translations of a row in its form: what is shown, what is stored, and what two people change at once."""

from typing import Any

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.editing.row_diff import diff_column
from config_admin.releases.change_set import change_set
from convengine.engine.forms.asking import get_texts
from tests.config_admin.admin.pages import a_response, address, fill, form_of, send_again, sent_by
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
GERMAN = "translation_de_exact_text"
FRENCH = "translation_fr_exact_text"


def entry(text: str, of: str = "Hello.", **more: Any) -> dict[str, Any]:
    return {"exact_text": {"text": text, "of": of, **more}}


@pytest.fixture
def languages() -> None:
    make(m.CeConfig, config_type="Session", config_key="LANGUAGES", config_value="en-GB, de-DE, fr")


@pytest.fixture
def row(languages: None) -> m.CeResponse:
    return a_response(exact_text="Hello.", translations={"de": entry("Hallo."), "it": entry("Ciao.")})


def change(row: Any) -> str:
    return address(type(row), "change", row.pk)


def read_translations(row: Any) -> Any:
    return type(row).objects.get(pk=row.pk).translations


def test_with_one_language_the_form_has_no_inputs_for_others(ada: Client) -> None:
    form = form_of(ada.get(change(a_response(translations={"de": entry("Hallo.")}))))

    assert [name for name in form.fields if name.startswith("translation")] == ["translations"]


CASES: list[tuple[Any, dict[str, Any], list[str]]] = [
    (m.CeIntent, {"display_name": "Loan"}, ["display_name"]),
    (m.CePolicy, {}, ["response_text"]),
    (m.CeVerbose, {}, ["message", "error_message"]),
    (m.CeRule, {"action": "REFUSE_VALUE", "action_value": "amount: Too much."}, ["action_value"]),
    (m.CeRule, {}, []),
    (m.CeConfig, {"config_type": "Session", "config_key": "CLOSING_TEXT", "config_value": "Bye."}, ["config_value"]),
    (m.CeConfig, {"config_type": "Session", "config_key": "TIME_ZONE", "config_value": "UTC"}, []),
    (m.CeOutputSchema, {}, []),
]


@pytest.mark.parametrize(("model", "values", "columns"), CASES)
def test_each_text_of_a_row_has_an_input_in_each_other_language(
    model: Any, values: dict[str, Any], columns: list[str], languages: None, ada: Client
) -> None:
    with change_set():
        row = make(model, **values)

    page = ada.get(change(row))

    expected = [f"translation_{language}_{column}" for language in ("de", "fr") for column in columns]
    assert [name for name in form_of(page).fields if name.startswith("translation")] == expected
    assert ("Texts in other languages" in page.content.decode()) == (model is m.CeOutputSchema)


@pytest.mark.parametrize(
    ("typed", "german"),
    [
        ({GERMAN: "Guten Tag."}, entry("Guten Tag.")),
        ({GERMAN: "  "}, None),
        ({"priority": 7}, entry("Hallo.")),
        ({"exact_text": "Hi."}, entry("Hallo.")),
        ({"exact_text": "Hi.", GERMAN: "He."}, entry("He.", "Hi.")),
    ],
)
def test_a_new_translation_belongs_to_the_text_as_it_is_saved(
    typed: dict[str, Any], german: Any, row: Any, ada: Client
) -> None:
    assert fill(ada, change(row), **typed).status_code == 302

    assert read_translations(row) == {"it": entry("Ciao."), **({"de": german} if german else {})}


def test_nothing_is_left_as_null(languages: None, ada: Client) -> None:
    row = a_response(exact_text="Hello.", translations={"de": entry("Hallo.")})

    fill(ada, change(row), **{GERMAN: ""})

    assert read_translations(row) is None


@pytest.mark.parametrize(
    ("german", "note"),
    [
        (entry("Hallo.", "Hi."), "The text has changed since: “Hi.”."),
        (entry("Hallo.", draft=True), "This is a draft that nobody has read."),
    ],
)
def test_a_translation_to_read_again_is_marked_until_somebody_says_that_it_is_right(
    german: Any, note: str, languages: None, ada: Client
) -> None:
    row = a_response(exact_text="Hello.", translations={"de": german})

    assert note in str(form_of(ada.get(change(row)))[GERMAN].help_text)
    fill(ada, change(row), priority=8)
    assert read_translations(row) == {"de": german}
    fill(ada, change(row), **{f"{GERMAN}_right": "on"})

    assert read_translations(row) == {"de": entry("Hallo.")}
    assert not form_of(ada.get(change(row)))[GERMAN].help_text


def test_the_built_in_text_of_the_language_is_offered(languages: None, ada: Client) -> None:
    row = a_response(exact_text=get_texts("en")["task_failed"])

    assert get_texts("de")["task_failed"] in str(form_of(ada.get(change(row)))[GERMAN].help_text)


def test_an_error_is_told_at_the_input_of_its_language(row: Any, ada: Client) -> None:
    refused = fill(ada, change(row), **{FRENCH: "Salut {{ name"})

    assert "Text (French) is not a valid template" in form_of(refused).errors[FRENCH][0]
    judged = ada.post(address(m.CeResponse, "judge_of_form"), {**sent_by(form_of(refused)), "_pk": row.pk}).json()
    assert list(judged["errors"]) == [FRENCH]


def test_two_people_with_two_languages_do_not_meet(row: Any, ada: Client, ben: Client) -> None:
    opened = ada.get(change(row))
    fill(ben, change(row), **{FRENCH: "Bonjour."})

    held = send_again(ada, opened, **{GERMAN: "Guten Tag."})
    outcomes = {side.merge.name: side.merge.outcome for side in form_of(held).meeting.sides}
    assert outcomes == {GERMAN: "mine", FRENCH: "theirs"}
    send_again(ada, held)

    assert read_translations(row) == {"de": entry("Guten Tag."), "fr": entry("Bonjour."), "it": entry("Ciao.")}


@pytest.mark.parametrize(("choice", "text"), [("theirs", "Servus."), ("mine", "Moin.")])
def test_two_people_with_one_language_choose(choice: str, text: str, row: Any, ada: Client, ben: Client) -> None:
    opened = ada.get(change(row))
    fill(ben, change(row), **{GERMAN: "Servus."})

    held = send_again(ada, opened, **{GERMAN: "Moin."})
    assert [side.merge.label for side in form_of(held).meeting.sides] == ["Text (German)"]
    send_again(ada, held, **{f"_choice_{GERMAN}": choice})

    assert read_translations(row) == {"de": entry(text), "it": entry("Ciao.")}


def test_a_page_without_the_input_keeps_the_translation(row: Any, ada: Client) -> None:
    fill(ada, change(row), priority=8, **{GERMAN: None, FRENCH: None})

    assert read_translations(row) == {"de": entry("Hallo."), "it": entry("Ciao.")}


def test_a_copy_has_the_translations_of_the_row(row: Any, ada: Client) -> None:
    held = fill(ada, change(row), _saveasnew="1", state_code="DONE", **{FRENCH: "Salut."})
    send_again(ada, held, _saveasnew="1", _confirm="1")

    copy = m.CeResponse.objects.get(state_code="DONE")
    assert copy.translations == {"de": entry("Hallo."), "fr": entry("Salut."), "it": entry("Ciao.")}


def test_the_page_of_settings_has_the_inputs_too(languages: None, ada: Client) -> None:
    row = make(m.CeConfig, config_type="Session", config_key="CLOSING_TEXT", config_value="Bye.")
    url = f"{address(m.CeConfig, 'effective')}?edit=Session/CLOSING_TEXT"

    page = ada.get(url)
    ada.post(url, sent_by(page.context["form"], translation_de_config_value="Tschüss."))

    assert "Value (German)" in page.content.decode()
    assert read_translations(row) == {"de": {"config_value": {"text": "Tschüss.", "of": "Bye."}}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, {"de": entry("Hallo.")}, ("Text (German)", "", "Hallo.")),
        ({"de": entry("Hallo.")}, None, ("Text (German)", "Hallo.", "")),
        ({"de": entry("Hallo.")}, {"de": entry("He.", "Hi.")}, ("Text (German)", "Hallo.", "He.")),
        ({"de": entry("Hallo.")}, {"de": entry("Hallo.", "Hi.")}, ("Text (German), translation of", "Hello.", "Hi.")),
    ],
)
def test_history_shows_the_texts(old: Any, new: Any, expected: tuple[str, str, str]) -> None:
    (part,) = diff_column("ce_response", "translations", old, new).within

    assert (part.label, *part.texts) == expected
