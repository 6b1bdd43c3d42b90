"""What all tests share. The database is chosen in `tests.database`, before this file is read."""

import os

import hypothesis
import pytest

# An example takes as long as its process waits for a processor: what must be quick is held by counted work.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")

_ONCE = ("browser", "once")
_DATABASE_FIXTURES = {"db", "transactional_db", "django_db_reset_sequences", "django_db_setup", "live_server"}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`CE_TEST_DATABASE_ONLY=true` leaves out what uses no database, or is marked `once`. Browser tests come last.

    A browser leaves an event loop running in its process, beside which Django refuses the database; and tests that only
    have a parameter of a name of its fixtures (`page`, `context`) are drawn to them.
    """
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    if os.environ.get("CE_TEST_DATABASE_ONLY") != "true":
        return
    kept, left_out = [], []
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        uses_database = bool(item.get_closest_marker("django_db")) or bool(fixtures & _DATABASE_FIXTURES)
        once = any(item.get_closest_marker(name) for name in _ONCE)
        (kept if uses_database and not once else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
