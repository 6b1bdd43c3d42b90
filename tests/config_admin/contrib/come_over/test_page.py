"""The page *Come over*: from the archive of a bot to its plan, to a draft, to a bot that answers."""

from collections.abc import Mapping
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.drafts.middleware import KEY
from config_admin.drafts.open_draft import open_draft
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from tests.api import Caller

pytestmark = pytest.mark.django_db
KAYAK_HIRE = Path(__file__).with_name("kayak_hire")
FILES = {path.relative_to(KAYAK_HIRE).as_posix(): path.read_text() for path in KAYAK_HIRE.rglob("*.yml")}
URL = "admin:config_admin_cedraft_come_over"
RESERVED = (
    "intents: [unknown]\nresponses: {utter_a: [{text: a}]}\n"
    "rules: [{rule: r, steps: [{intent: unknown}, {action: utter_a}]}]\n"
    "nlu: [{intent: unknown, examples: ['what is it']}]\n"
)


def pack(files: Mapping[str, str], folder: str = "kayak_hire") -> bytes:
    data = BytesIO()
    with ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{folder}/{name}", text)
    return data.getvalue()


def upload(client: Client, data: bytes, name: str = "kayak_hire.zip") -> Any:
    return client.post(reverse(URL), {"file": SimpleUploadedFile(name, data)})


def make_draft(client: Client, shown: Any, **sent: str) -> Any:
    """What the page sends when its button is pressed."""
    given = {name: shown.context[name] for name in ("packed", "name")} | {"title": shown.context["draft"]}
    return client.post(reverse(URL), {**given, "apply": "1", **sent})


@pytest.mark.parametrize("group", ["config_admin", "analyst"])
def test_an_archive_becomes_a_plan_then_a_draft_then_a_bot(somebody: Any, group: str) -> None:
    client, before = somebody("ann", group), head.newest()
    shown = upload(client, pack(FILES))
    text = shown.content.decode()
    assert text.index(">Needs a person <") < text.index(">In part <") < text.index(">Comes along <")
    assert "register a task, and name it in the flow; or a tool" in text
    assert (shown.context["bot"], shown.context["draft"]) == ("kayak_hire", "From kayak_hire")
    assert not m.CeDraft.objects.exists()

    made = make_draft(client, shown)
    draft = m.CeDraft.objects.get()
    assert (made.status_code, made["Location"]) == (
        302,
        reverse("admin:config_admin_cedraft_change", args=[draft.pk]),
    )
    assert (draft.title, draft.created_by, client.session[KEY]) == ("From kayak_hire", "ann", draft.pk)
    assert head.newest() == before
    assert f'The draft <a class="ce-link" href="{made["Location"]}">' in upload(client, pack(FILES)).content.decode()

    call_command("draft", "publish", draft.title, stdout=StringIO())
    assert Caller().say("may I bring my dog")["payload"]["value"] == "Dogs may come along in a canoe."
    client.get(reverse(URL))  # It leaves the draft, which has ended.
    again = upload(client, pack(FILES))
    assert "The configuration has all of it already." in again.content.decode()
    assert 'name="apply"' not in again.content.decode()


def test_a_second_upload_changes_what_the_project_changed_also_where_changes_are_reviewed(ada: Client) -> None:
    with change_set():
        m.CeConfig.objects.create(config_type="Releases", config_key="MODE", config_value="REVIEWED")
    make_draft(ada, upload(ada, pack(FILES)), title="Boats")
    old, new = "Only people who can swim 50 metres may paddle.", "You must be able to swim."
    changed = FILES | {"domain.yml": FILES["domain.yml"].replace(old, new)}
    count = m.CeDraft.objects.get().edits.count()
    make_draft(ada, upload(ada, pack(changed)), title="Boats")
    draft = m.CeDraft.objects.get()
    assert draft.edits.count() == count
    assert [edit.table_name for edit in draft.edits.all() if new in str(edit.after)] == ["ce_response", "ce_response"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "The submitted file is empty."),
        (b"no archive", "kayak_hire.zip: "),
        (pack({"readme.txt": "x"}), "kayak_hire.zip: has no files of a bot of Rasa"),
        (pack({"domain.yml": "intents: [\n"}), "domain.yml, line 2: the file is not valid YAML"),
        (
            pack({"domain.yml": RESERVED}),
            "Phrases of UNKNOWN, row 1, resulting intent: Choose",
        ),
    ],
)
def test_refusals_are_said_in_words(ada: Client, data: bytes, message: str) -> None:
    shown = upload(ada, data)
    text = shown.content.decode()
    assert message in text
    assert 'name="apply"' not in text
    if "packed" in shown.context:
        make_draft(ada, shown)
    assert not m.CeDraft.objects.exists()


def test_a_draft_that_cannot_be_opened_any_more_is_refused_in_words(ada: Client) -> None:
    draft, values = m.CeDraft.objects.create(title="Boats"), {"config_type": "Releases", "config_key": "MODE"}
    with open_draft(draft.pk, writing=True), change_set():
        m.CeConfig.objects.create(**values, config_value="LIVE")
    with change_set():
        m.CeConfig.objects.create(**values, config_value="LIVE")
    refused = make_draft(ada, upload(ada, pack(FILES)), title="Boats")
    assert "A new row of the draft “Boats” has the name of a row" in refused.content.decode()


def test_without_a_file_the_page_asks_for_one(ada: Client) -> None:
    assert "Choose a file" in ada.post(reverse(URL), {}).content.decode()
    assert "no longer available" in ada.post(reverse(URL), {"packed": "%%"}).content.decode()


def test_it_needs_the_rights_to_drafts_and_to_rows(somebody: Any) -> None:
    eve = somebody("eve", "qa")
    assert (eve.get(reverse(URL)).status_code, upload(eve, pack(FILES)).status_code) == (403, 403)
    User.objects.get(username="eve").user_permissions.add(Permission.objects.get(codename="add_cedraft"))
    assert eve.get(reverse(URL)).status_code == 403


def test_an_open_draft_needs_the_right_to_change_drafts(somebody: Any) -> None:
    m.CeDraft.objects.create(title="Boats")
    client = somebody("ann", "analyst")
    user = User.objects.get(username="ann")
    user.groups.clear()
    user.user_permissions.set(Permission.objects.filter(codename__regex=r"^(add_|change_|view_)ce[^d]|add_cedraft"))
    assert make_draft(client, upload(client, pack(FILES)), title="Boats").status_code == 403
    assert make_draft(client, upload(client, pack(FILES)), title="Other").status_code == 302
