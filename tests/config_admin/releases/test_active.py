"""A turn pins the newest configuration without a query of its own, and sees every edit."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import close_old_connections, connection, connections
from django.test import override_settings

from config_admin import models as m
from config_admin.releases import head
from config_admin.releases.active import KEEP, Snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.queries import NoSuchRelease
from convengine.engine.turn import rows
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.config_admin.builders import make, version
from tests.config_admin.builders import rules as some_rules
from tests.database import allow_forging, in_another_process

pytestmark = pytest.mark.dialects


@pytest.fixture
def snapshots():
    return Snapshots()


def test_it_is_what_the_settings_name():
    assert isinstance(configuration(), Snapshots)


@pytest.mark.django_db
def test_a_known_head_costs_no_query(snapshots, django_assert_num_queries):
    make(m.CeRule)
    text = head.read()
    first = snapshots.pin(text)
    with django_assert_num_queries(0):
        assert snapshots.pin(text) is first
    with django_assert_num_queries(1):
        assert snapshots.current() is first


@pytest.mark.django_db
def test_an_edit_is_in_force_at_the_next_pin(snapshots):
    rule = make(m.CeRule)
    before = snapshots.current()
    with change_set():
        rule.priority = 1
        rule.save()
    after = snapshots.current()
    assert (before.row(rows.Rule, rule.pk).priority, after.row(rows.Rule, rule.pk).priority) == (100, 1)
    assert (after.config_version, before.config_version) == (version(), version() - 1)


@pytest.mark.django_db
def test_the_first_turn_after_an_edit_reads_what_changed(snapshots, django_assert_num_queries):
    m.CeRule.objects.bulk_create(some_rules(3000))
    snapshots.current()
    with change_set():
        m.CeRule.objects.filter(pk=m.CeRule.objects.last().pk).update(priority=1)
    with django_assert_num_queries(4):
        snapshots.current()


@pytest.mark.django_db
def test_the_same_content_under_another_version_is_another_snapshot_on_the_same_tables(snapshots):
    with change_set():
        rule = make(m.CeRule)
    first = snapshots.current()
    for priority in (1, 100):
        with change_set():
            rule.priority = priority
            rule.save()
    again = snapshots.current()
    assert again.config_version == first.config_version + 2
    assert again.table(rows.Rule) is first.table(rows.Rule)


@pytest.mark.django_db
def test_a_write_past_the_application_is_released_first(snapshots):
    rule = make(m.CeRule)
    before = snapshots.current()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_rule SET priority = 1")
    after = snapshots.current()
    assert after.row(rows.Rule, rule.pk).priority == 1
    assert after.config_version == before.config_version + 1
    assert m.CeRelease.objects.get(pk=after.config_version).origin == "OUT_OF_BAND"


@pytest.mark.django_db
def test_a_missing_head_is_made_anew(snapshots):
    before = snapshots.current()
    m.CeConfigHead.objects.all().delete()
    assert snapshots.pin(None).config_version == before.config_version
    assert head.read()


@pytest.mark.django_db(transaction=True)
def test_an_emptied_database_pins_an_empty_snapshot(snapshots):
    with allow_forging("ce_release"), connection.cursor() as cursor:
        for table in ("ce_response", "ce_config", "ce_release", "ce_release_blob", "ce_config_head"):
            cursor.execute(f"DELETE FROM {table}")
    snapshot = snapshots.current()
    assert snapshot.config_version == 0
    assert all(len(table) == 0 for table in snapshot.tables.values())


@pytest.mark.django_db
def test_any_past_version_can_be_had(snapshots):
    rule = make(m.CeRule)
    for priority in range(1, KEEP + 4):
        with change_set():
            rule.priority = priority
            rule.save()
        snapshots.current()
    newest = version()
    for back in range(KEEP + 3):
        past = snapshots.at(newest - back)
        assert past.config_version == newest - back
        assert past.row(rows.Rule, rule.pk).priority == KEEP + 3 - back
    assert snapshots.at(newest) is snapshots.current()
    assert snapshots.at(0).rows(rows.Rule) == ()


@pytest.mark.django_db
def test_a_past_version_is_kept_for_a_while(snapshots, django_assert_num_queries):
    with change_set():
        make(m.CeRule)
    snapshots.current()
    past = snapshots.at(version() - 1)
    with django_assert_num_queries(2):
        assert snapshots.at(version() - 1) is past


@pytest.mark.django_db
def test_a_version_that_never_was_is_told(snapshots):
    with pytest.raises(NoSuchRelease):
        snapshots.at(4711)


def lose_blobs() -> None:
    with allow_forging("ce_release_blob"), connection.cursor() as cursor:
        cursor.execute("DELETE FROM ce_release_blob")


@pytest.mark.django_db
def test_a_release_that_cannot_be_loaded_leaves_the_last_one_in_force(snapshots):
    rule = make(m.CeRule)
    before = snapshots.current()
    with change_set():
        rule.priority = 1
        rule.save()
    lose_blobs()
    assert snapshots.current() is before


@pytest.mark.django_db
def test_without_any_release_that_can_be_loaded_the_turn_fails(monkeypatch):
    make(m.CeRule)
    lose_blobs()
    monkeypatch.setattr(configuration(), "_newest", {})
    monkeypatch.setattr(configuration(), "_past", {})

    answer = Caller().say("Hello")

    assert (answer["success"], answer["errorCode"]) == (False, "CONFIG_INVALID")
    assert answer["message"] == (
        f"Release {version()} cannot be loaded. Publish a new release, or roll back to an older one."
    )
    assert not CeConversationHistory.objects.exists()


@pytest.mark.django_db
def test_few_snapshots_are_kept(snapshots):
    for number in range(KEEP + 3):
        with change_set():
            make(m.CePolicy, pattern=f"p{number}")
        snapshots.current()
        snapshots.at(version() - 1)
    assert len(snapshots._newest) == KEEP
    assert len(snapshots._past) <= KEEP


@pytest.mark.django_db
def test_the_deployments_defaults_go_with_the_snapshot(snapshots):
    first = snapshots.current()
    with override_settings(CONVENGINE={"SETTING_DEFAULTS": {("SESSION", "X"): "1"}}):
        second = snapshots.current()
        assert snapshots.current() is second
    assert (first.defaults, second.defaults) == ({}, {("SESSION", "X"): "1"})
    assert second.table(rows.Response) is first.table(rows.Response)


@pytest.mark.django_db(transaction=True)
def test_many_threads_pin_one_snapshot(snapshots):
    m.CeRule.objects.bulk_create(some_rules(500))
    text = head.read()

    def pin(_):
        try:
            return snapshots.pin(text)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        pinned = list(pool.map(pin, range(32)))
    assert len({id(snapshot) for snapshot in pinned}) == 1


@pytest.mark.django_db(transaction=True)
def test_many_threads_find_one_write_and_make_one_release(snapshots):
    make(m.CeRule)
    before = version()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_rule SET priority = 1")
    text = head.read()

    def pin(_):
        try:
            return Snapshots().pin(text).config_version
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(pin, range(8))) == {before + 1}
    assert m.CeRelease.objects.filter(origin="OUT_OF_BAND").count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_edit_of_another_process_is_seen_at_the_next_pin(snapshots):
    rule = make(m.CeRule)
    before = snapshots.current()
    connection.close()
    printed = in_another_process(
        "from config_admin.models import CeRule\n"
        "from config_admin.releases.active import snapshots\n"
        "print(snapshots.current().config_version)\n"
        "CeRule.objects.update(priority=3)\n"
        "print(snapshots.current().config_version)\n"
    )
    assert [int(line) for line in printed.split()] == [before.config_version, before.config_version + 1]
    after = snapshots.current()
    assert after.config_version == before.config_version + 1
    assert after.row(rows.Rule, rule.pk).priority == 3


@pytest.mark.django_db(transaction=True)
def test_raw_sql_over_another_connection_is_found_here(snapshots):
    def write():
        with connection.cursor() as cursor:
            cursor.execute("UPDATE ce_rule SET priority = 4")
        connections.close_all()

    rule = make(m.CeRule)
    before = snapshots.current()
    with ThreadPoolExecutor() as pool:
        pool.submit(write).result()
    after = snapshots.current()
    assert after.row(rows.Rule, rule.pk).priority == 4
    assert m.CeRelease.objects.get(pk=before.config_version + 1).origin == "OUT_OF_BAND"
    close_old_connections()
