"""The processes of the cluster, on ports of this machine, with the files in `deploy/`."""

import ctypes
import json
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import psycopg

from tests.cluster.requirements import find_patroni, find_program
from tests.live.processes import ROOT, free_port

DEPLOY = ROOT / "deploy"
#: Seconds for a part of the cluster to start, or to come back.
_PATIENCE = 120.0
DATABASE = USER = "convengine"
#: What tells whether a server takes calls.
HEALTH_PATH = "/readyz"
_STANDING = "SELECT pg_is_in_recovery()"


class NotInTime(Exception):
    """Something did not happen in time; the message says what."""


def wait_until(
    what: str, holds: Callable[[], Any], seconds: float = _PATIENCE, meanwhile: Callable[[], None] = lambda: None
) -> float:
    """Wait until something holds; returns the seconds. Raises NotInTime."""
    began = time.monotonic()
    while not holds():
        meanwhile()
        if time.monotonic() > began + seconds:
            raise NotInTime(f"{what}: not within {seconds:.0f} seconds.")
        time.sleep(0.1)
    return time.monotonic() - began


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


@dataclass
class Process:
    """A program of the cluster, which may be killed and started again."""

    name: str
    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    #: The user that runs it: PostgreSQL and PgBouncer refuse root.
    user: str | None = None
    running: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start it; what it writes is added to its log."""
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self.running = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509
                user=self.user,
                group=self.user,
                extra_groups=[] if self.user else None,
            )

    @property
    def is_running(self) -> bool:
        """True while it runs."""
        return self.running is not None and self.running.poll() is None

    def kill(self) -> None:
        """SIGKILL for it and all processes that it started."""
        if self.running and self.is_running:
            for pid in [self.running.pid, *list_descendants(self.running.pid)]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.running.wait(10)

    def end(self) -> None:
        """SIGTERM, then SIGKILL."""
        if self.running and self.is_running:
            self.running.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.running.wait(15)
            self.kill()

    def text(self) -> str:
        """The end of its log."""
        return (self.folder / f"{self.name}.log").read_text(errors="replace")[-4000:]


def list_descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [number for child in children for number in (int(child), *list_descendants(int(child)))]


@contextmanager
def stop_processes(pids: Sequence[int]) -> Iterator[None]:
    """While inside, these processes stand still."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def get_json(port: int, path: str) -> Any:
    """The JSON at an address, or null when nothing answers."""
    http = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        http.request("GET", path)
        return json.loads(http.getresponse().read())
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        http.close()


def responds(port: int, path: str = "/") -> bool:
    """True when something answers HTTP there without a fault of its own."""
    http = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        http.request("GET", path)
        return http.getresponse().status < 500
    except (OSError, HTTPException):
        return False
    finally:
        http.close()


