"""The page *Languages*: texts beside their translations, one release of new ones, and files for translators."""

import html
import json
import re
from collections.abc import Callable
from xml.etree import ElementTree as Xml

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.flows.mapping import write_rows
from config_admin.flows.reading import export_flow
from config_admin.flows.translations import page as languages_page
from config_admin.flows.translations.catalogue import TextState, Translation, list_spoken_texts, plan_translations
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.head import newest
from config_admin.releases.restore_rows import restore_rows
from config_admin.transfer.apply_import import add_rows
from convengine.engine.forms.asking import get_texts
from convengine.json_value import Json
from convengine.server import wiring
from tests.convengine.server.model_clients.test_embeddings import connect
from tests.fakes.openai_server import Says, model_server

pytestmark = pytest.mark.django_db
PAGE = "admin:config_admin_ceresponse_languages"
FLOW: dict[str, Json] = {
    "code": "BIKES",
    "title": {"en": "Repair a bike", "de": "Fahrrad reparieren"},
    "kind": "collect",
    "phrases": ["mend my bike"],
    "fields": [
        {
            "name": "size",
            "title": {"en": "Size", "de": "Größe"},
            "type": "choice",
            "options": [{"value": "L", "label": {"en": "Large", "de": "Groß"}}, {"value": "S"}],
        }
    ],
    "not_allowed": [
        {
            "when": {"combinator": "and", "rules": [{"field": "size", "operator": "is", "value": "S"}]},
            "text": {"en": "Only large ones.", "de": "Nur große."},
            "field": "size",
        },
    ],
    "answer": {"en": "See you.", "de": "Bis dann."},
}


XLIFF = (
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
    '<file original="a" datatype="plaintext" source-language="en" target-language="{language}"><body/></file></xliff>'
)


@pytest.fixture
def address() -> str:
    with change_set(reason="languages"):
        m.CeConfig.objects.create(config_type="Session", config_key="LANGUAGES", config_value="en-GB, de-DE")
    add_rows(write_rows(FLOW), author="ada", reason="bikes")
    return reverse(PAGE)


def find_text(source: str) -> str:
    return next(text.key for text in list_spoken_texts(snapshots.current(), "de") if text.source == source)


def read_state(source: str) -> TextState:
    return next(text.state for text in list_spoken_texts(snapshots.current(), "de") if text.source == source)


def test_without_a_second_language_the_page_says_how_to_begin(ben: Client) -> None:
    text = ben.get(reverse(PAGE)).content.decode()
    assert "All texts are in one language" in text
    assert reverse("admin:config_admin_ceconfig_effective") in text


def test_a_flow_in_two_languages_is_rows_with_translations_and_comes_back(address: str) -> None:
    exported = export_flow("BIKES")
    assert exported is not None
    assert {key: exported[key] for key in ("title", "answer", "fields", "not_allowed")} == {
        **{key: FLOW[key] for key in ("title", "answer", "not_allowed")},
        "fields": [{**FLOW["fields"][0]}],
    }


def test_texts_stand_beside_their_translations_what_needs_work_first(ben: Client, address: str) -> None:
    text = ben.get(address).content.decode()
    assert text.index("Missing") < text.index("Fahrrad reparieren")
    assert "size: choice L" in text
    assert "No text matches" in ben.get(address, {"q": "tandem"}).content.decode()
    assert "Groß" not in ben.get(address, {"state": "MISSING"}).content.decode()


def test_translations_are_saved_as_one_release_with_a_reason(ben: Client, address: str) -> None:
    key, in_force = find_text("See you."), newest()
    sent = {"language": "de", f"text:{key}": "Bis bald."}

    shown = ben.post(address, sent).content.decode()
    assert "1 row gets translations, in one release." in shown
    assert newest() == in_force
    inputs = {
        "language": "de",
        "texts": json.dumps({key: ["Bis bald.", "", False]}),
        "in_force": str(in_force),
        "reason": "better",
    }
    saved = ben.post(address, inputs)
    assert (saved.status_code, newest()) == (302, in_force + 1)
    assert snapshots.current().translate("de").find_row("ce_response", key.split("/")[1]).exact_text == "Bis bald."  # type: ignore[union-attr]
    assert "No translation changes by this." in ben.post(address, sent).content.decode()


