"""After migrations: triggers, the head, and a release of changed rows."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor

from config_admin.releases.make_release import settle
from config_admin.releases.models import AMENDING, Origin
from config_admin.validation.stored_columns import control_plane
from convengine.server.database.sealed_tables import seal_tables

#: Only the transaction that made the newest release may complete it.
_AMENDED = (
    f"(SELECT released_counter FROM ce_config_head WHERE id = 1) = {AMENDING}"  # noqa: S608
    " AND OLD.config_version = (SELECT config_version FROM ce_config_head WHERE id = 1)"
)


def after_migrate(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """Receiver of Django's `post_migrate`, for this app only.

    Migrations change rows through historical models without change sets, and may alter the tables. So the release is
    made when all are done, and compares every row. An emptied database (`flush`) comes here too.
    """
    if using != DEFAULT_DB_ALIAS:
        return
    plan = kwargs.get("plan")
    if plan is not None:
        if not _has_all_migrations(sender.label):
            # The tables are older than this code, which cannot read them.
            return
        install_triggers(connections[using], control_plane())
        seal_tables(connections[using], ["ce_release"], for_ever=True, unless=_AMENDED)
        seal_tables(connections[using], ["ce_release_blob"], for_ever=True)
    changed = any(migration.app_label == sender.label for migration, _ in plan or ())
    settle(Origin.MIGRATION, everything=changed)


def _has_all_migrations(app_label: str) -> bool:
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return not executor.migration_plan(executor.loader.graph.leaf_nodes(app_label))


_RAISE = "UPDATE ce_config_head SET write_counter = write_counter + 1 WHERE id = 1"
#: In the transaction of a draft, which is rolled back, there is nothing to count: a lock of the head would only make
#: live changes wait for a page.
_FUNCTION = f"""
CREATE OR REPLACE FUNCTION ce_config_written() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF coalesce(current_setting('convengine.draft', true), '') <> 'on' THEN {_RAISE}; END IF;
    RETURN NULL;
END $$"""


def install_triggers(connection: BaseDatabaseWrapper, tables: Iterable[str]) -> None:
    """Add the triggers to the tables, replacing existing ones.

    Called after every migration, because SQLite loses a table's triggers when it alters the table.
    """
    statements = (
        _list_postgresql_statements(tables) if connection.vendor == "postgresql" else _list_sqlite_statements(tables)
    )
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _list_postgresql_statements(tables: Iterable[str]) -> Iterator[str]:
    """The statements that create the triggers which count writes to the tables."""
    yield _FUNCTION
    for table in tables:
        yield (
            f"CREATE OR REPLACE TRIGGER {table}_written BEFORE INSERT OR UPDATE OR DELETE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION ce_config_written()"
        )
        yield (
            f"CREATE OR REPLACE TRIGGER {table}_emptied BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION ce_config_written()"
        )


def _list_sqlite_statements(tables: Iterable[str]) -> Iterator[str]:
    for table in tables:
        for event in ("INSERT", "UPDATE", "DELETE"):
            name = f"{table}_{event.lower()}"
            yield f"DROP TRIGGER IF EXISTS {name}"
            yield f"CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW BEGIN {_RAISE}; END"
