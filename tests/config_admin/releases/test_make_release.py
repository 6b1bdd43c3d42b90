"""What a release stores, how much of it, and what is found that nobody recorded."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.make_release import settle
from config_admin.releases.models import Origin
from config_admin.releases.queries import row_at
from tests.config_admin.builders import make, new, rules

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def head():
    return m.CeConfigHead.objects.get(pk=1)


def stored_bytes():
    return sum(len(bytes(data)) for data in m.CeReleaseBlob.objects.values_list("data", flat=True))


@pytest.mark.nightly
@pytest.mark.django_db
def test_an_edit_of_one_rule_among_5000_stores_less_than_20_kilobytes():
    m.CeRule.objects.bulk_create(rules(5000))
    sizes = []
    for rule in m.CeRule.objects.order_by("rule_id")[100:5000:1200]:
        before = stored_bytes()
        rule.action_value = "ELSEWHERE"
        rule.save()
        sizes.append(stored_bytes() - before)
    assert max(sizes) < 20_000
    assert min(sizes) > 0


@pytest.mark.django_db
def test_a_save_costs_the_same_queries_however_many_rows_there_are():
    counts = []
    for more in (300, 3000):
        m.CeRule.objects.bulk_create(rules(more))
        with CaptureQueriesContext(connection) as queries, change_set():
            m.CeRule.objects.filter(pk=m.CeRule.objects.first().pk).update(priority=more)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 25


@pytest.mark.django_db
def test_sql_from_outside_costs_the_same_queries_however_many_rows_there_are():
    counts = []
    for more in (300, 3000):
        m.CeRule.objects.bulk_create(rules(more))
        with connection.cursor() as cursor:
            first = "SELECT min(rule_id) FROM ce_rule"
            cursor.execute(f"UPDATE ce_rule SET priority = %s WHERE rule_id = ({first})", [more])
        with CaptureQueriesContext(connection) as queries:
            settle(Origin.OUT_OF_BAND)
        counts.append(sum("ce_rule" in query["sql"] and "SELECT" in query["sql"] for query in queries))
    # The stamps of the changed row, all rows, and the new row of history for its seal.
    assert counts[0] == counts[1] == 3


@pytest.mark.django_db
def test_tables_that_were_not_touched_keep_their_hash():
    make(m.CeRule)
    before = m.CeRelease.objects.get(pk=head().config_version).manifest
    with change_set():
        make(m.CePolicy)
    after = m.CeRelease.objects.get(pk=head().config_version).manifest
    assert {table for table in after if after[table] != before.get(table)} == {"ce_policy"}


@pytest.mark.django_db
def test_the_same_rows_have_the_same_hash_again():
    with change_set():
        rule = make(m.CeRule)
    before = head()
    for priority in (1, 100):
        with change_set():
            rule.priority = priority
            rule.save()
    assert head().content_hash == before.content_hash
    assert head().config_version == before.config_version + 2


@pytest.mark.django_db
def test_a_release_is_not_changed_or_deleted():
    with change_set() as change:
        make(m.CeRule)
    with pytest.raises(TypeError, match="immutable"):
        change.release.save()
    with pytest.raises(TypeError, match="immutable"):
        change.release.delete()


@pytest.mark.django_db
@pytest.mark.parametrize("model", [m.CeRelease, m.CeReleaseBlob])
def test_releases_are_not_changed_by_queries_either(model):
    make(m.CeRule)
    row = model.objects.first()
    name = "reason" if model is m.CeRelease else "codec"
    for change in (
        lambda: model.objects.update(**{name: "x"}),
        lambda: model.objects.bulk_update([row], [name]),
        lambda: model.objects.all().delete(),
        lambda: model.objects.bulk_create([row], update_conflicts=True, unique_fields=["pk"], update_fields=[name]),
    ):
        with pytest.raises(TypeError, match="immutable"):
            change()


@pytest.mark.django_db
@pytest.mark.parametrize(("table", "column"), [("ce_release", "reason"), ("ce_release_blob", "codec")])
def test_releases_are_not_changed_by_sql_either(table, column):
    make(m.CeRule)
    statements = [f"UPDATE {table} SET {column} = 'x'"]
    if connection.vendor == "postgresql":
        statements.append(f"DELETE FROM {table}")
    for statement in statements:
        with (
            pytest.raises(IntegrityError, match=f"{table} is append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)


@pytest.mark.django_db
def test_a_release_is_amended_by_the_transaction_that_made_it_and_sealed_again():
    with change_set() as change:
        make(m.CeRule)
    with transaction.atomic():
        first, second = make(m.CeIntent, intent_code="A"), make(m.CeIntent, intent_code="B")
    assert row_at(head().config_version, "ce_intent", first.pk)
    assert row_at(head().config_version, "ce_intent", second.pk)
    assert head().config_version == change.release.pk + 1
    assert head().released_counter == head().write_counter


@pytest.mark.django_db
def test_a_change_past_the_application_becomes_a_release_with_its_differences():
    rule = make(m.CeRule)
    make(m.CeIntent)
    before = head()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_rule SET priority = 1")
        cursor.execute("UPDATE ce_intent SET enabled = %s", [False])
    settle(Origin.OUT_OF_BAND)
    release = m.CeRelease.objects.get(pk=before.config_version + 1)
    assert (release.origin, release.author) == ("OUT_OF_BAND", "")
    assert release.reason == "Direct database change: 1 intent, 1 rule"
    entry = rule.history.first()
    assert (entry.history_type, entry.priority, entry.config_version) == ("~", 1, release.config_version)
    assert entry.history_change_reason == release.reason


@pytest.mark.django_db
def test_a_write_that_changes_nothing_makes_no_release():
    make(m.CeRule)
    before = head()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_rule SET priority = priority")
    settled = settle(Origin.OUT_OF_BAND)
    assert settled.config_version == before.config_version
    assert settled.settled


@pytest.mark.django_db
def test_what_is_settled_is_not_looked_at_again(django_assert_num_queries):
    make(m.CeRule)
    with django_assert_num_queries(3):
        settle(Origin.OUT_OF_BAND)


@pytest.mark.django_db
def test_a_lost_head_is_made_anew_on_the_newest_release():
    rule = make(m.CeRule)
    before = head()
    m.CeConfigHead.objects.all().delete()
    with change_set():
        m.CeRule.objects.update(priority=1)
    assert head().config_version == before.config_version + 1
    assert rule.history.first().priority == 1


@pytest.mark.django_db
def test_numbers_of_any_size_and_any_text_are_kept():
    values = {"n": 2**70, "t": "ünï ✓ \u2028", "f": 0.1, "nested": [{"b": None}]}
    tool = make(m.CeTool, args_template=values)
    before = head().config_version
    tool.save()
    assert head().config_version == before
    assert row_at(before, "ce_tool", tool.pk)["args_template"] == values


def test_the_next_row_after_given_ids_has_the_next_id():
    first = make(m.CeRule)
    m.CeRule.objects.bulk_create([new(m.CeRule, rule_id=first.pk + 1), new(m.CeRule, rule_id=first.pk + 5)])
    assert make(m.CeRule).pk == first.pk + 6


def test_ids_of_deleted_rows_are_not_given_again():
    with change_set():
        last = make(m.CeRule).pk
        m.CeRule.objects.all().delete()
        make(m.CeRule, rule_id=1)
    assert make(m.CeRule).pk > last


def test_ids_given_by_raw_sql_are_known_after_the_next_pin():
    first = make(m.CeConfig).pk
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ce_config (config_id, config_type, config_key, config_value) VALUES (%s, 'A', 'B', 'C')",
            [first + 1],
        )
    snapshots.current()
    assert make(m.CeConfig, config_key="Y").pk == first + 2
