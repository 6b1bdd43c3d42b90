"""Rows as stored become rows as the engine reads them, and what did not change is used again."""

from decimal import Decimal

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.compile import compile_release, compile_rows, row_of
from config_admin.releases.queries import manifest_of
from convengine.engine.turn import rows
from tests.config_admin.builders import MODELS, make, new, version
from tests.config_admin.builders import rules as some_rules
from tests.database import allow_forging

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def compile_newest(known=()):
    return compile_release(version(), manifest_of(version()), {}, known)


@pytest.mark.parametrize("model", MODELS)
def test_a_row_of_every_table_arrives_with_its_values(model):
    stored = make(model)
    stored.refresh_from_db()
    row_type = rows.ROW_TYPE_OF[model._meta.db_table]
    row = compile_newest().snapshot.row(row_type, stored.pk)
    assert type(row) is row_type
    for name in rows.columns(row_type):
        if name != "created_at" and hasattr(stored, name):
            value = getattr(stored, name)
            assert getattr(row, name) == (float(value) if isinstance(value, Decimal) else value)


def test_numbers_and_times_have_the_engines_types():
    template = make(m.CePromptTemplate, temperature="0.70")
    row = compile_newest().snapshot.row(rows.PromptTemplate, template.pk)
    assert row.temperature == 0.7
    assert isinstance(row.temperature, float)
    assert row.created_at == template.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_rows_stand_in_the_order_of_their_keys():
    m.CeRule.objects.bulk_create(some_rules(300))
    for code in ("B", "A", "C"):
        make(m.CeIntent, intent_code=code)
    snapshot = compile_newest().snapshot
    assert [r.pk for r in snapshot.rows(rows.Rule)] == sorted(m.CeRule.objects.values_list("pk", flat=True))
    assert [i.pk for i in snapshot.rows(rows.Intent)] == ["A", "B", "C"]


def test_tables_that_did_not_change_are_the_same_objects():
    make(m.CeRule)
    first = compile_newest()
    with change_set():
        make(m.CeIntent)
    second = compile_newest([first])
    assert second.snapshot.table(rows.Rule) is first.snapshot.table(rows.Rule)
    assert second.snapshot.table(rows.Intent) is not first.snapshot.table(rows.Intent)


def test_rows_of_chunks_that_did_not_change_are_the_same_objects(django_assert_num_queries):
    m.CeRule.objects.bulk_create(some_rules(3000))
    first = compile_newest()
    with change_set():
        m.CeRule.objects.filter(pk=m.CeRule.objects.first().pk).update(priority=1)
    manifest = manifest_of(version())
    with django_assert_num_queries(2):
        second = compile_release(7, manifest, {}, [first])
    old, new = first.snapshot.rows(rows.Rule), second.snapshot.rows(rows.Rule)
    shared = sum(before is other for before, other in zip(old, new, strict=True))
    assert 2000 < shared < 3000


def test_nothing_is_read_for_what_is_known(django_assert_num_queries):
    first = compile_newest()
    manifest = manifest_of(version())
    with django_assert_num_queries(0):
        compile_release(7, manifest, {("SESSION", "X"): "1"}, [first])


def test_a_column_that_came_later_has_its_default():
    body = {"columns": ["rule_id", "intent_code", "state_code", "rule_type", "match_pattern", "action", "gone"]}
    (row,) = compile_rows("ce_rule", body | {"rows": [[1, "A", "B", "EXACT", "ANY", "SET_STATE", "x"]]})
    assert row.null_leaf_matches is True
    assert row.priority == 100


@pytest.mark.parametrize("model", MODELS)
def test_a_row_of_a_form_is_read_as_it_will_be_when_it_is_saved(model):
    stored = make(model)
    row_type = rows.ROW_TYPE_OF[model._meta.db_table]
    assert row_of(stored) == compile_newest().snapshot.row(row_type, stored.pk)


def test_an_unsaved_row_is_read_with_its_codes_in_order():
    row = row_of(new(m.CeRule, intent_code=" loan "))
    assert (row.pk, row.intent_code, row.priority) == (None, "LOAN", 100)


def test_a_lost_blob_is_told():
    manifest = manifest_of(version())
    with allow_forging("ce_release_blob"):
        m.CeReleaseBlob.objects.filter(pk__in=manifest.values())._raw_delete("default")
    with pytest.raises(KeyError):
        compile_newest()
