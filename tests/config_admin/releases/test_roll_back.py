"""A roll-back is a new release with the rows of an old one."""

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.diff import differences
from config_admin.releases.queries import NoSuchRelease
from config_admin.releases.roll_back import roll_back
from tests.config_admin.builders import MODELS, edit, make, version

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.mark.parametrize("model", MODELS)
def test_rows_of_every_table_are_as_they_were(model):
    with change_set():
        changed = make(model)
    before, pk = version(), changed.pk
    created = changed.created_at
    with change_set():
        model.objects.filter(pk=pk).update(**edit(model))
    release = roll_back(before, author="ada", reason="too much", checked=False)
    assert differences(before, version()) == {}
    assert model.objects.get(pk=pk).created_at == created
    assert (release.origin, release.author, release.reason) == ("ROLLBACK", "ada", "too much")
    assert release.content_hash == m.CeRelease.objects.get(pk=before).content_hash
    entry = model.history.filter(**{model._meta.pk.name: pk}).latest()
    assert (entry.history_type, entry.config_version) == ("~", version())


@pytest.mark.parametrize("model", MODELS)
def test_rows_that_were_deleted_come_back_and_new_ones_go(model):
    before = version()
    with change_set():
        row = make(model)
    between, pk = version(), row.pk
    roll_back(before, checked=False)
    assert not model.objects.filter(pk=pk).exists()
    roll_back(between, checked=False)
    assert model.objects.filter(pk=pk).exists()
    assert differences(between, version()) == {}


def test_rows_may_swap_unique_names():
    with change_set():
        first, two = make(m.CeConfig, config_key="A"), make(m.CeConfig, config_key="B")
    before = version()
    with change_set():
        for row, key in ((first, "C"), (two, "A"), (first, "B")):
            row.config_key = key
            row.save()
    roll_back(before, checked=False)
    first.refresh_from_db()
    assert first.config_key == "A"


def test_what_the_engine_wrote_stays():
    server = make(m.CeMcpServer)
    with change_set():
        m.CeMcpServer.objects.update(timeout_ms=5)
    before = version()
    with change_set():
        m.CeMcpServer.objects.update(timeout_ms=6, last_status="UP")
    roll_back(before, checked=False)
    server.refresh_from_db()
    assert (server.timeout_ms, server.last_status) == (5, "UP")


def test_nothing_to_do_makes_no_release():
    before = version()
    assert roll_back(before, checked=False) is None
    assert version() == before


def test_an_unknown_release_changes_nothing():
    before = version()
    with pytest.raises(NoSuchRelease):
        roll_back(12345)
    assert version() == before


def test_it_says_what_it_did_when_nobody_else_does():
    before = version()
    with change_set():
        make(m.CeRule)
    assert roll_back(before, checked=False).reason == f"Roll back to version {before}"
