"""Analysts import a document, look at its sections, and switch some off."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from tests.config_admin.admin.pages import newest
from tests.fakes.http_server import Reply, serving

pytestmark = pytest.mark.django_db
TEXT = "# House rules\n\n## Keys\n\nKeys stay at the desk. A lost key costs 40 euros.\n\n## Pets\n\nDogs may stay."


def send(client: Client, text: str = TEXT, name: str = "rules.md", **values: Any) -> Any:
    file = SimpleUploadedFile(name, text.encode())
    address = reverse("admin:config_admin_ceanswerdocument_document_import")
    return client.post(address, {"file": file, "reason": "our rules", **values})


def test_a_file_becomes_a_document_with_a_section_for_each_heading(ben: Client) -> None:
    before = newest().pk

    page = ben.get(send(ben, link="https://hotel.example/rules").url)

    row = m.CeAnswerDocument.objects.get()
    assert (row.title, row.link, row.content) == ("rules", "https://hotel.example/rules", TEXT)
    assert (newest().pk, newest().reason) == (before + 1, "our rules")
    assert [line["title"] for line in page.context["lines"]] == ["Keys", "Pets"]
    assert "“rules” has 2 sections" in page.content.decode()


def test_a_file_of_the_same_title_is_its_new_text(ben: Client) -> None:
    send(ben, title="Rules", user_group="staff")
    send(ben, text="# Rules\n\nNone.", title="rules")

    row = m.CeAnswerDocument.objects.get()
    assert (row.content, row.user_group) == ("# Rules\n\nNone.", "staff")


def test_what_is_wrong_is_told_and_nothing_is_stored(ben: Client) -> None:
    page = send(ben, name="rules.exe").content.decode()
    assert "Documents are .md, " in page
    assert "Enter a reason for this change" in send(ben, reason="").content.decode()
    assert not m.CeAnswerDocument.objects.exists()


def test_a_section_is_switched_off_and_asked_as_people_say(ben: Client) -> None:
    address = send(ben).url

    sent = {"off-1": "on", "weight-1": "1", "weight-0": "2", "asked-0": "who has my key?\n\n", "reason": "no pets"}
    done = ben.post(address, sent)
    assert done.status_code == 302, done.context.get("refused") or done.context.get("reason_missing")

    row = m.CeAnswerDocument.objects.get()
    assert row.sections == {
        "House rules > Keys": {"weight": 2, "askedAs": ["who has my key?"]},
        "House rules > Pets": {"off": True},
    }
    cards = ben.get(address, {"q": "what does a lost key cost?"}).context["cards"]
    assert [(card["titles"][-1], card["is_shown"]) for card in cards] == [("Keys", True)]


def test_who_may_only_look_changes_nothing(ben: Client, somebody: Callable[..., Client]) -> None:
    address, viewer = send(ben).url, somebody("quinn", "qa")

    assert viewer.get(address).status_code == 200
    assert viewer.post(address, {"off-1": "on", "reason": "x"}).status_code in (200, 403)
    assert m.CeAnswerDocument.objects.get().sections == {}
    assert send(viewer).status_code == 403


def test_a_document_that_is_not_there_is_told(ben: Client) -> None:
    assert ben.get(reverse("admin:config_admin_ceanswerdocument_document_sections", args=[99])).status_code == 404


def fetch(client: Client, source: str) -> Any:
    address = reverse("admin:config_admin_ceanswerdocument_document_import")
    return client.post(address, {"source": source, "reason": "our rules"})


def test_a_page_is_fetched_from_an_address_that_leads_to_another(ben: Client, settings: Any) -> None:
    page = Reply(
        body=b"<h1>House rules</h1><p>Dogs may stay.</p>", headers={"Content-Type": "text/html; charset=utf-8"}
    )
    with serving(Reply(302, headers={"Location": "/rules"}), page) as server:
        settings.CONVENGINE = {**settings.CONVENGINE, "DOCUMENT_PRIVATE_HOSTS": ["127.0.0.1"]}
        fetch(ben, server.address)
    row = m.CeAnswerDocument.objects.get()
    assert (row.title, row.link, row.content) == ("rules", None, "# House rules\n\nDogs may stay.")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<h1>Küche</h1><p>Töpfe.</p>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ("<h1>Küche</h1><p>Töpfe.</p>".encode(), "text/html"),
        ("# Küche\n\nTöpfe.".encode(), "text/plain"),
    ],
)
def test_a_page_is_what_its_answer_says(ben: Client, settings: Any, body: bytes, kind: str) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "DOCUMENT_PRIVATE_HOSTS": ["127.0.0.1"]}
    with serving(Reply(body=body, headers={"Content-Type": kind})) as server:
        fetch(ben, f"{server.address}/kitchen.md")
    row = m.CeAnswerDocument.objects.get()
    assert (row.title, row.content) == ("kitchen", "# Küche\n\nTöpfe.")


@pytest.mark.parametrize(
    ("reply", "allowed", "problem"),
    [
        (Reply(), [], "is not public. Upload the file, or ask an operator"),
        (Reply(302, headers={"Location": "http://169.254.169.254/"}), ["127.0.0.1"], "is not public. Upload the file"),
        (Reply(302, headers={"Location": "/"}), ["127.0.0.1"], "cannot be fetched"),
        (Reply(404), ["127.0.0.1"], "answers with status 404"),
        (Reply(headers={"Content-Type": "image/png"}), ["127.0.0.1"], "The address gives image/png"),
        (Reply(cut=True), ["127.0.0.1"], "cannot be fetched"),
        (Reply(body=b"\xff\xfe\x00", headers={"Content-Type": "application/pdf"}), ["127.0.0.1"], "no PDF file"),
    ],
)
def test_an_address_that_gives_no_document_says_why(
    ben: Client, settings: Any, reply: Reply, allowed: list[str], problem: str
) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "DOCUMENT_PRIVATE_HOSTS": allowed}
    with serving(reply) as server:
        assert problem in fetch(ben, server.address).content.decode()
    assert not m.CeAnswerDocument.objects.exists()


def test_a_file_or_an_address_is_needed(ben: Client) -> None:
    assert "Choose a file, or enter the address of one." in fetch(ben, "").content.decode()
    assert "Enter a valid URL" in fetch(ben, "file:///etc/passwd").content.decode()
    assert "Leave the name and the password out" in fetch(ben, "https://ben:secret@shop.example/").content.decode()
