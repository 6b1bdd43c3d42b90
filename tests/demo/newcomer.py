"""Somebody who has never seen the project: a copy of its tree, a shell, and `make demo`."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.live.processes import ROOT, Server, start

#: With it the demonstration is installed from nothing, as on a machine that never saw it.
FRESH = os.environ.get("CE_TEST_FRESH_CLONE") == "true"
#: What a test run sets and a newcomer does not.
_OURS = ("CE_", "DATABASE_URL", "DJANGO_", "PYTEST", "PYTHON", "MAKE", "MFLAGS", "VIRTUAL_ENV")


@dataclass
class Demo:
    """A folder in which somebody says `make demo`."""

    folder: Path
    environment: dict[str, str]
    running: list[Server] = field(default_factory=list)
    #: How long each start took until it answered.
    starts: list[float] = field(default_factory=list)

    def make(self, port: int) -> Server:
        """Say `make demo PORT=…` and wait until it answers."""
        began = time.monotonic()
        server = start(["make", "demo", f"PORT={port}"], port, self.environment, self.folder)
        self.running.append(server)
        server.wait_until_ready()
        self.starts.append(time.monotonic() - began)
        return server

    def shell(self, script: str) -> str:
        """Run a script in the folder; gives what it prints. Fails with its errors."""
        done = subprocess.run(
            ["sh", "-c", script],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def facts(self) -> dict[str, Any]:
        """What `var/demo.json` says."""
        return dict(json.loads((self.folder / "var/demo.json").read_text()))

    @property
    def url(self) -> str:
        """Where the server that was started first answers."""
        return f"http://127.0.0.1:{self.running[0].port}"

    def say(self, message: str, conversation_id: str | None = None, *, to: Server | None = None) -> dict[str, Any]:
        """One call of the turn API, of the first server unless another is named."""
        body = {"message": message, **({"conversationId": conversation_id} if conversation_id else {})}
        return self._ask("message", body, to)

    def why(self, conversation_id: str, turn: int) -> dict[str, Any]:
        """Every decision of a turn."""
        return self._ask(f"audit/{conversation_id}/why?turn={turn}")

    def _ask(self, path: str, body: Any = None, to: Server | None = None) -> dict[str, Any]:
        port = (to or self.running[0]).port
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/v1/conversation/{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Api-Key {self.facts()['api_key']}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return dict(json.loads(answer.read()))

    def end(self, *servers: Server) -> None:
        """Stop these servers, or all."""
        for server in servers or tuple(self.running):
            self.running.remove(server)
            server.end()


def copied_tree(folder: Path) -> None:
    """The files of the project as they are now, without anything that an earlier run left."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def borrow_packages(folder: Path) -> None:
    """Use the packages that run these tests, so that nothing is downloaded."""
    (folder / ".venv").mkdir()
    for entry in Path(sys.prefix).iterdir():
        if entry.name not in ("runtime", "develop"):
            (folder / ".venv" / entry.name).symlink_to(entry)
    (folder / ".venv/runtime").touch()


def with_curl(folder: Path) -> str:
    """A PATH on which there is a curl: the machine's own, else one that knows just what the manual uses."""
    path = os.environ["PATH"]
    if shutil.which("curl"):
        return path
    folder.mkdir(exist_ok=True)
    program = folder / "curl"
    program.write_text(f"#!{sys.executable}\n" + textwrap.dedent(_CURL))
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{path}"


_CURL = """
    import sys, urllib.error, urllib.request
    words = iter(sys.argv[1:])
    headers, data, url, method = {}, None, "", None
    for word in words:
        if word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            data = next(words).encode()
        elif word == "-X":
            method = next(words)
        elif word != "-s":
            url = word
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method))
    except urllib.error.HTTPError as error:
        answer = error
    print(answer.read().decode(), end="")
"""


def newcomer(folder: Path, programs: Path) -> Demo:
    """A copy of the tree in a folder, with packages unless they are to be installed; nothing runs yet."""
    copied_tree(folder)
    if not FRESH:
        borrow_packages(folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return Demo(folder, {**environment, "PATH": with_curl(programs)})
