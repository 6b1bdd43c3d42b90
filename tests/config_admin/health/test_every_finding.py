"""Every kind of finding, with its row, without it and without any, is shown on every page that lists some."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.editing.links import release_url
from config_admin.health import check, page
from config_admin.health.check import check_all
from config_admin.health.diagnosis import Diagnosis, make_diagnosis
from config_admin.health.stored_findings import store_findings
from config_admin.health.survey import Survey
from config_admin.history import release_admin
from config_admin.releases import head
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.validation.codes import HEALTH_CODES
from config_admin.validation.draft import Severity
from config_admin.validation.world import World
from config_admin.workplace import home
from convengine.engine.turn import rows
from tests.config_admin.admin.pages import a_response, address, fill
from tests.config_admin.builders import make
from tests.config_admin.health.test_page import open_finished_check

pytestmark = pytest.mark.django_db
MOST = 10_000
KINDS = ("of a number", "of a code", "without a row")
MESSAGES = [f"{code} {kind}." for code in HEALTH_CODES for kind in KINDS]


def find_every_kind(survey: Survey) -> Iterator[Diagnosis]:
    """Findings of all kinds while the priority of the answer is 7."""
    answer = next(row for row in survey.snapshot.rows(rows.Response) if row.intent_code == "LOAN")
    intent = survey.snapshot.row(rows.Intent, "LOAN")
    for code in HEALTH_CODES if answer.priority == 7 else ():
        for kind, row in zip(KINDS, (answer, intent, None), strict=True):
            yield make_diagnosis(code, Severity.WARNING, row, f"{code} {kind}.", "So it is.", table="ce_response")


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> m.CeResponse:
    for module, name in ((home, "NEWEST_FINDINGS"), (page, "SHOWN"), (release_admin, "MAX_FINDINGS")):
        monkeypatch.setattr(module, name, MOST)
    monkeypatch.setattr("config_admin.drafts.sections.SHOWN", MOST)
    monkeypatch.setattr(check, "CHECKS", (check.Check("all", find_every_kind, frozenset({"ce_response"})),))
    with change_set():
        make(m.CeIntent)
        return a_response(intent_code="LOAN", priority=10)


def raise_findings(answer: m.CeResponse) -> None:
    """All findings exist from now on, in one release that changes their rows."""
    with change_set():
        m.CeResponse.objects.filter(pk=answer.pk).update(priority=7)
        m.CeIntent.objects.update(priority=7)
    store_findings(check_all(snapshots.current(), World()), snapshots.current())


def list_missing(page: str) -> list[str]:
    return [message for message in MESSAGES if message not in page]


def test_home_health_and_the_release_show_all(
    ada: Client, answer: m.CeResponse, monkeypatch: pytest.MonkeyPatch
) -> None:
    raise_findings(answer)
    monkeypatch.setattr(release_admin, "MAX_CHECKED", 0)

    assert list_missing(ada.get("/admin/").content.decode()) == []
    assert list_missing(open_finished_check(ada)) == []
    assert list_missing(ada.get(release_url(head.newest())).content.decode()) == []


def test_home_shows_findings_of_rows_that_are_gone(ada: Client, answer: m.CeResponse) -> None:
    raise_findings(answer)
    with change_set():
        answer.delete()

    assert list_missing(ada.get("/admin/").content.decode()) == []


def test_a_draft_and_a_saved_form_show_all(ada: Client, answer: m.CeResponse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config_admin.health.page.TOLD", MOST)
    monkeypatch.setattr("config_admin.health.page._SHOWN", HEALTH_CODES.keys())
    ada.post(reverse("admin:config_admin_cedraft_add"), {"title": "Spring", "description": "Louder"})
    saved: Any = fill(ada, address(m.CeResponse, "change", answer.pk), priority=7)

    assert list_missing(ada.get(saved.url).content.decode()) == []
    draft = m.CeDraft.objects.get()
    assert list_missing(ada.get(reverse("admin:config_admin_cedraft_change", args=[draft.pk])).content.decode()) == []
