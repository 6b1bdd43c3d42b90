"""The pages of the configuration work in the draft of the session; the pages of drafts publish and discard it."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.drafts.middleware import KEY
from config_admin.drafts.open_draft import open_draft
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address, fill, send_again
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def row() -> m.CeResponse:
    return a_response(exact_text="We open at nine.", priority=10)


@pytest.fixture
def draft(ada: Client, row: m.CeResponse) -> m.CeDraft:
    answer = ada.post(reverse("admin:config_admin_cedraft_add"), {"title": "Christmas", "description": "Shorter hours"})
    assert answer.status_code == 302
    return m.CeDraft.objects.get()


def url(page: str, draft: m.CeDraft) -> str:
    return reverse(f"admin:config_admin_cedraft_{page}", args=[draft.pk])


def save(client: Client, row: m.CeResponse, **values: Any) -> str:
    answer: Any = fill(client, address(m.CeResponse, "change", row.pk), **values)
    return client.get(answer.url).content.decode() if answer.status_code == 302 else answer.content.decode()


def read_live(client: Client, draft: m.CeDraft) -> str:
    """What the page of publishing says that it would change."""
    return dict(client.get(url("publish", draft)).context["question"].inputs)["live"]


def read_draft(draft: m.CeDraft, row: m.CeResponse) -> m.CeResponse:
    with open_draft(draft.pk):
        return m.CeResponse.objects.get(pk=row.pk)


def test_a_form_saves_into_the_draft(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    before = head.read()
    page = save(ada, row, priority=7, reason="because")

    assert "It is saved in the draft “Christmas”. Conversations do not use it yet." in page
    assert "1 change" in page
    assert head.read() == before
    edit = draft.edits.get()
    assert (edit.row_pk, edit.after["priority"], edit.editor_name, edit.reason) == (str(row.pk), 7, "ada", "because")


def test_leaving_shows_what_is_live(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    save(ada, row, priority=7)
    ada.post(reverse("admin:config_admin_cedraft_leave"))
    page: Any = ada.get(address(m.CeResponse, "change", row.pk))
    assert page.context["adminform"].form["priority"].value() == 10
    assert 'aria-label="Draft"' not in page.content.decode()


def test_publishing_shows_the_changes_and_makes_one_release(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    save(ada, row, priority=7)
    before = head.newest()
    sent = {"live": read_live(ada, draft), "reason": "agreed"}
    answer = ada.post(url("publish", draft), sent, follow=True)

    assert f"published as release {before + 1}" in answer.content.decode()
    assert head.newest() == before + 1
    assert m.CeResponse.objects.get(pk=row.pk).priority == 7
    assert "draft" not in ada.session
    assert f"Release {before + 1}" in ada.get(url("change", draft)).content.decode()


@pytest.mark.parametrize("page", ["publish", "schedule"])
def test_an_empty_draft_says_why_it_is_not_published(
    ada: Client, draft: m.CeDraft, row: m.CeResponse, page: str
) -> None:
    assert "The draft has no changes yet" in ada.get(url(page, draft)).content.decode()

    save(ada, row, priority=7)
    with change_set():
        m.CeResponse.objects.filter(pk=row.pk).update(priority=7)
    shown = ada.get(url(page, draft)).content.decode()
    assert "The draft has no changes yet" not in shown
    assert "All changes of the draft are live already" in shown


def test_publishing_what_nobody_saw_asks_again(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    save(ada, row, priority=7)
    live = read_live(ada, draft)
    save(ada, row, priority=8)
    before = head.newest()
    answer = ada.post(url("publish", draft), {"live": live, "reason": "agreed"})
    assert "Review the changes again" in answer.content.decode()
    assert head.newest() == before


@pytest.mark.parametrize(("side", "priority"), [("draft", 7), ("live", 8)])
def test_a_conflict_is_decided_on_the_page_of_the_draft(
    ada: Client, draft: m.CeDraft, row: m.CeResponse, side: str, priority: int
) -> None:
    save(ada, row, priority=7, exact_text="Closed.")
    with change_set():
        m.CeResponse.objects.filter(pk=row.pk).update(priority=8)
    assert "Changed live and in the draft" in ada.get(url("change", draft)).content.decode()
    assert "Decide on the page of the draft" in ada.get(url("publish", draft)).content.decode()

    ada.post(url("settle", draft), {"table": "ce_response", "row": row.pk, "side": side})
    stored = read_draft(draft, row)
    assert (stored.priority, stored.exact_text) == (priority, "Closed.")
    assert "Changed live and in the draft" not in ada.get(url("change", draft)).content.decode()


@pytest.mark.parametrize(("how", "exists"), [("draft", True), ("live", False)])
def test_a_row_that_was_deleted_live_is_decided_on_the_page_of_the_draft(
    ada: Client, draft: m.CeDraft, row: m.CeResponse, how: str, exists: bool
) -> None:
    save(ada, row, priority=7)
    pk = row.pk
    with change_set(author="cem") as change:
        m.CeResponse.objects.get(pk=pk).delete()
    assert change.release is not None
    page = ada.get(url("change", draft)).content.decode()
    release = reverse("admin:config_admin_cerelease_change", args=[change.release.pk])
    assert f'Deleted live by cem in <a href="{release}">release {change.release.pk}</a>.' in page
    ada.post(url("settle", draft), {"table": "ce_response", "row": pk, "side": how})
    ada.post(url("publish", draft), {"live": read_live(ada, draft), "reason": "x"})
    assert m.CeResponse.objects.filter(pk=pk, priority=7).exists() == exists


def test_a_row_is_taken_out(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    save(ada, row, priority=7)
    assert "Take out" in ada.get(url("change", draft)).content.decode()
    ada.post(url("drop", draft), {"table": "ce_response", "row": row.pk})
    assert not draft.edits.exists()


def test_a_discarded_draft_is_left(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    save(ada, row, priority=7)
    assert "End this draft without publishing it?" in ada.get(url("discard", draft)).content.decode()
    ada.post(url("discard", draft))
    draft.refresh_from_db()
    assert draft.status == "DISCARDED"
    assert "draft" not in ada.session


def test_a_draft_that_ended_elsewhere_is_told(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    m.CeDraft.objects.update(status="DISCARDED")
    listed = reverse("admin:config_admin_ceresponse_changelist")
    assert "has ended" in ada.get(listed, follow=True).content.decode()
    assert ada.get(listed).status_code == 200


def test_who_lost_the_right_to_change_drafts_is_told_so_and_not_that_the_draft_ended(
    ada: Client, draft: m.CeDraft, row: m.CeResponse
) -> None:
    form = ada.get(address(m.CeResponse, "change", row.pk))
    User.objects.filter(username="ada").update(is_superuser=False)
    user = User.objects.get(username="ada")
    user.groups.clear()
    user.user_permissions.set(Permission.objects.exclude(codename="change_cedraft"))
    answer: Any = send_again(ada, form, priority=7)

    page = ada.get(answer.url).content.decode()
    assert "The draft that you worked in is not open to you any more" in page
    assert KEY not in ada.session


def test_two_drafts_of_one_row_name_each_other(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    save(ada, row, priority=7)
    ada.post(reverse("admin:config_admin_cedraft_add"), {"title": "New Year", "description": ""})
    save(ada, row, priority=8)
    page = ada.get(url("change", draft)).content.decode()
    assert "Other drafts change these rows too" in page
    assert "New Year" in page


@pytest.mark.parametrize("accept", ["text/html", "application/x-ndjson"])
def test_an_import_goes_into_the_draft(ada: Client, draft: m.CeDraft, accept: str) -> None:
    before, page = head.read(), reverse("admin:config_admin_cerelease_transfer")
    policy = {"policy_id": 7, "rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}
    file = SimpleUploadedFile("some.json", json.dumps({"ce_policy": [policy]}).encode())
    shown = ada.post(page, {"file": file})
    sent = {
        "packed": shown.context["packed"],
        "name": shown.context["name"],
        "mode": "",
        "apply": "1",
        "reason": "more",
    }
    answer: Any = ada.post(page, sent, headers={"Accept": accept})

    text = answer.getvalue().decode() if answer.streaming else ada.get(page).content.decode()
    assert "It is saved in the draft “Christmas”" in text
    assert head.read() == before
    assert [edit.row_pk for edit in draft.edits.all()] == ["7"]


def test_every_page_of_the_configuration_opens_in_a_draft(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    save(ada, row, description="Only in the draft")
    make(m.CeIntent)
    for name in ("ceintent_map", "cerule_health", "ceintent_start", "ceintent_faq", "ceconfig_effective"):
        assert ada.get(reverse(f"admin:config_admin_{name}")).status_code == 200, name
    assert "Only in the draft" in ada.get(reverse("admin:config_admin_ceresponse_changelist")).content.decode()
    assert not m.CeHealthReport.objects.exists()


def test_what_belongs_to_no_draft_is_stored(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    ada.post(reverse("admin:config_admin_cerule_health"), {"fingerprint": "a" * 32, "code": "X", "reason": "fine"})
    assert m.CeHealthAcknowledgement.objects.filter(pk="a" * 32).exists()


def test_who_loses_the_right_to_drafts_saves_nothing_live(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    form = ada.get(address(m.CeResponse, "change", row.pk))
    Permission.objects.filter(codename__endswith="_cedraft").delete()
    before = head.newest()
    answer: Any = send_again(ada, form, priority=7)
    assert answer.url == reverse("admin:index")
    assert head.newest() == before
    assert not draft.edits.exists()
    assert "draft" not in ada.session


def test_a_second_open_draft_of_a_title_is_refused(ada: Client, draft: m.CeDraft) -> None:
    answer = ada.post(reverse("admin:config_admin_cedraft_add"), {"title": "Christmas", "description": ""})
    assert "already exists" in answer.content.decode()


def test_a_name_that_is_live_meanwhile_is_taken_out_on_the_page_of_the_draft(ada: Client, draft: m.CeDraft) -> None:
    values = {"config_type": "Releases", "config_key": "MODE", "config_value": "LIVE"}
    with open_draft(draft.pk, writing=True), change_set():
        m.CeConfig.objects.create(**values)
    with change_set():
        m.CeConfig.objects.create(**values)
    answer = ada.get(reverse("admin:config_admin_ceconfig_changelist"), follow=True)
    assert "was made live meanwhile" in answer.content.decode()
    assert ada.get(url("publish", draft)).status_code == 200
    ada.post(url("drop", draft), {"table": "ce_config", "row": draft.edits.get().row_pk})
    assert ada.get(reverse("admin:config_admin_ceconfig_changelist")).status_code == 200


def test_home_names_open_drafts(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    save(ada, row, priority=7)
    page = ada.get(reverse("admin:index")).content.decode()
    assert "Christmas</a>: your draft, 1 change." in page


# --- changes that are reviewed ------------------------------------------------------------------------------------


@pytest.fixture
def reviewed(row: m.CeResponse) -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="MODE", config_value="REVIEWED")


def test_a_save_outside_of_a_draft_is_offered_one_and_loses_nothing(
    ada: Client, row: m.CeResponse, reviewed: None
) -> None:
    before = head.newest()
    refused: Any = fill(ada, address(m.CeResponse, "change", row.pk), priority=7, reason="Christmas")
    assert refused.status_code == 409
    assert "nothing that you typed is lost" in refused.content.decode()
    assert head.newest() == before

    sent = {**dict(refused.context["sent"]), "_draft_title": "Christmas"}
    answer = ada.post(address(m.CeResponse, "change", row.pk), sent, follow=True)
    assert "saved in the draft “Christmas”" in answer.content.decode()
    assert head.newest() == before
    assert m.CeDraft.objects.get().edits.get().after["priority"] == 7


def test_another_site_cannot_open_a_draft(ada: Client, row: m.CeResponse, reviewed: None) -> None:
    ada.handler.enforce_csrf_checks = True
    answer = ada.post(address(m.CeResponse, "change", row.pk), {"_draft_title": "Christmas"})
    assert answer.status_code == 403
    assert not m.CeDraft.objects.exists()
    assert KEY not in ada.session


def test_the_mode_itself_changes_in_a_draft_only(ada: Client, reviewed: None) -> None:
    setting = m.CeConfig.objects.get(config_key="MODE")
    refused: Any = fill(ada, address(m.CeConfig, "change", setting.pk), config_value="LIVE")
    assert refused.status_code == 409


def test_a_draft_is_published_where_changes_are_reviewed(
    ada: Client, draft: m.CeDraft, row: m.CeResponse, reviewed: None
) -> None:
    save(ada, row, priority=7)
    before = head.newest()
    ada.post(url("publish", draft), {"live": read_live(ada, draft), "reason": "agreed"})
    assert head.newest() == before + 1


# --- what nobody may lose -----------------------------------------------------------------------------------------


def test_what_was_typed_in_a_draft_that_ended_elsewhere_goes_into_another(
    ada: Client, draft: m.CeDraft, row: m.CeResponse
) -> None:
    form = ada.get(address(m.CeResponse, "change", row.pk))
    m.CeDraft.objects.update(status="DISCARDED")
    before = head.newest()
    asked: Any = send_again(ada, form, priority=7)
    assert asked.status_code == 409
    assert "The draft that you worked in has ended" in asked.content.decode()

    sent = {**dict(asked.context["sent"]), "_draft_title": "New Year"}
    answer = ada.post(address(m.CeResponse, "change", row.pk), sent, follow=True)
    assert "saved in the draft “New Year”" in answer.content.decode()
    assert head.newest() == before
    assert m.CeDraft.objects.get(title="New Year").edits.get().after["priority"] == 7


def test_an_export_in_a_draft_has_its_rows(ada: Client, draft: m.CeDraft, row: m.CeResponse) -> None:
    save(ada, row, description="Only in the draft")
    export = reverse("admin:config_admin_cerelease_transfer_export")
    assert "Only in the draft" in ada.get(export).content.decode()
    ada.post(reverse("admin:config_admin_cedraft_leave"))
    assert "Only in the draft" not in ada.get(export).content.decode()
