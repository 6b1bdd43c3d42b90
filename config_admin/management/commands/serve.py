"""`manage.py serve`: serve with the settings of the environment."""

import os
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from convengine.server.deployment import conf, environment
from convengine.server.jobs.processes import EMBEDDED, CannotStart, Child, Group, beat, broker, mask_password, worker


class Command(BaseCommand):
    """Migrates, prints what it starts, and becomes the server; with a broker, keeps all processes running."""

    help = "Serve the API and the admin, and run the background jobs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=2)
        parser.add_argument("--threads", type=int, default=4)
        parser.add_argument(
            "--streams-port",
            type=int,
            default=None,
            help="The port of event streams (default: port + 1). 0 turns them off.",
        )
        parser.add_argument(
            "--no-jobs",
            action="store_true",
            help="Do not run background jobs, for example if a worker and a beat run elsewhere.",
        )

    def handle(self, *args: Any, host: str, port: int, workers: int, threads: int, **options: Any) -> None:
        """Migrate and serve. Raises CommandError when the port is taken or something is not installed."""
        need_port(host, port)
        children = self._streams(host, port + 1 if options["streams_port"] is None else options["streams_port"])
        call_command("migrate", verbosity=0, interactive=False)
        self.stdout.write(f"Turns, API and admin: http://{host}:{port} ({workers} processes, {threads} threads each)")
        url = "" if options["no_jobs"] else conf.get("BROKER_URL")
        if not url:
            self.stdout.write(f"Background jobs: {'not here' if options['no_jobs'] else jobs_in_server()}")
            if not children:
                become_server(host, port, workers, threads)
        server = Child("server", server_command(host, port, workers, threads), leads=True)
        sys.exit(self._run(url, [*children, server]))

    def _streams(self, host: str, port: int) -> list[Child]:
        """The process for event streams, and its address for redirects."""
        if not port:
            return []
        need_port(host, port)
        os.environ.setdefault("CE_STREAMS_URL", f":{port}")
        self.stdout.write(f"Event streams: http://{host}:{port}")
        # Jobs belong to the servers of turns.
        return [Child("streams", ["env", "CE_JOBS_IN_PROCESS=false", *server_command(host, port, 1, 1, asgi=True)])]

    def _run(self, url: str, servers: list[Child]) -> int:
        """The servers; with a broker also a worker and a beat, with the named broker or the embedded one."""
        if not url:
            self.stdout.flush()
            return Group(servers, Path(settings.BASE_DIR), dict(os.environ)).run()
        try:
            own, address = broker() if url == EMBEDDED else (None, url)
        except CannotStart as problem:
            raise CommandError(str(problem)) from problem
        where = "an own broker" if own else mask_password(address)
        self.stdout.write(f"Background jobs: a worker and a beat, on {where}")
        self.stdout.flush()
        environment = {**os.environ, "CE_BROKER_URL": address, "CE_JOBS_IN_PROCESS": "false"}
        children = [*([own] if own else []), worker(), beat(), *servers]
        return Group(children, Path(settings.BASE_DIR), environment).run()


def jobs_in_server() -> str:
    """Let the server run the jobs itself, unless the environment says otherwise; print that."""
    os.environ.setdefault("CE_JOBS_IN_PROCESS", "true")
    on = environment.boolean("CE_JOBS_IN_PROCESS")
    return "in the server (CE_BROKER_URL names no broker)" if on else "none (CE_JOBS_IN_PROCESS)"


def need_port(host: str, port: int) -> None:
    """Raise CommandError when the port is taken or not allowed.

    The server itself would silently share the port with another server, and each would get half of the calls.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0].lower()
        raise CommandError(f"Cannot serve at {host}:{port}: {reason}. Another port: PORT=…") from error


def server_command(host: str, port: int, workers: int, threads: int, *, asgi: bool = False) -> list[str]:
    """The server command, which restarts worker processes that die; with `asgi` it serves event streams as well.

    Raises CommandError.
    """
    server = Path(sys.executable).parent / "granian"
    if not server.exists():
        raise CommandError("The server is not installed: run `make setup`.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")
    return [
        str(server), "--interface", "asginl" if asgi else "wsgi", "--host", host, "--port", str(port),
        "--workers", str(workers), *([] if asgi else ["--blocking-threads", str(threads)]),
        "--respawn-failed-workers", "--log-level", "warning", "--no-ws",
        # A stream does not end by itself; its reader connects again.
        *(["--workers-kill-timeout", "5"] if asgi else []),
        f"convengine.{'asgi' if asgi else 'wsgi'}:application",
    ]  # fmt: skip


def become_server(host: str, port: int, workers: int, threads: int, *, asgi: bool = False) -> None:
    """Replace this process by the server."""
    command = server_command(host, port, workers, threads, asgi=asgi)
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606
