"""Whatever changes rows in the admin leaves a history of every row, and a release with author and reason."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client, RequestFactory
from django.urls import reverse

from config_admin import models as m
from config_admin.editing.setting_fields import to_choice
from config_admin.releases.change_set import change_set
from config_admin.releases.content import content_of, contents
from config_admin.releases.diff import differences
from config_admin.validation.stored_columns import control_plane, kept_columns
from convengine.engine.turn.live_settings import CATALOGUE
from tests.cases import for_each
from tests.config_admin.admin.pages import address, fill, newest, send_again
from tests.config_admin.builders import EACH_MODEL, MODELS, edit, make

pytestmark = pytest.mark.django_db
#: Models whose example names what no test installs, so that forms refuse it.
NOT_INSTALLED = (m.CeContainerConfig, m.CePendingAction, m.CeTool, m.CeMcpHttpTool, m.CeMcpServer)
WHY = {"reason": "Because", "post": "yes", "confirmed": "1"}


def check_releases(since: int) -> int:
    """Hold every release after one to its promise; gives how many there are."""
    releases = m.CeRelease.objects.filter(pk__gt=since)
    for release in releases:
        assert (release.author, release.reason.startswith("Because")) == ("ada", True), release
        for table, rows in differences(release.parent_id, release.pk).items():
            written = control_plane()[table].history.filter(config_version=release.pk)
            assert {entry.instance.pk for entry in written} == {row.pk for row in rows}
            assert {entry.history_user.username for entry in written} == {"ada"}
            assert all(entry.history_change_reason.startswith("Because") for entry in written)
    for table, rows in differences(0, newest().pk).items():
        assert contents(table) == {row.pk: row.after for row in rows}
    return releases.count()


def now_of(row: Any) -> Any:
    """A row, and what its history says that it is."""
    entry = row.history.order_by("-history_id")[0]
    assert {name: getattr(entry, name) for name in kept_columns(row._meta.db_table)} == {
        name: getattr(row, name) for name in kept_columns(row._meta.db_table)
    }
    return content_of(row)


@pytest.fixture
def row(model: Any) -> Any:
    """A row that may be changed, switched and deleted."""
    with change_set():
        if model is not m.CeIntent:
            make(m.CeIntent)
        return make(model)


def actions_of(model: Any) -> Iterator[str]:
    request = RequestFactory().get("/")
    request.user = User.objects.get(username="ada")
    yield from admin.site.get_model_admin(model).get_actions(request)


def confirm(client: Client, response: Any, **sent: Any) -> Any:
    """Send a form that warnings hold once more."""
    return send_again(client, response, _confirm="1", **sent) if response.status_code == 200 else response


@for_each("model", MODELS)
def test_a_deletion_is_recorded(ada: Client, model: Any) -> None:
    with transaction.atomic():
        row = make(model)
        first = newest().pk
        ada.post(address(model, "delete", row.pk), WHY)
        assert not model.objects.filter(pk=row.pk).exists()
        assert check_releases(first) == 1
        transaction.set_rollback(True)


@EACH_MODEL
def test_an_edit_is_recorded_and_can_be_put_back(model: Any, row: Any, ada: Client) -> None:
    before, first = now_of(row), newest().pk
    url = address(model, "change", row.pk)
    values = {name: value if value is not False else None for name, value in edit(model).items()}
    fields = ada.get(url).context["adminform"].form.fields
    values = {name: fields[name].prepare_value(value) for name, value in values.items()}

    confirm(ada, fill(ada, url, **values), **values)
    stored = model.objects.get(pk=row.pk)
    changed = check_releases(first)
    assert changed == (model not in NOT_INSTALLED)
    if changed:
        assert now_of(stored) != before
        ada.post(address(model, "put_back", row.pk, first), WHY)
        assert check_releases(first) == 2
        assert now_of(model.objects.get(pk=row.pk)) == before


@EACH_MODEL
def test_what_actions_and_deletions_change_is_recorded_and_comes_back(model: Any, row: Any, ada: Client) -> None:
    first, played = newest().pk, 0
    for action in reversed(list(actions_of(model))):
        sent = {"action": action, ACTION_CHECKBOX_NAME: [row.pk]}
        ada.post(address(model), sent | WHY | {"reason": ""})
        assert check_releases(first) == played, f"{action} changed rows without a reason"
        ada.post(address(model), sent | WHY)
        played = check_releases(first)
        if not model.objects.filter(pk=row.pk).exists():
            ada.post(address(model, "put_back", row.pk, first), WHY)
            played = check_releases(first)
    assert played

    was_there = model.objects.filter(pk=row.pk).exists()
    ada.post(address(model, "delete", row.pk), WHY)
    is_there = model.objects.filter(pk=row.pk).exists()
    assert check_releases(first) == played + (was_there and not is_there)


@EACH_MODEL
def test_going_back_is_recorded(model: Any, row: Any, ada: Client) -> None:
    first = newest().pk
    with change_set("ADMIN", User.objects.get(username="ada"), "Because"):
        model.objects.filter(pk=row.pk).update(**edit(model))
    edited = newest().pk

    ada.post(reverse("admin:config_admin_cerelease_take_back", args=[edited]), WHY)
    ada.post(reverse("admin:config_admin_cerelease_roll_back", args=[edited]), WHY)
    ada.post(reverse("admin:config_admin_cerelease_roll_back", args=[first]), WHY)

    assert check_releases(first) >= 1


def test_settings_that_are_changed_in_their_place_are_recorded(ada: Client) -> None:
    first = newest().pk
    setting = CATALOGUE["SESSION", "IDLE_TIMEOUT_HOURS"]
    url = f"{reverse('admin:config_admin_ceconfig_effective')}?edit={setting.name}"

    ada.post(url, {"config_value": to_choice(setting, "48"), "reason": "Because"})

    assert check_releases(first) == 1
