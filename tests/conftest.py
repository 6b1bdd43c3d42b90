"""What all tests share. The database is chosen in `tests.database`, before this file is read."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.management.commands import flush
from django.db import connection

from convengine.engine.understanding.phrases.models import use_store
from convengine.engine.understanding.phrases.store import NoStore
from tests.database import allow_changing_turns, fill_emptied, list_flush_statements, use_clone, use_migrated_file
from tests.kinds import SIGNS, list_files, list_share
from tests.migrated import copy_migrated

# An example takes as long as its process waits for a processor: what must be quick is held by counted work.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")


if os.environ.get("CE_TEST_DATABASE") == "postgres" or os.environ["DATABASE_URL"].startswith("sqlite:"):

    @pytest.fixture(scope="session")
    def django_db_setup(django_db_blocker: Any) -> Iterator[None]:
        """A copy of a migrated database, in place of migrating another one."""
        flush.sql_flush = list_flush_statements  # type: ignore[assignment]
        flush.emit_post_migrate_signal = fill_emptied  # type: ignore[assignment]
        if connection.vendor == "postgresql":
            copied = use_clone(os.environ.get("PYTEST_XDIST_WORKER") or f"of_{os.getpid()}")
        else:
            copied = use_migrated_file()
        with django_db_blocker.unblock(), copied, django_db_blocker.block():
            yield


@pytest.fixture(scope="session", autouse=True)
def _make_own_classifiers() -> None:
    """Tests of engines need no database; those of the store use it, and so do the servers that tests start."""
    use_store(NoStore())


@pytest.fixture(scope="session", autouse=True)
def _copy_scratch_databases() -> Iterator[None]:
    """Databases of scenarios are copies, too, where this process makes them."""
    from convengine.play import database

    def migrate(*arguments: Any, **options: Any) -> None:
        connection.close()
        copy_migrated(connection.settings_dict["NAME"])

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(database, "call_command", migrate)
        yield


@pytest.fixture
def changeable_turns(db: None) -> Iterator[None]:
    """Turns that a test changes as nobody else can."""
    with allow_changing_turns():
        yield


@pytest.fixture(autouse=True)
def _allow_changing_turns_first(request: pytest.FixtureRequest) -> None:
    """Before fixtures of the test's own file, which may change turns."""
    if "changeable_turns" in request.fixturenames:
        request.getfixturevalue("changeable_turns")


def pytest_sessionstart() -> None:
    # The pages of the admin, which the URLs load for a server.
    admin.autodiscover()


def pytest_configure() -> None:
    # A static file is looked for when it is asked for; else each new client would read the head of every one of them.
    settings.WHITENOISE_AUTOREFRESH = True
    # A million rounds for each user of a test; the number is part of a stored password, so servers read these, too.
    PBKDF2PasswordHasher.iterations = 1000
    # Nothing that is collected is garbage: the collector need not look through thousands of tests again and again.
    gc.disable()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave the files of other shares to the processes that have these."""
    share = os.environ.get("CE_TEST_SHARE")
    if not share or not collection_path.is_file():
        return None
    return collection_path not in list_share(share) or None


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    # Of a busy machine, the time by the clock says nothing.
    used = os.times()
    own, others = used.user + used.system, used.children_user + used.children_system
    terminalreporter.write_line(f"{own:.0f} s of a processor, and {others:.0f} s in processes that were started")


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
        if item.get_closest_marker("nightly"):
            item.add_marker("long")
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
