"""Where scenarios run: in a database that may be emptied, and never in the one of an installation."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections, transaction

from convengine import environment

_PREFIX = "ce_"
#: The databases that may be emptied, by name; whoever runs scenarios says which.
_disposable: set[str] = set()


class NotDisposable(RuntimeError):
    """This database was not given to scenarios."""


@contextmanager
def disposable() -> Iterator[None]:
    """Let scenarios have the database that is in use now: a test's, or one made for them."""
    name = str(connection.settings_dict["NAME"])
    _disposable.add(name)
    try:
        yield
    finally:
        _disposable.discard(name)


@contextmanager
def scratch() -> Iterator[None]:
    """Use a new SQLite database in a temporary folder instead of the installation's, which nothing touches meanwhile.

    It is SQLite whatever the installation has: it needs no rights on any server, and cannot be taken for another.
    """
    given = connections.settings
    with TemporaryDirectory(prefix="ce-scenarios-") as folder:
        url = f"sqlite:///{Path(folder) / 'scenarios.sqlite3'}"
        connections.close_all()
        connections.settings = connections.configure_settings({"default": environment.database(url, "")})
        del connections["default"]
        try:
            call_command("migrate", verbosity=0, interactive=False)
            with disposable():
                yield
        finally:
            connections.close_all()
            connections.settings = given
            del connections["default"]


def empty() -> None:
    """Remove every row of the product, also those that an installation ships (R94). Raises NotDisposable."""
    if str(connection.settings_dict["NAME"]) not in _disposable:
        raise NotDisposable("Scenarios empty the database that they run in; this one was not given to them.")
    models = apps.get_models(include_auto_created=True)
    tables = [name for model in models if (name := model._meta.db_table).startswith(_PREFIX)]
    names = [connection.ops.quote_name(table) for table in tables]
    # PostgreSQL lets sealed rows leave with the whole table only, and no table while a check of it is put off.
    at_once = ["SET CONSTRAINTS ALL IMMEDIATE", f"TRUNCATE {', '.join(names)}"]
    statements = at_once if connection.vendor == "postgresql" else [f"DELETE FROM {name}" for name in names]  # noqa: S608
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
