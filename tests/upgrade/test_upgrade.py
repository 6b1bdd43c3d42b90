"""A database of an earlier release is upgraded: conversations go on, what waits is answered, the record is intact."""

import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.live.client import Talk, post
from tests.live.own_postgres import start_cluster
from tests.live.processes import ROOT, Server
from tests.upgrade.releases import FOLDER, MIGRATIONS, hash_migrations, list_variables, serve

RELEASES = sorted(file.parent for file in FOLDER.glob("*/facts.json"))


@dataclass
class Upgraded:
    """The present version on the database of a release."""

    server: Server
    facts: dict[str, Any]
    variables: dict[str, str]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "manage.py", *command)
        return subprocess.run(command, env=self.variables, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(params=RELEASES, ids=[release.name for release in RELEASES])
def upgraded(request: pytest.FixtureRequest) -> Iterator[Upgraded]:
    with tempfile.TemporaryDirectory(prefix="ceb-") as name, start_cluster() as cluster:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "dump.sql").write_bytes(gzip.decompress((request.param / "database.sql.gz").read_bytes()))
        cluster.run("psql", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={folder}/dump.sql", cluster.url)
        facts = json.loads((request.param / "facts.json").read_text())
        with serve(ROOT, cluster.url, folder, CE_JOB_TICK_SECONDS="1") as server:
            yield Upgraded(server, facts, list_variables(cluster.url, folder))


@pytest.mark.long
def test_the_database_of_a_release_goes_on_and_is_intact(upgraded: Upgraded) -> None:
    verified = upgraded.run("audit_verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr

    talk = Talk(upgraded.facts["key"], upgraded.facts["open"])
    reply = talk.say(upgraded.server.port, "5 Oak Street")
    assert reply
    assert (reply.status, reply.body["intent"], reply.body["state"]) == (200, "MOVE_CONNECTION", "COLLECT")
    if upgraded.facts["queued"]:
        assert _wait_for_answer(upgraded)

    verified = upgraded.run("audit_verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def _wait_for_answer(upgraded: Upgraded) -> bool:
    server, deadline = upgraded.server, time.monotonic() + 60
    while time.monotonic() < deadline:
        reply = post(server.port, upgraded.facts["key"], None, path=upgraded.facts["queued"], method="GET")
        if reply and reply.body["status"] == "ANSWERED":
            return True
        time.sleep(0.5)
    return False


def test_no_migration_of_the_last_release_was_edited() -> None:
    present = hash_migrations(ROOT)

    edited = [path for path, digest in json.loads(MIGRATIONS.read_text()).items() if present.get(path) != digest]

    assert edited == [], "Installations have applied these. Restore them, and add a migration with the change."
