"""`manage.py serve`: serve with the settings of the environment."""

import os
import sys
from argparse import ArgumentParser
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from convengine.server.database.migrating import migrate
from convengine.server.deployment import conf, environment
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.deployment.folders import DEMO_FACTS, SECRET_FILE, is_demonstration_secret, project_folder
from convengine.server.deployment.supervisor import Child, Supervisor, listen
from convengine.server.jobs.processes import EMBEDDED, CannotStart, beat, broker, mask_password, worker
from convengine.server.observability import metrics
from convengine.server.observability.folder import VARIABLE, make_metrics_folder
from convengine.server.startup import server_process

#: Seconds that a stream gets: it does not end by itself, and its reader connects again.
_STREAM_STOP_SECONDS = 5.0


class Command(ExactCommand):
    """Migrates, prints what it starts, and keeps all processes running."""

    requires_system_checks = "__all__"
    help = "Serve the API and the admin, and run the background jobs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="Listen on this address. Default: %(default)s.")
        parser.add_argument("--port", type=int, default=8000, help="Default: %(default)s.")
        parser.add_argument("--workers", type=int, default=2, help="Processes. Default: %(default)s.")
        parser.add_argument(
            "--threads", type=int, default=conf.get("THREADS"), help="Threads of each process. Default: %(default)s."
        )
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

        parser.add_argument(
            "--reload", action="store_true", help="For development: start again when a file of the extensions changes."
        )

    def handle(self, *args: Any, host: str, port: int, workers: int, threads: int, **options: Any) -> None:
        """Migrate and serve. Raises CommandError when the port is taken or something is not installed."""
        refuse_demonstration()
        if options["reload"]:
            # It needs Django; `become_server` is imported without it.
            from convengine.server.startup.reload import run_with_reload

            command = [sys.executable, *(argument for argument in sys.argv if argument != "--reload")]
            sys.exit(run_with_reload(command, self._print))
        streams_port = port + 1 if options["streams_port"] is None else options["streams_port"]
        need_port(host, port)
        if streams_port:
            need_port(host, streams_port)
            os.environ.setdefault("CE_STREAMS_URL", f":{streams_port}")
            self.stdout.write(f"Event streams: http://{host}:{streams_port}")
        migrate()
        if settings.DEBUG:
            self.stdout.write("Debug mode (CE_DEBUG): pages show code. Never use it in production.")
        self.stdout.write(f"Turns, API and admin: http://{host}:{port} ({workers} processes, {threads} threads each)")
        jobs, variables = self._make_jobs("" if options["no_jobs"] else conf.get("BROKER_URL"))
        if not jobs:
            self.stdout.write(f"Background jobs: {'not here' if options['no_jobs'] else jobs_in_server()}")
        self.stdout.flush()
        servers = make_servers(host, port, workers, threads, stop_seconds=conf.get("STOP_SECONDS"))
        if streams_port:
            servers += make_streams_server(host, streams_port)
        # New processes read `.env` again when they replace the old ones.
        variables = {**environment.read_inherited_variables(), **variables}
        if conf.get("METRICS_TOKEN"):
            # In this process as well, which counts the processes that die.
            make_metrics_folder(os.environ)
            variables[VARIABLE] = os.environ[VARIABLE]
        prepare = [sys.executable, "-m", "convengine.server.database.migrating"]
        for child in (*jobs, *servers):
            metrics.PROCESS_RESTARTS.show(child.name)
        supervisor = Supervisor(
            [*jobs, *servers], project_folder(), variables, prepare=prepare, on_death=metrics.PROCESS_RESTARTS.add
        )
        sys.exit(supervisor.run())

    def _print(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()

    def _make_jobs(self, url: str) -> tuple[list[Child], dict[str, str]]:
        """With a broker, a worker and a beat, on the named broker or the embedded one; and variables for all."""
        if not url:
            return [], {}
        try:
            own, address = broker() if url == EMBEDDED else (None, url)
        except CannotStart as problem:
            raise CommandError(str(problem)) from problem
        where = "their own broker" if own else mask_password(address)
        self.stdout.write(f"Background jobs: a worker and a beat, on {where}")
        variables = {"CE_BROKER_URL": address, "CE_JOBS_IN_PROCESS": "false"}
        return [*([own] if own else []), worker(), beat()], variables


def refuse_demonstration() -> None:
    """Raise CommandError for the secret or the database of the demonstration, unless the environment names them."""
    folder = getattr(settings, "VAR_DIR", None)
    if folder is None:
        return
    data = Path(folder)
    if not environment.text("CE_SECRET_KEY") and is_demonstration_secret(data, settings.SECRET_KEY):
        raise CommandError(
            f"CE_SECRET_KEY is not set, and the secret in {data / SECRET_FILE} is the demonstration's. "
            "Set CE_SECRET_KEY to a long random string, or run the demonstration: convengine demo."
        )
    if not environment.text("DATABASE_URL") and (data / DEMO_FACTS).is_file():
        raise CommandError(
            f"DATABASE_URL is not set, and the database in {folder} is the demonstration's, with its users and "
            f"its key. Set DATABASE_URL (sqlite:///{settings.DATABASES['default']['NAME']} to serve it anyway) or "
            "another CE_VAR_DIR."
        )


def jobs_in_server() -> str:
    """Let the server run the jobs itself, unless the environment says otherwise; print that."""
    os.environ.setdefault("CE_JOBS_IN_PROCESS", "true")
    on = environment.boolean("CE_JOBS_IN_PROCESS")
    return "in the server (CE_BROKER_URL names no broker)" if on else "none (CE_JOBS_IN_PROCESS)"


def need_port(host: str, port: int) -> None:
    """Raise CommandError when the port is taken or not allowed."""
    try:
        listen(host, port).close()
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0].lower()
        raise CommandError(f"Cannot serve at {host}:{port}: {reason}. Choose another port.") from error


def make_servers(
    host: str, port: int, workers: int, threads: int, *, asgi: bool = False, stop_seconds: float = 120.0
) -> list[Child]:
    """The processes of a server, which share its socket; with `asgi` they serve event streams as well.

    Raises CommandError.
    """
    if find_spec("granian") is None:
        raise CommandError("The server is not installed: install the package granian.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")
    # Only of these processes: the server and the streams of an installation have different numbers of threads.
    variables = {} if threads == conf.get("THREADS") else {"CE_THREADS": str(threads)}
    command = server_process.build_command(f"convengine.asgi:{'application' if asgi else 'without_streams'}")
    listener = listen(host, port)
    return [
        Child(
            f"server {number}",
            [*command, "--socket", str(listener.fileno())],
            sockets=[listener],
            reports_ready=True,
            stop_seconds=stop_seconds,
            environment=variables,
        )
        for number in range(1, workers + 1)
    ]


def make_streams_server(host: str, port: int) -> list[Child]:
    """The process for event streams."""
    (server,) = make_servers(host, port, 1, 1, asgi=True, stop_seconds=_STREAM_STOP_SECONDS)
    # Jobs and classifiers belong to the servers of turns.
    only_streams = {"CE_JOBS_IN_PROCESS": "false", "CE_TAKES_TURNS": "false"}
    return [replace(server, name="streams", environment={**server.environment, **only_streams})]


def become_server(host: str, port: int, workers: int, threads: int, *, asgi: bool = False) -> None:
    """Serve until a signal ends this process."""
    sys.stdout.flush()
    sys.exit(Supervisor(make_servers(host, port, workers, threads, asgi=asgi), project_folder()).run())
