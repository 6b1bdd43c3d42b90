"""What the manual's chapter "Operations" says about backups: a dump and a point in time are restored, and verified."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from tests.live.client import Talk
from tests.live.own_postgres import Cluster, serve_demonstration, start_cluster
from tests.live.processes import ROOT, Server

pytestmark = [pytest.mark.nightly, pytest.mark.skipif(sys.platform != "linux", reason="ends processes found in /proc")]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with start_cluster() as cluster:
        yield cluster


@pytest.fixture
def installation(cluster: Cluster, tmp_path: Path) -> Iterator[tuple[Server, str]]:
    with serve_demonstration(cluster, tmp_path) as installation:
        yield installation


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the database's user may write; short, because a socket is in it."""
    with tempfile.TemporaryDirectory(prefix="ceb-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o777)
        yield Path(name)


def verify(url: str, folder: Path) -> str:
    """What `audit_verify` says, which must find nothing."""
    environment = {**os.environ, "DATABASE_URL": url, "CE_VAR_DIR": str(folder)}
    command = [sys.executable, "manage.py", "audit_verify"]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def talk(installation: tuple[Server, str], count: int) -> None:
    server, secret = installation
    for _ in range(count):
        reply = Talk(secret).say(server.port, "hello")
        assert reply
        assert reply.status == 200


def test_a_dump_is_restored_into_a_fresh_database_and_intact(
    installation: tuple[Server, str], cluster: Cluster, folder: Path, tmp_path: Path
) -> None:
    talk(installation, 5)

    cluster.run("pg_dump", "--format=custom", f"--file={folder}/convengine.dump", cluster.url)
    talk(installation, 2)
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE restored")
    url = cluster.url.replace("/postgres?", "/restored?")
    cluster.run("pg_restore", "--no-owner", "--exit-on-error", f"--dbname={url}", f"{folder}/convengine.dump")

    assert "Intact: 5 turns" in verify(url, tmp_path)
    assert "Intact: 7 turns" in verify(cluster.url, tmp_path)


def test_a_point_in_time_is_restored_and_intact(
    installation: tuple[Server, str], cluster: Cluster, folder: Path, tmp_path: Path
) -> None:
    log, base = folder / "wal", folder / "base"
    log.mkdir()
    log.chmod(0o777)
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET archive_mode = on")
        connection.execute(f"ALTER SYSTEM SET archive_command = 'test ! -f {log}/%f && cp %p {log}/%f'")
    # The server of ConvEngine goes on after it.
    cluster.stop()
    cluster.start()
    deadline = time.monotonic() + 20
    while (reply := Talk(installation[1]).say(installation[0].port, "hello")) is None or reply.status != 200:
        assert time.monotonic() < deadline
    cluster.run("pg_basebackup", f"--dbname={cluster.url}", f"--pgdata={base}", "--checkpoint=fast")
    talk(installation, 3)
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        time.sleep(1)
        (moment,) = connection.execute("SELECT now()::text").fetchone() or ("",)
        time.sleep(1)
        talk(installation, 2)
        connection.execute("SELECT pg_switch_wal()")
    deadline = time.monotonic() + 20
    while not any(file.stat().st_size for file in log.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    time.sleep(1)

    settings = (
        f"\narchive_mode = off\nrestore_command = 'cp {log}/%f %p'\nrecovery_target_time = '{moment}'\n"
        "recovery_target_action = 'promote'\nlisten_addresses = ''\n"
        f"unix_socket_directories = '{folder}'\nport = 5433\n"
    )
    cluster.run(
        "sh", "-c", f'printf "%s" "$1" >> {base}/postgresql.auto.conf && touch {base}/recovery.signal', "sh", settings
    )
    cluster.run("pg_ctl", "--pgdata", str(base), "--log", f"{folder}/log", "--wait", "start")
    try:
        assert "Intact: 4 turns" in verify(
            f"postgresql://postgres@/postgres?host={quote(str(folder))}&port=5433", tmp_path
        )
    finally:
        cluster.run("pg_ctl", "--pgdata", str(base), "--mode=immediate", "stop")