def test_keys_that_no_text_has_are_counted(ben: Client, address: str) -> None:
    for keys, answer in ((["a"], "1 text of the file does not"), (["a", "b"], "2 texts of the file do not")):
        data = "\n".join(["key,text,de", *(f"{key},word,Wort" for key in keys)]).encode()
        shown = ben.post(address, {"language": "de", "_upload": "1", "file": SimpleUploadedFile("a.csv", data)})
        assert f"No translation changes by this. {answer} exist any more" in shown.content.decode()


def test_a_text_that_changed_or_is_a_draft_needs_work_and_a_blank_takes_a_translation_away(address: str) -> None:
    answer = m.CeResponse.objects.get(exact_text="See you.")
    with change_set(reason="other words"):
        answer.exact_text = "See you soon."
        answer.save()
    assert read_state("See you soon.") == TextState.CHANGED
    for text, is_draft, state in (
        ("x", True, TextState.DRAFT),
        ("x", False, TextState.DONE),
        ("", False, TextState.MISSING),
    ):
        with change_set(reason="translate"):
            restore_rows(
                plan_translations(
                    snapshots.current(), "de", {find_text("See you soon."): Translation(text, is_draft=is_draft)}
                )
            )
        assert read_state("See you soon.") == state
    answer.refresh_from_db()
    assert answer.translations is None


@pytest.mark.parametrize("kind", ["csv", "xlf"])
def test_a_file_goes_out_and_comes_back(ben: Client, address: str, kind: str) -> None:
    data = ben.get(f"{address}de.{kind}").content
    if kind == "xlf":
        root = Xml.fromstring(data)
        assert {unit.get("state") for unit in root.iter("{urn:oasis:names:tc:xliff:document:1.2}target")} >= {
            "new",
            "translated",
        }
    changed = data.replace(b"Bis dann.", "=Tschüss.".encode() if kind == "xlf" else "'=Tschüss.".encode())
    shown = ben.post(address, {"language": "de", "_upload": "1", "file": SimpleUploadedFile(f"de.{kind}", changed)})
    text = shown.content.decode()
    assert "1 row gets translations, in one release." in text
    assert "=Tschüss." in text


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.csv", b"a,b\n1,2\n", "has no columns key, text and de"),
        ("a.csv", b"key,text,es\n1,a,b\n", "has no columns key, text and de"),
        ("a.csv", b"", "The submitted file is empty."),
        ("a.xlf", XLIFF.format(language="es").encode(), "is in another language: es. Choose it above."),
        ("a.csv", b"key,text,de\n\xe9", "The file is not UTF-8 text"),
        ("a.xlf", b"<xliff", "is not XML"),
        ("a.xlf", b"<a/>", "is not XLIFF 1.2"),
        ("a.xlf", b'<!DOCTYPE a [<!ENTITY b "c">]><a/>', "has a document type"),
        ("a.csv", b"x" * (2 * 1024 * 1024 + 1), "is larger than 2 MB"),
    ],
)
def test_a_damaged_file_is_refused_by_name(ben: Client, address: str, name: str, data: bytes, problem: str) -> None:
    shown = ben.post(
        address, {"language": "de", "_upload": "1", "file": SimpleUploadedFile(name, data)}
    ).content.decode()
    assert "Nothing was changed" in shown
    assert problem in shown


@pytest.mark.parametrize("kind", ["csv", "xlf"])
def test_a_file_from_before_a_change_leaves_its_texts_marked(ben: Client, address: str, kind: str) -> None:
    data = ben.get(f"{address}de.{kind}").content.replace(b"Bis dann.", b"Bis bald.")
    answer = m.CeResponse.objects.get(exact_text="See you.")
    with change_set(reason="other words"):
        answer.exact_text = "See you soon."
        answer.save()
    shown = ben.post(address, {"language": "de", "_upload": "1", "file": SimpleUploadedFile(f"de.{kind}", data)})
    texts = html.unescape(re.findall(r'name="texts" value="([^"]*)"', shown.content.decode())[0])
    ben.post(address, {"language": "de", "texts": texts, "in_force": str(newest()), "reason": "old file"})

    (text,) = [text for text in list_spoken_texts(snapshots.current(), "de") if text.source == "See you soon."]
    assert (text.text, text.of, text.state) == ("Bis bald.", "See you.", TextState.CHANGED)


