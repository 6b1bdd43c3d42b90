"""`manage.py serve`: serve with the settings of the environment."""

import os
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    """Applies the migrations, says what it starts, and becomes the server."""

    help = "Serve turns, API and admin."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where, and with how many processes and threads."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=2)
        parser.add_argument("--threads", type=int, default=4)

    def handle(self, *args: Any, host: str, port: int, workers: int, threads: int, **options: Any) -> None:
        """Migrate and serve. Raises CommandError when the port is taken or the server is not installed."""
        need_port(host, port)
        call_command("migrate", verbosity=0, interactive=False)
        self.stdout.write(f"Turns, API and admin: http://{host}:{port} ({workers} processes, {threads} threads each)")
        self.stdout.flush()
        become_server(host, port, workers, threads)


def need_port(host: str, port: int) -> None:
    """Raise CommandError when nobody may listen there, or somebody does.

    The server itself would share the port with another server in silence, and each would get half of the calls.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0].lower()
        raise CommandError(f"Cannot serve at {host}:{port}: {reason}. Another port: PORT=…") from error


def become_server(host: str, port: int, workers: int, threads: int) -> None:
    """Replace this process by the server, which starts a worker process anew when one dies."""
    server = Path(sys.executable).parent / "granian"
    if not server.exists():
        raise CommandError("The server is not installed: run `make setup`.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")
    sys.stdout.flush()
    os.execv(  # noqa: S606
        server,
        [
            str(server), "--interface", "wsgi", "--host", host, "--port", str(port), "--workers", str(workers),
            "--blocking-threads", str(threads), "--respawn-failed-workers", "--log-level", "warning",
            "convengine.wsgi:application",
        ],
    )  # fmt: skip
