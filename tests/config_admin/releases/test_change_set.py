"""One change set makes one release; what fails leaves none."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connection, connections, transaction
from simple_history.models import HistoricalRecords

from config_admin import models as m
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set, current
from config_admin.releases.diff import differences
from config_admin.releases.models import Origin
from convengine.engine.turn import rows
from tests.config_admin.builders import changed_rows, make, version
from tests.config_admin.builders import rules as some_rules

pytestmark = pytest.mark.dialects


def changed_tables():
    """The tables in which the newest release differs from the one before."""
    return set(differences(newest().parent_id or 0, version()))


class Broken(Exception):
    """What goes wrong in these tests."""


def make_and_fail(model):
    make(model)
    raise Broken


def newest():
    return m.CeRelease.objects.get(pk=version())


@pytest.fixture
def user(django_user_model):
    return django_user_model.objects.create_user("ada")


@pytest.mark.django_db
def test_many_changes_make_one_release(user):
    before = version()
    with change_set(Origin.ADMIN, user, "A loan flow") as change:
        make(m.CeIntent)
        rule = make(m.CeRule)
        rule.priority = 5
        rule.save()
        m.CeResponse.objects.all().delete()
    release = newest()
    assert version() == before + 1
    assert (release.origin, release.author, release.reason) == ("ADMIN", "ada", "A loan flow")
    assert (release.parent_id, release.change_set) == (before or None, change.id)
    assert change.release == release


@pytest.mark.django_db
def test_history_says_who_and_why(user):
    with change_set(Origin.ADMIN, user, "A loan flow") as change:
        rule = make(m.CeRule)
    entry = rule.history.get()
    assert (entry.history_user, entry.history_change_reason) == (user, "A loan flow")
    assert (entry.config_version, entry.change_set) == (version(), change.id)
    assert (rule.updated_by, entry.updated_by) == ("ada", "ada")


@pytest.mark.django_db
def test_an_author_may_be_a_name():
    with change_set("API", "key nightly", "sync"):
        rule = make(m.CeRule)
    assert (newest().origin, newest().author, rule.updated_by) == ("API", "key nightly", "key nightly")
    assert rule.history.get().history_user is None


@pytest.mark.django_db
def test_without_an_author_it_is_the_user_of_the_request(user, rf):
    HistoricalRecords.context.request = rf.get("/")
    HistoricalRecords.context.request.user = user
    try:
        rule = make(m.CeRule)
    finally:
        del HistoricalRecords.context.request
    assert rule.history.get().history_user == user


@pytest.mark.django_db
def test_an_unknown_origin_is_refused():
    with pytest.raises(ValueError, match="GUESS"), change_set("GUESS"):
        pass


@pytest.mark.django_db
def test_changes_that_cancel_out_make_no_release():
    before = version()
    with change_set() as change:
        make(m.CeRule).delete()
    assert (version(), change.release) == (before, None)


@pytest.mark.django_db
def test_a_change_set_inside_another_is_part_of_it():
    before = version()
    with change_set(Origin.IMPORT, "ada", "outer") as outer:
        with change_set(Origin.ADMIN, "bob", "inner") as inner:
            make(m.CeRule)
        make(m.CeIntent)
    assert inner is outer
    assert (version(), newest().reason) == (before + 1, "outer")


@pytest.mark.django_db
def test_an_inner_change_set_that_fails_takes_back_only_its_own():
    with change_set():
        make(m.CeIntent)
        with pytest.raises(Broken), change_set():
            make_and_fail(m.CeRule)
    assert changed_tables() == {"ce_intent"}
    assert m.CeRule.history.count() == 0


@pytest.mark.django_db
def test_an_exception_leaves_neither_rows_nor_release_nor_history():
    before = m.CeConfigHead.objects.values().get()
    blobs = m.CeReleaseBlob.objects.count()
    with pytest.raises(Broken), change_set():
        make_and_fail(m.CeRule)
    assert m.CeConfigHead.objects.values().get() == before
    assert (m.CeRule.objects.count(), m.CeRule.history.count()) == (0, 0)
    assert m.CeReleaseBlob.objects.count() == blobs
    assert current() is None


@pytest.mark.django_db
def test_two_saves_of_a_row_in_one_change_set_are_one_entry_of_history():
    with change_set():
        rule = make(m.CeRule)
        rule.priority = 1
        rule.save()
    assert [(entry.history_type, entry.priority) for entry in rule.history.all()] == [("+", 1)]


@pytest.mark.django_db
def test_raw_sql_inside_a_change_set_is_part_of_it():
    rule = make(m.CeRule)
    before = version()
    with change_set(reason="by hand"):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE ce_rule SET priority = 1")
        make(m.CeIntent)
    assert version() == before + 1
    assert rule.history.first().history_change_reason == "by hand"


@pytest.mark.django_db
def test_raw_sql_between_recorded_writes_is_noticed():
    rule = make(m.CeRule)
    with change_set():
        make(m.CeIntent)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE ce_rule SET priority = 1")
        make(m.CePolicy)
    assert rule.history.first().priority == 1
    assert m.CeConfigHead.objects.get(pk=1).settled


@pytest.mark.django_db
def test_raw_sql_before_a_change_set_gets_a_release_of_its_own():
    rule = make(m.CeRule)
    before = version()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_rule SET priority = 1")
    with change_set(Origin.ADMIN, "ada", "mine"):
        make(m.CeIntent)
    assert version() == before + 2
    assert m.CeRelease.objects.get(pk=before + 1).origin == "OUT_OF_BAND"
    assert rule.history.first().config_version == before + 1


@pytest.mark.django_db(transaction=True)
def test_each_write_outside_of_any_transaction_is_a_release_of_its_own():
    before = version()
    rule = make(m.CeRule)
    rule.priority = 1
    rule.save()
    assert version() == before + 2
    assert newest().origin == "SHELL"


@pytest.mark.django_db(transaction=True)
def test_plain_writes_in_one_transaction_make_one_release():
    before = version()
    with transaction.atomic():
        rule = make(m.CeRule)
        rule.priority = 1
        rule.save()
        make(m.CeIntent)
    assert version() == before + 1
    assert changed_tables() == {"ce_rule", "ce_intent"}
    assert [entry.history_type for entry in rule.history.all()] == ["~", "+"]


@pytest.mark.django_db(transaction=True)
def test_the_next_transaction_makes_the_next_release():
    before = version()
    for _ in range(2):
        with transaction.atomic():
            make(m.CeRule)
    assert version() == before + 2


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_is_rolled_back_leaves_nothing():
    before = m.CeConfigHead.objects.values().get()
    with pytest.raises(Broken), transaction.atomic():
        make_and_fail(m.CeRule)
    make(m.CeIntent)
    assert newest().config_version == before["config_version"] + 1
    assert changed_tables() == {"ce_intent"}
    assert m.CeRule.history.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_savepoint_that_is_rolled_back_takes_only_its_part_of_the_release():
    before = version()
    with transaction.atomic():
        make(m.CeRule)
        with pytest.raises(Broken), transaction.atomic():
            make_and_fail(m.CeIntent)
        make(m.CePolicy)
    assert version() == before + 1
    assert changed_tables() == {"ce_rule", "ce_policy"}


@pytest.mark.django_db(transaction=True)
def test_a_release_made_and_rolled_back_in_a_savepoint_is_not_amended():
    before = version()
    with transaction.atomic():
        with pytest.raises(Broken), transaction.atomic():
            make_and_fail(m.CeIntent)
        make(m.CePolicy)
    assert version() == before + 1
    assert changed_tables() == {"ce_policy"}


@pytest.mark.django_db(transaction=True)
def test_two_named_change_sets_in_one_transaction_are_two_releases():
    before = version()
    with transaction.atomic():
        make(m.CePolicy)
        with change_set(Origin.ADMIN, "ada", "one"):
            make(m.CeRule)
        with change_set(Origin.ADMIN, "ada", "two"):
            make(m.CeIntent)
        make(m.CeRule)
    assert version() == before + 4
    reasons = m.CeRelease.objects.order_by("pk").values_list("reason", flat=True)
    assert list(reasons)[-4:] == ["", "one", "two", ""]


@pytest.mark.django_db
def test_a_pin_inside_a_change_set_sees_what_was_written_so_far():
    before = version()
    with change_set(Origin.ADMIN, "ada", "why"):
        rule = make(m.CeRule)
        seen = snapshots.current()
        make(m.CeIntent)
    assert seen.row(rows.Rule, rule.pk).priority == 100
    assert version() == before + 1
    assert changed_tables() == {"ce_rule", "ce_intent"}


@pytest.mark.django_db
def test_a_bulk_write_is_one_release_with_a_history_entry_for_each_row():
    before = version()
    made_rules = m.CeRule.objects.bulk_create(some_rules(600))
    m.CeRule.objects.filter(pk__in=[rule.pk for rule in made_rules[:550]]).update(enabled=False)
    with change_set():
        for rule in made_rules[:10]:
            rule.delete()
    signs = m.CeRule.history.values_list("history_type", flat=True)
    assert {sign: list(signs).count(sign) for sign in "+~-"} == {"+": 600, "~": 550, "-": 10}
    assert version() > before


@pytest.mark.django_db(transaction=True)
def test_writers_beside_one_another_make_releases_without_gaps():
    before = version()

    def write(number):
        try:
            for turn in range(3):
                with change_set(Origin.API, f"writer {number}"):
                    make(m.CePolicy, pattern=f"{number}/{turn}")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    releases = m.CeRelease.objects.filter(pk__gt=before).order_by("pk")
    assert [release.pk for release in releases] == list(range(before + 1, before + 13))
    assert [release.parent_id for release in releases] == [release.pk - 1 or None for release in releases]
    assert {release.origin for release in releases} == {"API"}
    assert all(len(changed_rows(release.pk)) == 1 for release in releases)


@pytest.mark.django_db(transaction=True)
def test_a_change_set_waits_for_raw_sql_and_is_not_taken_for_it():
    rule = make(m.CeRule)
    before = version()
    written, finish = Event(), Event()

    def by_hand():
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("UPDATE ce_rule SET priority = 1")
                written.set()
                finish.wait(0.3)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(by_hand)
        written.wait(60)
        with change_set(Origin.ADMIN, "ada"):
            make(m.CeIntent)
        other.result()
    releases = m.CeRelease.objects.filter(pk__gt=before).order_by("pk").values_list("origin", flat=True)
    assert list(releases) == ["OUT_OF_BAND", "ADMIN"]
    assert rule.history.first().config_version == before + 1
