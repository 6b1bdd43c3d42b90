"""What all tests share. The database is chosen in `tests.database`, before this file is read."""

import gc
import os
import shutil
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.management import call_command
from django.core.management.commands import flush
from django.db import connection

from tests.database import list_flush_statements, use_clone
from tests.kinds import SIGNS, list_files

# An example takes as long as its process waits for a processor: what must be quick is held by counted work.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")

if os.environ.get("CE_TEST_DATABASE") == "postgres":

    @pytest.fixture(scope="session")
    def django_db_setup(django_db_blocker: Any) -> Iterator[None]:
        """A copy of the migrated database, in place of migrating another one."""
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        flush.sql_flush = list_flush_statements  # type: ignore[assignment]
        with django_db_blocker.unblock(), use_clone(worker), django_db_blocker.block():
            yield


@pytest.fixture(scope="session", autouse=True)
def _migrate_scratch_databases_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Databases of scenarios are copies of the first one that this process migrates: each would take five seconds."""
    from convengine.scenarios import database

    migrated = tmp_path_factory.mktemp("scratch") / "migrated.sqlite3"

    def migrate(*arguments: Any, **options: Any) -> None:
        name = connection.settings_dict["NAME"]
        if not migrated.exists():
            call_command(*arguments, **options)
            connection.close()
            shutil.copy(name, migrated)
        connection.close()
        shutil.copy(migrated, name)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(database, "call_command", migrate)
        yield


def pytest_configure() -> None:
    # A static file is looked for when it is asked for; else each new client would read the head of every one of them.
    settings.WHITENOISE_AUTOREFRESH = True
    # A million rounds for each user of a test; the number is part of a stored password, so servers read these, too.
    PBKDF2PasswordHasher.iterations = 1000
    # Nothing that is collected is garbage: the collector need not look through thousands of tests again and again.
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark the tests that commit, and see that each kind is where it is looked for. Browser tests come last.

    A browser leaves an event loop running in its process, beside which Django refuses the database; and tests that only
    have a parameter of a name of its fixtures (`page`, `context`) are drawn to them. Slow tests come first, because a
    file of them would keep one worker busy at the end; but none that commits, because the database is empty after it.
    """
    for item in items:
        database = item.get_closest_marker("django_db")
        if "transactional_db" in getattr(item, "fixturenames", ()) or (database and database.kwargs.get("transaction")):
            item.add_marker("transactional")
        for kind in SIGNS:
            file = item.nodeid.partition("::")[0]
            if item.get_closest_marker(kind) and file not in list_files(kind):
                raise pytest.UsageError(f"{item.nodeid} is {kind}, but its file has not {SIGNS[kind]}")
    yield
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    if item.get_closest_marker("browser"):
        return 2
    return 0 if item.get_closest_marker("slow") and not item.get_closest_marker("transactional") else 1
