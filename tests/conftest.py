"""What all tests share. The database is chosen in `tests.database`, before this file is read."""

import os
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from tests.database import use_clone
from tests.kinds import SIGNS, list_files

# An example takes as long as its process waits for a processor: what must be quick is held by counted work.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")

if os.environ.get("CE_TEST_DATABASE") == "postgres":

    @pytest.fixture(scope="session")
    def django_db_setup(django_db_blocker: Any) -> Iterator[None]:
        """A copy of the migrated database, in place of migrating another one."""
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        with django_db_blocker.unblock(), use_clone(worker), django_db_blocker.block():
            yield


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark the tests that commit, and see that each kind is where it is looked for. Browser tests come last.

    A browser leaves an event loop running in its process, beside which Django refuses the database; and tests that only
    have a parameter of a name of its fixtures (`page`, `context`) are drawn to them.
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
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
