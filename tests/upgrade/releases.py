"""What releases left behind: a database with conversations, and migrations, which nobody may edit afterwards.

`make release` calls `store`; `python -m tests.upgrade.releases FOLDER` stores what the checkout in a folder leaves.
"""

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.live.client import Talk, post
from tests.live.own_postgres import start_cluster
from tests.live.processes import ROOT, Server, free_port, start

FOLDER = Path(__file__).resolve().parent
#: The hash of each migration of the last release.
MIGRATIONS = FOLDER / "migrations.json"
_SECRET = "the secret of the last release"
_CONVERSATIONS = (
    ("hello", "what are your opening hours", "thanks"),
    ("where is my order", "51007", "thank you"),
    ("I want a refund", "60415", "no"),
    ("which tariffs do you have", "which tariff is cheapest", "do you sell gift cards"),
    ("transfer my connection", "12345678", "12 Mill Lane", "1 December 2035"),
)
_OPEN = ("transfer my connection", "87654321")
#: Jobs are handed to a broker that does not answer, so that what was accepted waits.
_NO_JOBS = {"CE_BROKER_URL": "redis://127.0.0.1:1"}


def store(product: Path) -> None:
    """Have a checkout answer 50 turns on PostgreSQL, and keep its database and the hashes of its migrations.

    Beside the dump stand its facts: the API `key`, the conversation whose form is `open`, the address of the message
    that is `queued` (null if the version queues none).
    """
    with tempfile.TemporaryDirectory(prefix="ceb-") as name, start_cluster() as cluster:
        folder = Path(name)
        folder.chmod(0o777)
        prepare = [sys.executable, "manage.py", "demo", "--no-serve", *list_week_options(product)]
        subprocess.run(prepare, env=list_variables(cluster.url, folder), cwd=product, check=True)
        key = json.loads((folder / "demo.json").read_text())["api_key"]
        with serve(product, cluster.url, folder) as server:
            talks = [_say(server, key, lines) for _ in range(3) for lines in _CONVERSATIONS]
            opened = _say(server, key, _OPEN)
            count = sum(len(talk.acknowledged) for talk in (*talks, opened))
            if count != 50:
                raise SystemExit(f"{count} of 50 turns were answered:\n{server.text()}")
            body = {"conversationId": talks[0].conversation_id, "message": "what are your opening hours"}
            queued = post(server.port, key, body, Prefer="respond-async")
        cluster.run("pg_dump", "--no-owner", f"--file={folder}/dump.sql", cluster.url)
        dump = gzip.compress((folder / "dump.sql").read_bytes(), mtime=0)
    release = FOLDER / read_version(product)
    release.mkdir(exist_ok=True)
    (release / "database.sql.gz").write_bytes(dump)
    turn_url = queued.body.get("turnUrl") if queued else None
    facts = {"key": key, "open": opened.conversation_id, "queued": turn_url}
    (release / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")
    MIGRATIONS.write_text(json.dumps(hash_migrations(product), indent=1) + "\n")


def read_version(product: Path) -> str:
    """The version of a checkout."""
    return re.findall(r'__version__ = "(.+)"', (product / "convengine/__init__.py").read_text())[0]


def has_week(product: Path) -> bool:
    """True if the demonstration has a sample week, which may be left out."""
    return (product / "fixtures/demo/week.yaml").exists()


def list_week_options(product: Path) -> list[str]:
    """The option that leaves the sample week out, as this version of the product calls it."""
    command = (product / "config_admin/commands/management/commands/demo.py").read_text()
    return ["--no-week" if "--no-week" in command else "--empty"] if has_week(product) else []


def list_variables(url: str, folder: Path) -> dict[str, str]:
    """The environment of a process of the product, which runs the checkout of its working folder."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("CE_", "DATABASE_", "DJANGO_"))}
    return {**own, "DATABASE_URL": url, "CE_VAR_DIR": str(folder), "CE_SECRET_KEY": _SECRET}


@contextmanager
def serve(product: Path, url: str, folder: Path, **more: str) -> Iterator[Server]:
    """Migrate and serve without background jobs, unless `more` has variables that bring them."""
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", "1", "--streams-port", "0"]
    jobs = {} if more else _NO_JOBS
    server = start(
        [*command, *(["--no-jobs"] if jobs else [])], port, {**list_variables(url, folder), **jobs, **more}, product
    )
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.end()


def _say(server: Server, key: str, lines: tuple[str, ...]) -> Talk:
    talk = Talk(key)
    for line in lines:
        talk.say(server.port, line)
    return talk


def hash_migrations(product: Path) -> dict[str, str]:
    """The hash of each migration of a checkout, by its path."""
    files = sorted(
        file
        for room in ("convengine", "config_admin", "audit")
        for file in (product / room).rglob("migrations/[0-9]*.py")
    )
    return {str(file.relative_to(product)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


if __name__ == "__main__":
    store(Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT)
