"""After migrations: triggers, the head, and a release of changed rows."""

from typing import Any

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

from config_admin.releases import content, triggers
from config_admin.releases.models import AMENDING, Origin
from config_admin.releases.publish import settle
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
        if not _complete(sender.label):
            # The tables are older than this code, which cannot read them.
            return
        triggers.install(connections[using], content.control_plane())
        seal_tables(connections[using], ["ce_release"], for_ever=True, unless=_AMENDED)
        seal_tables(connections[using], ["ce_release_blob"], for_ever=True)
    changed = any(migration.app_label == sender.label for migration, _ in plan or ())
    settle(Origin.MIGRATION, everything=changed)


def _complete(app_label: str) -> bool:
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return not executor.migration_plan(executor.loader.graph.leaf_nodes(app_label))
