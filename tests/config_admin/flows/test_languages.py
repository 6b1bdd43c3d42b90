"""A flow in several languages: on its page, in its file, and in the translations of its rows."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.flows.document import FlowRefused
from config_admin.flows.mapping import write_rows
from config_admin.flows.reading import export_flow
from config_admin.flows.saving import create_flow, update_flow
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from convengine.engine.forms.asking import get_texts
from convengine.json_value import Json
from tests.config_admin.builders import make
from tests.config_admin.flows.test_page import flow_address, sent_by
from tests.config_admin.flows.translations.test_page import FLOW

pytestmark = pytest.mark.django_db
BIKES: dict[str, Json] = {
    **FLOW,
    "confirmation": {"en": "Is the size {{ size }} right?", "de": "Stimmt die Größe {{ size }}?"},
    "fields": [
        {
            **FLOW["fields"][0],
            "question": {"en": "Which size?", "de": "Welche Größe?"},
            "labels": {"en": ["frame"], "de": ["Rahmen", "Maß"]},
            "options": [
                {"value": "L", "label": {"en": "Large", "de": "Groß"}, "synonyms": {"en": ["big"], "de": ["weit"]}},
                {"value": "S"},
            ],
        },
        {
            "name": "shop", "title": "Shop", "type": "choice", "question": {"en": "Which shop?", "de": "Wo?"},
            "options_from": {"path": "$.shops", "value": "code", "label": "name"},
        },
    ],
    "questions_and_answers": [
        {"questions": ["What does it cost?"], "answer": {"en": "20 euros.", "de": "20 Euro."}},
    ],
}  # fmt: skip


@pytest.fixture
def languages() -> None:
    make(m.CeConfig, config_type="Session", config_key="LANGUAGES", config_value="en-GB, de-DE")


@pytest.fixture
def bikes(languages: None) -> None:
    create_flow(BIKES, author="ada", reason="bikes")


def read_entries(at: str, model: Any = m.CeOutputSchema, **values: Any) -> Any:
    stored: Any = model.objects.filter(intent_code="BIKES", **values).get().translations
    return (stored or {}).get("de", {}).get(at)


def save(client: Client, page: Any = None, **values: Any) -> Any:
    opened = page or client.get(flow_address("BIKES"))
    refusals = {
        form.add_prefix(name): form[name].value()
        for form in opened.context["refusals"]
        for name in form.fields
        if form[name].value() not in (None, False)
    }
    return client.post(
        flow_address("BIKES"), {**sent_by(opened), **refusals, "reason": "texts", "_save": "1", **values}
    )


def test_with_one_language_nothing_is_on_the_page(ada: Client) -> None:
    create_flow({**BIKES, "answer": "See you."}, author="ada", reason="bikes")

    text = ada.get(flow_address("BIKES")).content.decode()

    assert "data-language" not in text
    assert 'name="_language"' not in text


def test_the_page_has_each_text_in_each_language(bikes: None, ada: Client) -> None:
    page = ada.get(flow_address("BIKES"))

    form, (field, _), (refusal,) = (page.context[name] for name in ("form", "fields", "refusals"))
    assert form["title_de"].value() == "Fahrrad reparieren"
    assert form["confirmation_de"].value() == "Stimmt die Größe {{ size }}?"
    assert field["question_de"].value() == "Welche Größe?"
    assert field["labels_de"].value() == "Rahmen, Maß"
    assert field["options_de"].value() == "L = Groß: weit\nS"
    assert refusal["text_de"].value() == "Nur große."
    assert page.context["questions"].forms[0]["answer_de"].value() == "20 Euro."
    assert page.context["languages"][0] == ("", "English", "")
    assert page.context["languages"][1][:2] == ("de", "German")


def test_saving_without_a_change_changes_nothing(bikes: None, ada: Client) -> None:
    before = export_flow("BIKES")

    preview = save(ada, reason="")
    save(ada)

    assert "Nothing would change" in preview.content.decode()
    assert export_flow("BIKES") == before


@pytest.mark.parametrize(
    ("typed", "at", "entry"),
    [
        ({"field-0-question_de": "Wie groß?"}, "size/x-ask", {"text": "Wie groß?", "of": "Which size?"}),
        ({"field-0-question_de": ""}, "size/x-ask", None),
        ({"field-0-question": "How big?"}, "size/x-ask", {"text": "Welche Größe?", "of": "Which size?"}),
        ({"field-0-title_de": "Size"}, "size/title", {"text": "Size", "of": "Size"}),
        ({"field-0-options_de": "L = Weit\nS = Klein"}, "size/x-options/S", {"text": "Klein", "of": "S"}),
        ({"field-0-options_de": "L\nS: winzig"}, "size/x-options/S/words", {"text": "winzig", "of": ""}),
        ({"field-0-options_de": "L\nS"}, "size/x-options/L", None),
        ({"field-0-labels_de": "Rad, Ding"}, "size/x-labels", {"text": "Rad, Ding", "of": "frame"}),
    ],
)
def test_a_text_of_the_page_is_a_translation_of_its_row(
    typed: dict[str, str], at: str, entry: Any, bikes: None, ada: Client
) -> None:
    assert save(ada, **typed).status_code == 302

    assert read_entries(f"json_schema/{at}") == entry


def test_texts_of_all_rows_are_saved(bikes: None, ada: Client) -> None:
    typed = {
        "title_de": "Radwerkstatt",
        "answer_de": "Tschüss {{ Größe }}.",
        "confirmation_de": "Gut so?",
        "refusal-0-text_de": "Leider nicht.",
        "question-0-answer_de": "Zwanzig.",
        "question-0-short_name_de": "Preise",
    }

    page = save(ada, **typed)

    assert page.status_code == 302, page.context["problems"]
    german = snapshots.current().translate("de")
    translated = (row for name in ("ce_intent", "ce_response", "ce_rule") for row in german.tables[name].rows)
    texts = {text for row in translated for text in vars(row).values() if isinstance(text, str)}
    assert {"Radwerkstatt", "Tschüss {{ size }}.", "size: Leider nicht.", "Zwanzig.", "Preise"} <= texts
    assert any(text.endswith("Gut so?") and text != "Gut so?" for text in texts)


def test_a_translation_to_read_again_stays_one(bikes: None, ada: Client) -> None:
    entry = {"text": "Welche Größe?", "of": "What size?", "draft": True}
    row = m.CeOutputSchema.objects.get(intent_code="BIKES")
    with change_set(reason="draft"):
        row.translations["de"]["json_schema/size/x-ask"] = entry
        row.save()

    page = ada.get(flow_address("BIKES"))
    assert "The text has changed since: “What size?”." in page.content.decode()
    assert "1 to read again" in page.content.decode()
    save(ada, page, answer_de="Servus.")

    assert read_entries("json_schema/size/x-ask") == entry


def test_an_own_confirmation_without_a_translation_is_not_half_translated(languages: None) -> None:
    written = write_rows({**BIKES, "confirmation": "Is it right?"})

    translations = [row.get("translations", {}) for row in written["ce_response"]]
    texts = [entries["exact_text"]["text"] for each in translations for entries in each.values()]
    assert not [text for text in texts if "Is it right?" in text]


def test_a_built_in_text_is_translated_with_the_flow(languages: None) -> None:
    written = write_rows({key: value for key, value in BIKES.items() if key != "confirmation"})

    (row,) = [row for row in written["ce_response"] if row["state_code"] == "CONFIRM"]
    assert row["translations"]["de"]["exact_text"]["of"] == row["exact_text"]


def test_a_text_in_another_language_only_is_told_at_its_input(bikes: None, ada: Client) -> None:
    page = save(ada, **{"field-0-again_de": "Wie bitte?", "field-0-options_de": "XL = Riesig"})

    errors = page.context["fields"][0].errors
    assert "in the first language, too" in errors["again_de"][0]
    assert "“XL” is no choice of this field" in errors["options_de"][0]


def test_a_document_in_another_language_only_is_refused(languages: None) -> None:
    with pytest.raises(FlowRefused, match="hand_over: write it in en, too"):
        create_flow({**BIKES, "hand_over": {"de": "Rufen Sie an."}}, author="ada", reason="bikes")


def test_a_file_brings_back_what_it_has(bikes: None) -> None:
    exported = export_flow("BIKES")
    assert exported is not None
    before = read_entries("json_schema/size/x-labels")

    update_flow(exported, author="ada", reason="the same")
    assert export_flow("BIKES") == exported
    assert read_entries("json_schema/size/x-labels") == before


def test_a_new_flow_is_made_in_two_languages(languages: None, ada: Client) -> None:
    address = reverse("admin:config_admin_ceintent_start")
    page = ada.get(address)
    german = {"title_de": "Parken", "answer_de": "Hinter dem Haus."}
    english = {"kind": "answer", "title": "Parking", "phrases": "where do I park", "answer": "Behind it."}

    done = ada.post(address, {**sent_by(page), **english, **german, "reason": "new", "_save": "1"})

    assert done.status_code == 302
    assert export_flow("PARKING")["answer"] == {"en": "Behind it.", "de": "Hinter dem Haus."}  # type: ignore[index]


def test_a_plain_document_keeps_translations(bikes: None) -> None:
    plain = {**BIKES, "title": "Mend a bike", "answer": "Bye.", "confirmation": "Right?"}
    plain |= {"fields": [{"name": "size", "title": "Size", "type": "choice", "options": [{"value": "L"}]}]}
    plain |= {"not_allowed": [], "questions_and_answers": []}

    update_flow(plain, author="ada", reason="plain")

    assert read_entries("display_name", m.CeIntent)["text"] == "Fahrrad reparieren"


def test_the_page_proposes_the_built_in_text_of_the_language(bikes: None, ada: Client) -> None:
    update_flow({**BIKES, "answer": get_texts("en")["answer_collect"]}, author="ada", reason="copied")

    page = ada.get(flow_address("BIKES"))

    assert page.context["form"]["answer_de"].suggested == get_texts("de")["answer_collect"]
    assert not page.context["form"]["title_de"].suggested


@pytest.mark.parametrize("german", ["size", "size: {{ day }}", ": Nein."])
def test_a_damaged_translation_of_a_refusal_is_none(german: str, bikes: None, ada: Client) -> None:
    rule = m.CeRule.objects.get(intent_code="BIKES", action="REFUSE_VALUE")
    with change_set(reason="damage"):
        rule.translations["de"]["action_value"]["text"] = german
        rule.save()

    page = ada.get(flow_address("BIKES"))

    assert page.context["refusals"].forms[0]["text_de"].value() == ""
    assert page.context["questions"].forms[0]["answer_de"].value() == "20 Euro."
