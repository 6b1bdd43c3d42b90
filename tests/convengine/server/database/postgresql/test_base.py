from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections

from convengine.server.database.postgresql import base
from convengine.server.database.postgresql.base import _NoticeHandler

pytestmark = pytest.mark.skipif(
    not settings.DATABASES["default"]["ENGINE"].endswith("postgresql"), reason="needs PostgreSQL"
)


@pytest.mark.django_db
def test_a_commit_that_no_replica_confirmed_is_refused_once() -> None:
    connection.ensure_connection()
    database: Any = connections["default"]
    handle = _NoticeHandler(connection.connection)

    handle(SimpleNamespace(source_function="exec_stmt_raise"))
    database.refuse_unreplicated_commit()
    handle(SimpleNamespace(source_function="SyncRepWaitForLSN"))
    with pytest.raises(OperationalError, match="synchronous replica"):
        database.refuse_unreplicated_commit()
    database.refuse_unreplicated_commit()


@pytest.mark.django_db(transaction=True)
def test_a_dead_connection_goes_back_to_its_own_pool_although_that_was_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database: Any = connections["default"]
    database.ensure_connection()
    database.close()
    pool = database.pool
    if pool is None:
        pytest.skip("CE_DATABASE_POOL_SIZE is off for this database, so there is no pool to drop")

    def fail(connection: Any) -> None:
        database._drop_pool()
        raise psycopg.OperationalError("the server closed the connection")

    monkeypatch.setattr(base, "_was_written_to", lambda connection: True)
    monkeypatch.setattr(type(pool), "check_connection", staticmethod(fail))
    try:
        # What a caller sees is a fault of the database, and nothing else.
        with suppress(OperationalError):
            database.ensure_connection()
        assert database.pool is not pool
    finally:
        database.close()
        monkeypatch.undo()
        database.ensure_connection()