def test_no_other_language_stands_for_one_that_is_not_there(ben: Client, address: str) -> None:
    assert "no translations into “fr”" in ben.post(address, {"language": "fr", "text:a": "b"}).content.decode()
    assert 'value="de" selected' in ben.get(address, {"language": "de-DE"}).content.decode()


def test_what_is_only_filled_in_needs_no_translation(address: str) -> None:
    with change_set(reason="more"):
        m.CeResponse.objects.create(
            intent_code="BIKES",
            state_code="DONE",
            output_format="TEXT",
            response_type="EXACT",
            exact_text="{{ question }}",
        )
    assert "{{ question }}" not in {text.source for text in list_spoken_texts(snapshots.current(), "de")}


def test_long_lists_have_pages_and_no_query_for_each_text(
    ben: Client, address: str, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Callable[..., object]
) -> None:
    monkeypatch.setattr(languages_page, "PER_PAGE", 2)
    ben.get(address)
    with django_assert_max_num_queries(12):  # type: ignore[attr-defined]
        assert "Texts 1 to 2 of" in ben.get(address).content.decode()


def test_a_model_drafts_what_is_missing_and_a_person_reads_it(
    ben: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with change_set(reason="more"):
        for text in ("Hello {{ context.size }}", "Bye {{ context.size }}"):
            m.CeResponse.objects.create(
                intent_code="BIKES",
                state_code="CONFIRMED",
                output_format="TEXT",
                response_type="EXACT",
                exact_text=text,
            )
    hello, bye = find_text("Hello {{ context.size }}"), find_text("Bye {{ context.size }}")
    sent = {
        "language": "de",
        "_draft": "1",
        f"text:{hello}": "",
        f"text:{bye}": "",
        f"text:{find_text('See you.')}": "",
    }
    assert "Let the model draft" not in ben.get(address).content.decode()
    drafts = {"0": "Hallo {{ context.size }}", "1": "Tschüss {{ context.colour }}"}
    with (
        model_server(Says(json.dumps(drafts)), Says("Hallo"), Says(status=400)) as server,
        connect(server.url) as model,
    ):
        monkeypatch.setattr(wiring, "model", lambda: model)
        assert "Let the model draft" in ben.get(address).content.decode()
        shown = ben.post(address, sent).content.decode()
        assert "The model did not answer with JSON." in ben.post(address, sent).content.decode()
        assert "The model did not answer (" in ben.post(address, sent).content.decode()

    # What is filled in must stay, and what is translated is not asked for.
    assert json.loads(server.requests[0]["messages"][1]["content"]) == {
        "0": "Hello {{ context.size }}", "1": "Bye {{ context.size }}"
    }  # fmt: skip
    assert "1 row gets translations, in one release." in shown
    texts = json.dumps({hello: [drafts["0"], "", True]})
    ben.post(address, {"language": "de", "texts": texts, "in_force": str(newest()), "reason": "drafts"})
    assert read_state("Hello {{ context.size }}") == TextState.DRAFT


def test_the_built_in_text_of_the_language_is_filled_in_and_saved_with_the_page(address: str, ben: Client) -> None:
    answer, built_in = m.CeResponse.objects.get(exact_text="See you."), get_texts("de")["answer_collect"]
    with change_set(reason="a copied text"):
        answer.exact_text, answer.translations = get_texts("en")["answer_collect"], None
        answer.save()

    page = ben.get(address, {"language": "de"})
    (text,) = [text for text, _ in page.context["lines"] if text.row.pk == answer.pk]

    assert (text.state, text.offered) == (TextState.MISSING, built_in)
    assert f">{built_in}</textarea>" in page.content.decode()
    confirmation = ben.post(address, {"language": "de", f"text:{text.key}": built_in}).content.decode()
    assert "1 row gets translations" in confirmation
