from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.conf import settings
from django.db import connection

from convengine.server.database.migrating import hold_lock

ON_POSTGRES = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has one writer at a time")
@pytest.mark.django_db
def test_one_process_at_a_time_migrates() -> None:
    connection.ensure_connection()
    entered, order = Event(), []

    def migrate() -> None:
        with hold_lock():
            entered.set()
            order.append("second")

    with ThreadPoolExecutor(1) as beside:
        with hold_lock():
            second = beside.submit(migrate)
            assert not entered.wait(0.3)
            order.append("first")
        second.result(60)

    assert order == ["first", "second"]
