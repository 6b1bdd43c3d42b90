"""An installation begins with its shipped rows as a release, its groups, its triggers and its head."""

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connection, transaction

from config_admin import models as m
from config_admin.releases.head import EMPTY_HASH
from config_admin.releases.migrations_release import after_migrate
from config_admin.validation.stored_columns import control_plane
from tests.config_admin.builders import MODELS, make

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]

SENDER = apps.get_app_config("config_admin")


class Migration:
    app_label = "config_admin"


@pytest.mark.django_db
def test_the_shipped_rows_are_the_first_release():
    release = m.CeRelease.objects.get(pk=1)
    assert (release.origin, release.parent_id) == ("MIGRATION", None)
    assert set(release.manifest) == {"ce_response", "ce_config"}
    assert m.CeResponse.history.get(config_version=1).history_type == "+"


@pytest.mark.django_db
def test_the_shipped_rows_answer_what_nothing_understands():
    fallback = m.CeResponse.objects.get(intent_code="UNKNOWN", state_code="UNKNOWN")
    assert fallback.enabled
    assert "Starting fresh. How can I help you?" in fallback.exact_text
    setting = m.CeConfig.objects.get()
    assert (setting.config_type, setting.config_key, setting.config_value) == (
        "AgentIntentResolver",
        "COLLISION_GAP_THRESHOLD",
        "0.2",
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("group", "may", "may_not"),
    [
        ("analyst", "change_cerule", "change_cemcpserver"),
        ("config_admin", "roll_back_release", None),
        ("config_admin", "change_cemcpserver", None),
        ("qa", "view_cerule", "change_cerule"),
        ("operator", "view_cerelease", "view_cerule"),
        ("integrator", None, "view_cerule"),
    ],
)
def test_groups_may_do_what_their_work_needs(group, may, may_not):
    held = set(Group.objects.get(name=group).permissions.values_list("codename", flat=True))
    assert may is None or may in held
    assert may_not not in held


@pytest.mark.django_db
def test_rows_that_a_migration_writes_become_a_release_even_if_no_trigger_saw_it():
    before = m.CeConfigHead.objects.get(pk=1)
    rule = make(m.CeRule)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_rule SET priority = 5")
        cursor.execute("UPDATE ce_config_head SET write_counter = released_counter")
    after_migrate(SENDER, "default", plan=[(Migration, False)])
    release = m.CeRelease.objects.get(pk=m.CeConfigHead.objects.get(pk=1).config_version)
    assert (release.origin, release.config_version > before.config_version) == ("MIGRATION", True)
    assert rule.history.first().priority == 5


@pytest.mark.django_db
def test_an_upgrade_that_changes_no_rows_makes_no_release():
    before = m.CeConfigHead.objects.get(pk=1).config_version
    after_migrate(SENDER, "default", plan=[(Migration, False)])
    assert m.CeConfigHead.objects.get(pk=1).config_version == before


@pytest.mark.django_db
def test_triggers_that_got_lost_come_back():
    table = "ce_policy"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"DROP TRIGGER {table}_written ON {table}")
        else:
            cursor.execute(f"DROP TRIGGER {table}_insert")
    after_migrate(SENDER, "default", plan=[])
    before = m.CeConfigHead.objects.get(pk=1).write_counter
    make(m.CePolicy)
    assert m.CeConfigHead.objects.get(pk=1).write_counter > before


@pytest.mark.django_db
def test_another_database_is_none_of_its_business(django_assert_num_queries):
    with django_assert_num_queries(0):
        after_migrate(SENDER, "elsewhere")


@pytest.mark.django_db(transaction=True)
def test_an_emptied_database_is_the_empty_configuration():
    make(m.CeRule)
    call_command("flush", interactive=False, verbosity=0)
    stored = m.CeConfigHead.objects.get(pk=1)
    assert (stored.config_version, stored.content_hash, stored.settled) == (0, EMPTY_HASH, True)
    assert all(not model._base_manager.exists() for model in control_plane().values())


@pytest.mark.django_db(transaction=True)
def test_an_older_schema_is_left_alone(monkeypatch):
    monkeypatch.setattr("config_admin.releases.migrations_release._has_all_migrations", lambda label: False)
    m.CeConfigHead.objects.all().delete()
    after_migrate(SENDER, "default", plan=[])
    assert not m.CeConfigHead.objects.exists()


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
            names = {name for (name,) in cursor.fetchall()}
        assert names == set(control_plane())
    else:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%write_counter%'")
            names = {name for (name,) in cursor.fetchall()}
        assert names == {f"{table}_{event}" for table in control_plane() for event in ("insert", "update", "delete")}