@dataclass
class Node:
    """A PostgreSQL node: its Patroni, and the postmaster that this one started."""

    name: str
    port: int
    api_port: int
    data: Path
    patroni: Process

    def kill(self) -> None:
        """SIGKILL for Patroni and the postmaster, as if the machine had lost its power."""
        postmaster = self._read_postmaster()
        self.patroni.kill()
        if postmaster:
            for pid in [postmaster, *list_descendants(postmaster)]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def list_processes(self, word: str) -> list[int]:
        """The processes of this PostgreSQL whose title has a word: `startup` replays, `walreceiver` receives."""
        postmaster = self._read_postmaster()
        own = list_descendants(postmaster) if postmaster else []
        return [pid for pid in own if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def end(self) -> None:
        """Stop Patroni, which stops PostgreSQL."""
        self.patroni.end()
        self.kill()

    def _read_postmaster(self) -> int | None:
        with suppress(OSError, ValueError):
            return int((self.data / "postmaster.pid").read_text().split()[0])
        return None


@dataclass
class Cluster:
    """Everything that runs; `start` it, and `end` it."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="ce-cluster-")))
    count: int = 3
    password: str = field(default_factory=lambda: secrets.token_hex(12))
    ports: dict[str, int] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    web: list[Process] = field(default_factory=list)
    others: dict[str, Process] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.chmod(0o755)
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            account = pwd.getpwnam(self.user)
            (self.folder / "postgres").mkdir()
            os.chown(self.folder / "postgres", account.pw_uid, account.pw_gid)
        else:
            (self.folder / "postgres").mkdir()

    def port(self, name: str) -> int:
        """The port of a part of the cluster."""
        if name not in self.ports:
            while (port := free_port()) in self.ports.values():
                pass
            self.ports[name] = port
        return self.ports[name]

    def url(self, port: str) -> str:
        """The database at a port: `leader`, `replicas` or `pgbouncer`."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port(port)}/{DATABASE}"

    # Parts, in the order of their start.

    def start(self) -> None:
        """Start the databases and what leads to them, and make the empty database."""
        self.start_databases()
        self.start_redis()
        self._start("haproxy-postgresql", [_need("haproxy"), "-f", str(DEPLOY / "haproxy/postgresql.cfg")])
        self._start_pgbouncer()
        leader = self.leader()
        assert leader
        for statement in (
            f"CREATE ROLE {USER} LOGIN PASSWORD '{self.password}'",
            f"CREATE DATABASE {DATABASE} OWNER {USER}",
        ):
            self.ask(leader.name, statement, as_superuser=True)
        # HAProxy thinks that all nodes are well until it has looked at each of them twice.
        time.sleep(5)
        wait_until("PgBouncer leads to the leader", lambda: self.ask("pgbouncer", _STANDING) == [(False,)])

    def start_databases(self) -> None:
        """Start etcd and the three nodes."""
        client, peer = (f"http://127.0.0.1:{self.port(name)}" for name in ("etcd", "etcd-peer"))
        self._start(
            "etcd",
            [
                _need("etcd"), "--name", "etcd1", "--data-dir", str(self.folder / "etcd"),
                "--listen-client-urls", client, "--advertise-client-urls", client,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"etcd1={peer}",
            ],
        )  # fmt: skip
        self.nodes = [self._make_node(number) for number in (1, 2, 3)]
        for node in self.nodes:
            node.patroni.start()
        self.wait_until_healthy()

    def start_redis(self) -> None:
        """Start Redis, the broker and the bus; it stores nothing."""
        folder = self.folder / "redis"
        folder.mkdir(exist_ok=True)
        command = ["--port", str(self.port("redis")), "--save", "", "--appendonly", "no", "--dir", str(folder)]
        self._start("redis", [_need("redis-server"), *command])

    def start_web(self, **environment: str) -> None:
        """Migrate, and start the servers of ConvEngine behind HAProxy."""
        self.environment = {**os.environ, **self.web_environment(), **environment}
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=self.environment, check=True
        )
        for number in range(1, self.count + 1):
            # One serves the streams of all: each process costs this machine a start.
            port, streams = self.port(f"server{number}"), self.port("streams1") if number == 1 else 0
            command = [
                sys.executable, "manage.py", "serve", "--port", str(port), "--streams-port", str(streams),
                "--workers", "1", "--threads", "8", "--no-jobs",
            ]  # fmt: skip
            self.web.append(Process(f"server{number}", command, self.folder, self.environment))
            self.web[-1].start()
        self._start("haproxy-web", [_need("haproxy"), "-f", str(DEPLOY / "haproxy/servers.cfg")])
        for number in range(1, self.count + 1):
            self.wait_for_web(number)
        wait_until("HAProxy leads to a server", lambda: responds(self.port("front"), HEALTH_PATH))

    def start_jobs(self) -> None:
        """Start a worker and a beat."""
        app = [sys.executable, "-m", "celery", "-A", "convengine.server.jobs.worker", "--quiet"]
        for name, options in (
            ("worker", ["--concurrency", "1", "--loglevel", "warning", "--without-gossip", "--without-mingle"]),
            ("beat", ["--scheduler", "celery.beat:Scheduler", "--pidfile", "", "--loglevel", "warning"]),
        ):
            self.others[name] = Process(name, [*app, name, *options], self.folder, self.environment)
            self.others[name].start()

    def end(self, keep: bool = False) -> None:
        """End everything."""
        for process in [*self.web, *map(self.others.get, ("worker", "beat", "haproxy-web"))]:
            if process:
                process.kill()
        for node in self.nodes:
            node.kill()
        for process in self.others.values():
            process.kill()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    # What the tests do with it.

    def members(self) -> list[dict[str, Any]]:
        """The nodes as Patroni sees them: name, role, state, timeline, lag."""
        for node in self.nodes:
            if answer := get_json(node.api_port, "/cluster"):
                members: list[dict[str, Any]] = answer["members"]
                return members
        return []

    def leader(self) -> Node | None:
        """The node that leads, if one does."""
        return next((node for node in self.nodes if self._ask_standing(node) == [(False,)]), None)

    def replicas(self) -> list[Node]:
        """The nodes that follow."""
        return [node for node in self.nodes if self._ask_standing(node) == [(True,)]]

    def wait_until_healthy(self, meanwhile: Callable[[], None] = lambda: None) -> float:
        """Wait for a leader, two replicas that stream, and one of them synchronous; returns the seconds."""

        def is_healthy() -> bool:
            roles = sorted((member["role"], member["state"]) for member in self.members())
            return roles == [("leader", "running"), ("replica", "streaming"), ("sync_standby", "streaming")]

        return wait_until("Three healthy nodes", is_healthy, meanwhile=meanwhile)

    def wait_for_web(self, number: int) -> None:
        """Wait until a server answers."""
        wait_until(f"Server {number} answers", lambda: self.answers(number))

    def answers(self, number: int) -> bool:
        """True when a server answers."""
        return responds(self.port(f"server{number}"), HEALTH_PATH)

    def ask(self, port: str, statement: str, *, as_superuser: bool = False) -> Any:
        """The rows of a statement; null when the database does not answer."""
        url = self.url(port)
        if as_superuser:
            url = url.replace(f"//{USER}:", "//postgres:").rpartition("/")[0] + "/postgres"
        try:
            with psycopg.connect(url, autocommit=True, connect_timeout=3, prepare_threshold=None) as connection:
                cursor = connection.execute(statement)
                return cursor.fetchall() if cursor.description else []
        except psycopg.OperationalError:
            return None

    def web_environment(self) -> dict[str, str]:
        """What the servers and the jobs are told."""
        return {
            "DJANGO_SETTINGS_MODULE": "convengine.settings",
            "DATABASE_URL": self.url("pgbouncer"),
            "CE_DATABASE_POOLER": "transaction",
            "CE_REPLICA_URL": self.url("replicas"),
            "CE_BROKER_URL": f"redis://127.0.0.1:{self.port('redis')}/0",
            "CE_SECRET_KEY": "only-for-tests",
            "CE_DEBUG": "false",
            "CE_VAR_DIR": str(self.folder / "var"),
            "CE_JOB_TICK_SECONDS": "1",
            "CE_LOG_FORMAT": "text",
            "CE_LOG_LEVEL": "WARNING",
        }

    def describe(self) -> str:
        """The ends of all logs, for a test that failed."""
        processes = [*self.web, *self.others.values(), *(node.patroni for node in self.nodes)]
        return "\n\n".join(f"== {process.name} ==\n{process.text()}" for process in processes)

    def _ask_standing(self, node: Node) -> Any:
        return self.ask(node.name, _STANDING, as_superuser=True)

    def _start(self, name: str, command: Sequence[str], user: str | None = None) -> None:
        environment = {**os.environ, **self._haproxy_environment()} if "haproxy" in name else dict(os.environ)
        self.others[name] = Process(name, command, self.folder, environment, user)
        self.others[name].start()

    def _start_pgbouncer(self) -> None:
        """The product's file, with the ports and the password of this cluster."""
        folder = self.folder / "postgres"
        users = folder / "userlist.txt"
        users.write_text(f'"{USER}" "{self.password}"\n')
        users.chmod(0o644)
        text = (DEPLOY / "pgbouncer/pgbouncer.ini").read_text()
        for written, here in (
            ("port=5000", f"port={self.port('leader')}"),
            ("listen_port = 6432", f"listen_port = {self.port('pgbouncer')}"),
            ("/etc/pgbouncer/userlist.txt", str(users)),
        ):
            assert written in text
            text = text.replace(written, here)
        own = self.folder / "pgbouncer.ini"
        own.write_text(text)
        self._start("pgbouncer", [_need("pgbouncer"), "-q", str(own)], self.user)

    def _make_node(self, number: int) -> Node:
        name = f"node{number}"
        port, api = self.port(name), self.port(f"{name}-api")
        data = self.folder / "postgres" / name
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "PATRONI_NAME": name,
            "PATRONI_ETCD3_HOSTS": f"127.0.0.1:{self.port('etcd')}",
            "PATRONI_RESTAPI_LISTEN": f"127.0.0.1:{api}",
            "PATRONI_RESTAPI_CONNECT_ADDRESS": f"127.0.0.1:{api}",
            "PATRONI_POSTGRESQL_LISTEN": f"127.0.0.1:{port}",
            "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"127.0.0.1:{port}",
            "PATRONI_POSTGRESQL_DATA_DIR": str(data),
            "PATRONI_POSTGRESQL_BIN_DIR": str(Path(_need("pg_ctl")).parent),
            "PATRONI_POSTGRESQL_PGPASS": str(self.folder / "postgres" / f"{name}.pgpass"),
            "PATRONI_SUPERUSER_USERNAME": "postgres",
            "PATRONI_SUPERUSER_PASSWORD": self.password,
            "PATRONI_REPLICATION_USERNAME": "replicator",
            "PATRONI_REPLICATION_PASSWORD": self.password,
            "PATRONI_REWIND_USERNAME": "rewinder",
            "PATRONI_REWIND_PASSWORD": self.password,
        }
        command = [find_patroni() or "", str(DEPLOY / "patroni/patroni.yml")]
        return Node(name, port, api, data, Process(name, command, self.folder, environment, self.user))

    def _haproxy_environment(self) -> dict[str, str]:
        nodes = {f"NODE{number}": f"127.0.0.1:{self.port(f'node{number}')}" for number in (1, 2, 3)}
        checks = {f"NODE{number}_API_PORT": str(self.port(f"node{number}-api")) for number in (1, 2, 3)}
        web = {
            f"{kind.upper()}{number}": f"127.0.0.1:{self.port(f'{kind}{number}')}"
            for kind in ("server", "streams")
            for number in (1, 2, 3)
        }
        return {
            **nodes,
            **checks,
            **web,
            "LEADER_ADDRESS": f"127.0.0.1:{self.port('leader')}",
            "REPLICAS_ADDRESS": f"127.0.0.1:{self.port('replicas')}",
            "FRONT_ADDRESS": f"127.0.0.1:{self.port('front')}",
            "HEALTH_PATH": HEALTH_PATH,
            "HEALTH_HOST": "localhost",
        }


def _need(program: str) -> str:
    path = find_program(program)
    assert path, f"{program} is not installed"
    return path
