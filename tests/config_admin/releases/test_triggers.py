"""Whatever writes a row, the database counts it (R56)."""

import pytest
from django.db import connection, transaction

from config_admin import models as m
from config_admin.releases.content import control_plane
from tests.config_admin.builders import MODELS, make

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def counter():
    return m.CeConfigHead.objects.values_list("write_counter", flat=True).get()


def run(sql, *params):
    with connection.cursor() as cursor:
        cursor.execute(sql, params)


@pytest.mark.parametrize("model", MODELS)
def test_update_and_delete_of_every_table_are_counted(model):
    row = make(model)
    table, pk = model._meta.db_table, model._meta.pk.column
    before = counter()
    run(f"UPDATE {table} SET updated_by = 'x' WHERE {pk} = %s", row.pk)
    between = counter()
    run(f"DELETE FROM {table} WHERE {pk} = %s", row.pk)
    assert before < between < counter()


def test_an_insert_is_counted():
    before = counter()
    run("INSERT INTO ce_intent (intent_code, description) VALUES ('A', 'x')")
    assert counter() > before


def test_emptying_a_table_is_counted():
    make(m.CeRule)
    before = counter()
    run("TRUNCATE ce_rule" if connection.vendor == "postgresql" else "DELETE FROM ce_rule")
    assert counter() > before


def test_a_roll_back_takes_the_count_back():
    before = counter()
    with transaction.atomic():
        make(m.CeRule)
        transaction.set_rollback(True)
    assert counter() == before


def test_every_control_plane_table_has_its_triggers():
    if connection.vendor == "postgresql":
        sql = "SELECT DISTINCT event_object_table FROM information_schema.triggers WHERE trigger_name LIKE %s"
        with connection.cursor() as cursor:
            cursor.execute(sql, ["%\\_written"])
            found = {name for (name,) in cursor.fetchall()}
        assert found == set(control_plane())
    else:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%write_counter%'")
            found = {name for (name,) in cursor.fetchall()}
        assert found == {f"{table}_{event}" for table in control_plane() for event in ("insert", "update", "delete")}
