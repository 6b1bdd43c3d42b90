"""An installation with an identity provider and second factors, running, and browsers at it."""

import base64
import hmac
import html
import os
import re
import socket
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
from django.core import signing

from tests.migrated import copy_migrated

ROOT = Path(__file__).resolve().parents[4]
KEY = "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdef"
PASSWORD = "right horse battery"
LABEL = "Company sign-in"
#: An administrator and an analyst with passwords, and a group of the provider.
_PEOPLE = f"""
from django.contrib.auth.models import Group, User
from convengine.server.sign_in.models import CeGroupMapping
User.objects.create_superuser("ada", password="{PASSWORD}")
for group in Group.objects.all():
    user = User.objects.create_user(f"local-{{group.name}}", password="{PASSWORD}", is_staff=True)
    user.groups.add(group)
    CeGroupMapping.objects.create(claim=f"bots-{{group.name}}", group=group)
"""
_SALT = "django.contrib.sessions.SessionStore"


@dataclass
class Site:
    """The installation's server, and its database."""

    url: str
    file: Path

    def query(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.file, timeout=20) as connection:
            return connection.execute(statement, values).fetchall()

    def read_log(self, kind: str) -> list[tuple[str, str]]:
        """The users and details of entries in the access log."""
        rows = self.query("SELECT reader, search FROM ce_access_log WHERE kind = ? ORDER BY access_id", kind)
        return [(str(reader), str(details)) for reader, details in rows]

    def list_users(self) -> set[str]:
        return {row[0] for row in self.query("SELECT username FROM auth_user")}

    def age_sessions(self, seconds: int) -> None:
        """Let the last check of all sessions be that many seconds longer ago."""
        self.change_sessions(lambda record: {"checked": record["checked"] - seconds})

    def change_sessions(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Change what sessions by the provider know of it."""
        for key, data in self.query("SELECT session_key, session_data FROM django_session"):
            values = signing.loads(data, key=KEY, salt=_SALT)
            if "ce_oidc" in values:
                values["ce_oidc"] |= change(values["ce_oidc"])
                stored = signing.dumps(values, key=KEY, salt=_SALT, compress=True)
                self.query("UPDATE django_session SET session_data = ? WHERE session_key = ?", stored, key)


@dataclass
class Visitor:
    """A browser without a screen."""

    site: Site
    http: requests.Session = field(default_factory=requests.Session)

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.http.get(f"{self.site.url}{path}", timeout=30, **options)

    def post(self, path: str, page: str = "", **options: Any) -> requests.Response:
        """Send a form from a page, which is the same address by default."""
        form = options.pop("data", {})
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.get(page or path).text)
        token = {"csrfmiddlewaretoken": found[1]} if found else {}
        headers = {"Referer": f"{self.site.url}{path}"}
        return self.http.post(f"{self.site.url}{path}", {**token, **form}, timeout=30, headers=headers, **options)

    def begin(self, target: str = "/admin/") -> str:
        """Press the provider's button; gives the address at the provider."""
        page = self.post("/admin/account/provider/", "/admin/login/", data={"next": target})
        found = re.search(r'href="([^"]+)"', page.text)
        assert found, page.text
        return html.unescape(found[1])

    def sign_in(self, target: str = "/admin/") -> requests.Response:
        """By the provider, to the end."""
        return self.http.get(self.begin(target), timeout=30)

    def sign_in_by_password(self, name: str, password: str = PASSWORD, target: str = "/admin/") -> requests.Response:
        return self.post("/admin/login/", data={"username": name, "password": password, "next": target})

    @property
    def is_signed_in(self) -> bool:
        return self.get("/admin/", allow_redirects=False).status_code == 200


@contextmanager
def serve(folder: Path, issuer: str, port: int, **environment: str) -> Iterator[Site]:
    """A server of its own, with a database of its own."""
    site = Site(f"http://127.0.0.1:{port}", folder / "site.sqlite3")
    copy_migrated(site.file)
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("CE_", "DATABASE_", "DJANGO_"))},
        "CE_DEBUG": "true",
        "CE_SECRET_KEY": KEY,
        "CE_VAR_DIR": str(folder),
        "CE_SECOND_FACTOR": "allowed",
        "CE_OIDC_ISSUER": issuer,
        "CE_OIDC_CLIENT_ID": "convengine",
        "CE_OIDC_CLIENT_SECRET": "secret",
        "CE_OIDC_LABEL": LABEL,
        "DATABASE_URL": f"sqlite:///{site.file}",
        **environment,
    }

    def run(*words: str) -> None:
        command = [sys.executable, "manage.py", *words]
        subprocess.run(command, cwd=ROOT, env=variables, check=True, capture_output=True)

    run("migrate", "-v0")
    run("shell", "-v0", "-c", _PEOPLE)
    command = [sys.executable, "manage.py", "runserver", "--noreload", site.url.removeprefix("http://")]
    with run_process(command, f"{site.url}/livez", folder / "log", variables):
        yield site


@contextmanager
def serve_real_provider(name: str, folder: Path, *arguments: str) -> Iterator[str]:
    """A provider of a module here, in a process of its own; gives its address."""
    port = find_free_port()
    command = [sys.executable, "-m", f"tests.convengine.server.sign_in.{name}", str(port), str(folder), *arguments]
    with run_process(command, f"http://127.0.0.1:{port}/metadata", folder / f"{name}.log"):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def run_process(command: list[str], address: str, log: Path, environment: Any = None) -> Iterator[None]:
    """A process, which answers at an address."""
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)
        try:
            end = time.monotonic() + 120
            while True:
                try:
                    requests.get(address, timeout=5)
                    break
                except requests.RequestException:
                    assert time.monotonic() < end, log.read_text()
                    assert process.poll() is None, log.read_text()
                    time.sleep(0.2)
            yield
        finally:
            process.terminate()
            process.wait(20)


def make_code(secret: str) -> str:
    """The present code of an authenticator app (RFC 6238)."""
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30), "sha1")
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start : start + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def find_free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
