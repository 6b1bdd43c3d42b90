"""Every way of writing a row leaves its history and its release, for every table."""

import json

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from config_admin import models as m
from config_admin.releases.active import snapshots
from config_admin.releases.queries import row_at
from tests.cases import for_each
from tests.config_admin.builders import EACH_MODEL, EXAMPLES, MODELS, edit, make, new

pytestmark = pytest.mark.django_db


def head():
    return m.CeConfigHead.objects.get(pk=1)


def story(model, pk):
    """The signs of a row's history, the oldest first."""
    return "".join(
        model.history.filter(**{model._meta.pk.name: pk}).order_by("history_id").values_list("history_type", flat=True)
    )


def check_release(row_pk, model, signs):
    """The history tells these changes, and the newest release has the row as the table has it."""
    assert story(model, row_pk) == signs
    assert head().settled
    table = model._meta.db_table
    stored = model.objects.filter(pk=row_pk).values().first()
    stored_content = row_at(head().config_version, table, row_pk)
    assert (stored is None) == (stored_content is None)
    newest = model.history.filter(**{model._meta.pk.name: row_pk}).latest()
    assert newest.config_version == head().config_version
    assert newest.change_set == m.CeRelease.objects.get(pk=head().config_version).change_set


@for_each("model", MODELS)
def test_every_table_keeps_the_history_of_its_rows(db, model):
    with transaction.atomic():
        row = make(model)
        pk = row.pk
        for name, value in edit(model).items():
            setattr(row, name, value)
        row.save()
        check_release(pk, model, "+~")
        row.delete()
        check_release(pk, model, "+~-")
        transaction.set_rollback(True)


@EACH_MODEL
def test_saving_a_new_row(model):
    row = make(model)
    check_release(row.pk, model, "+")


@EACH_MODEL
def test_saving_a_changed_row(model):
    row = make(model)
    for name, value in edit(model).items():
        setattr(row, name, value)
    row.save()
    check_release(row.pk, model, "+~")


@EACH_MODEL
def test_saving_some_columns(model):
    row = make(model)
    for name, value in edit(model).items():
        setattr(row, name, value)
    row.save(update_fields=list(edit(model)))
    check_release(row.pk, model, "+~")


@EACH_MODEL
def test_saving_without_a_change_leaves_nothing(model):
    row = make(model)
    before = head()
    row.save()
    check_release(row.pk, model, "+")
    assert head().content_hash == before.content_hash


@EACH_MODEL
def test_saving_around_the_librarys_history(model):
    row = make(model)
    for name, value in edit(model).items():
        setattr(row, name, value)
    row.save_without_historical_record()
    check_release(row.pk, model, "+~")


@EACH_MODEL
def test_deleting_a_row(model):
    row = make(model)
    pk = row.pk
    row.delete()
    check_release(pk, model, "+-")


@EACH_MODEL
def test_updating_by_a_query(model):
    row = make(model)
    model.objects.filter(pk=row.pk).update(**edit(model))
    check_release(row.pk, model, "+~")


@EACH_MODEL
def test_deleting_by_a_query(model):
    row = make(model)
    model.objects.filter(pk=row.pk).delete()
    check_release(row.pk, model, "+-")


@EACH_MODEL
def test_creating_in_bulk(model):
    row = new(model)
    model.objects.bulk_create([row])
    check_release(row.pk, model, "+")


@EACH_MODEL
def test_creating_in_bulk_what_may_be_there_already(model):
    row = make(model)
    model.objects.bulk_create([new(model, **({model._meta.pk.attname: row.pk}))], ignore_conflicts=True)
    check_release(row.pk, model, "+")


@EACH_MODEL
def test_creating_or_replacing_in_bulk(model):
    row = make(model)
    again = new(model, **{model._meta.pk.attname: row.pk} | edit(model))
    model.objects.bulk_create(
        [again], update_conflicts=True, unique_fields=[model._meta.pk.name], update_fields=list(edit(model))
    )
    check_release(row.pk, model, "+~")


@EACH_MODEL
def test_updating_in_bulk(model):
    row = make(model)
    for name, value in edit(model).items():
        setattr(row, name, value)
    model.objects.bulk_update([row], list(edit(model)))
    check_release(row.pk, model, "+~")


@EACH_MODEL
def test_updating_or_creating(model):
    row = make(model)
    model.objects.update_or_create(pk=row.pk, defaults=edit(model))
    check_release(row.pk, model, "+~")


@EACH_MODEL
def test_loading_a_fixture(model, tmp_path):
    row = make(model)
    fields = {name: value for name, value in (EXAMPLES[model][0] | edit(model)).items() if name != model._meta.pk.name}
    document = [{"model": model._meta.label_lower, "pk": row.pk, "fields": fields}]
    fixture = tmp_path / "rows.json"
    fixture.write_text(json.dumps(document))
    call_command("loaddata", str(fixture), verbosity=0)
    check_release(row.pk, model, "+~")


@EACH_MODEL
def test_raw_sql_is_found_at_the_next_pin(model):
    row = make(model)
    table, pk = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE {pk} = %s", [row.pk])
    assert not head().settled
    snapshots.current()
    check_release(row.pk, model, "+-")
    entry = model.history.filter(**{model._meta.pk.name: row.pk}).latest()
    assert entry.history_change_reason.startswith("Direct database change")


def test_a_tools_own_row_goes_with_the_tool_and_is_told():
    own = make(m.CeMcpDbTool)
    tool_id = own.tool_id
    before = head().config_version
    own.tool.delete()
    assert story(m.CeMcpDbTool, tool_id) == story(m.CeMcpTool, tool_id) == "+-"
    assert m.CeMcpDbTool.history.latest().config_version == head().config_version >= before


def test_changing_primary_keys_by_a_query_is_told_as_two_rows():
    make(m.CeIntent, intent_code="OLD")
    m.CeIntent.objects.filter(pk="OLD").update(intent_code="NEW")
    assert story(m.CeIntent, "OLD") == "+-"
    assert story(m.CeIntent, "NEW") == "+"


def test_a_sliced_query_cannot_update_as_in_django():
    with pytest.raises(TypeError):
        m.CeRule.objects.all()[:1].update(priority=1)


def test_what_the_engine_writes_is_no_change_of_configuration():
    server = make(m.CeMcpServer)
    before = head()
    server.last_status = "UP"
    server.save()
    m.CeMcpServer.objects.update(tool_cache_json=["a"])
    assert head().content_hash == before.content_hash
    assert story(m.CeMcpServer, server.pk) == "+"


def test_a_row_remembers_when_it_was_changed():
    row = make(m.CeRule)
    created, updated = row.created_at, row.updated_at
    m.CeRule.objects.update(priority=1)
    row.refresh_from_db()
    assert row.created_at == created
    assert row.updated_at > updated


def test_bulk_writes_of_no_rows_leave_nothing():
    before = head()
    m.CeRule.objects.filter(pk=0).update(priority=3)
    m.CeRule.objects.filter(pk=0).delete()
    m.CeRule.objects.bulk_create([])
    assert head().content_hash == before.content_hash
