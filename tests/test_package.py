"""The built wheel alone, in an empty environment and an empty folder."""

import json
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path
from typing import Any

import httpx2
import pytest

from convengine import __version__
from tests.live.processes import answers, free_port
from tests.migrated import copy_migrated

# Slow: so that this file, one of the longest, begins first.
pytestmark = [pytest.mark.long, pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent
UV = str(Path(sys.executable).parent / "uv")
#: A page of the admin, a chapter with a picture, files of ours and of a library.
PAGES = (
    "/admin/", "/docs/", "/docs/first_hour_analyst/", "/static/docs/tasks/collect-1.jpg",
    "/static/convengine/admin.css", "/static/convengine/ce-editor.js", "/static/unfold/js/app.js",
    "/api/docs/", "/api/schema/",
)  # fmt: skip
_START_SECONDS = 300
PASSWORD = "long-enough-4711"


@dataclass(frozen=True)
class Installation:
    """A virtual environment that holds the wheel and what it needs."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of a shell in which it is active; nothing of the running tests."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return {**kept, "PATH": path, "VIRTUAL_ENV": str(self.folder)}

    def run(self, folder: Path, *command: str, **variables: str) -> str:
        """What a command prints. Fails with it when the command fails."""
        done = subprocess.run(
            command, cwd=folder, env={**self.environ, **variables}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def list_files(self) -> set[str]:
        """All files of the environment."""
        return {path.as_posix() for path in self.folder.rglob("*") if "__pycache__" not in path.parts}

    @contextmanager
    def serve(self, folder: Path, *command: str, **variables: str) -> Iterator[int]:
        """A server of that command, which gets a free port as its last word or in `PORT=`."""
        port = free_port()
        words = [word.replace("{port}", str(port)) for word in command]
        with (folder / "server.log").open("w") as log:
            process = subprocess.Popen(
                words, cwd=folder, env={**self.environ, **variables}, stdout=log, stderr=log, process_group=0
            )
            try:
                _wait(port, process, folder / "server.log")
                yield port
            finally:
                os.killpg(process.pid, 15)
                process.wait(30)


def _wait(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        if answers(port):
            return
        time.sleep(0.3)
    pytest.fail(f"no answer in {_START_SECONDS} seconds: {log.read_text()}")


def _say(port: int, key: str, message: str, conversation: str | None = None) -> dict[str, Any]:
    answer: dict[str, Any] = httpx2.post(
        f"http://127.0.0.1:{port}/api/v1/conversation/message",
        json={"message": message, **({"conversationId": conversation} if conversation else {})},
        headers={"Authorization": f"Api-Key {key}"},
        timeout=30,
    ).json()
    return answer


def _check_pages(port: int, name: str, password: str) -> None:
    """Every page is there for somebody who signs in, and a chapter shows its pictures."""
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, follow_redirects=True) as visitor:
        visitor.get("/admin/login/")
        sent = {"username": name, "password": password, "csrfmiddlewaretoken": visitor.cookies["csrftoken"]}
        visitor.post("/admin/login/?next=/admin/", data=sent, headers={"Referer": f"http://127.0.0.1:{port}/"})
        pages = {path: visitor.get(path) for path in PAGES}

    assert {path: page.status_code for path, page in pages.items()} == dict.fromkeys(PAGES, 200)
    assert "/static/docs/tasks/collect-1.jpg" in pages["/docs/first_hour_analyst/"].text
    assert "Log in" not in pages["/admin/"].text


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the source distribution, and of the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([UV, "build", "--quiet", "--out-dir", str(folder), str(ROOT)], check=True, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    folder = tmp_path_factory.mktemp("environment") / "venv"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    made = Installation(folder)
    subprocess.run([UV, "pip", "install", "--quiet", "--python", str(made.python), str(wheel)], check=True)
    return made


def test_the_wheel_holds_everything_and_no_other_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    shipped = {name.removeprefix("convengine/_shipped/") for name in names if name.startswith("convengine/_shipped/")}
    listed = subprocess.run(
        ["git", "ls-files", "templates", "static", "docs", "fixtures"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {
        "convengine", "config_admin", "audit",
    }  # fmt: skip
    assert set(listed.stdout.split()) <= shipped
    assert {f"{package}/py.typed" for package in ("convengine", "config_admin", "audit")} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    # The wheel is built from the source distribution, which has no repository.
    assert re.fullmatch(r"[0-9a-f]{12}", zipfile.ZipFile(wheel).read("convengine/commit.txt").decode())
    assert not [name for name in names if "__pycache__" in name]


def test_the_metadata_has_the_version_of_the_checkout_and_absolute_links(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = message_from_bytes(archive.read(name))
    targets = re.findall(r"\]\(([^)]+)\)", metadata.get_payload())

    assert metadata["Version"] == __version__
    assert metadata["Author"]
    assert metadata["Keywords"]
    assert [target for target in targets if not target.startswith("https://")] == []
    assert f"https://convengine.example/v{__version__}/docs/api.md" in targets


def test_a_new_project_passes_its_tests_and_serves(installation: Installation, tmp_path: Path) -> None:
    before = installation.list_files()
    installation.run(tmp_path, "convengine", "init", "clinic")
    project = tmp_path / "clinic"

    assert "4 passed, 0 failed" in installation.run(project, "make", "test")
    with installation.serve(project, "make", "run", "PORT={port}") as port:
        key = installation.run(project, "convengine", "key", "create", "website").strip()
        first = _say(port, key, "I need a vaccination")
        installation.run(
            project, "convengine", "user", "create", "ada", "--superuser", DJANGO_SUPERUSER_PASSWORD=PASSWORD
        )
        _check_pages(port, "ada", PASSWORD)
        for text in ("on 7 January 2036", "Ada Jones"):
            _say(port, key, text, first["conversationId"])
        last = _say(port, key, "yes please", first["conversationId"])

    assert first["payload"]["value"] == "Which day suits you?"
    assert last["payload"]["value"] == "Done, Ada Jones. Your reference is A-0001."
    assert "0 wrong" in installation.run(project, "convengine", "doctor")
    installation.run(project, "convengine", "check")
    installation.run(project, "convengine", "export", "again.json")
    assert (project / "var" / "convengine.sqlite3").is_file()
    assert installation.list_files() == before


@pytest.mark.nightly
@pytest.mark.parametrize(
    "options",
    [
        ["clinic", "--empty"],
        ["clinic", "--folder", "elsewhere"],
        ["my-Clinic", "--empty", "--folder", "elsewhere"],
    ],
    ids=" ".join,
)
def test_a_project_of_every_kind_passes_its_own_tests_and_starts(
    installation: Installation, tmp_path: Path, options: list[str]
) -> None:
    installation.run(tmp_path, "convengine", "init", *options)
    (project,) = tmp_path.iterdir()
    (project / "var").mkdir(exist_ok=True)
    copy_migrated(project / "var" / "convengine.sqlite3")

    assert "passed, 0 failed" in installation.run(project, "make", "test")
    with installation.serve(project, "make", "run", "PORT={port}") as port:
        key = installation.run(project, "convengine", "key", "create", "website").strip()
        assert _say(port, key, "The blue sky is wide")["payload"]["value"]


def test_every_option_of_init_is_tried(installation: Installation, tmp_path: Path) -> None:
    listed = set(re.findall(r"--\w[\w-]*", installation.run(tmp_path, "convengine", "init", "--help")))

    assert listed == {"--help", "--folder", "--empty"}


def test_the_demonstration_runs_in_an_empty_folder(installation: Installation, tmp_path: Path) -> None:
    before = installation.list_files()
    with installation.serve(tmp_path, "convengine", "demo", "--port", "{port}") as port:
        facts = json.loads((tmp_path / "var" / "demo.json").read_text())
        key, analyst = facts["api_key"], facts["users"][0]
        _check_pages(port, analyst["username"], analyst["password"])
        first = _say(port, key, "cancel my order 48392")
        last = _say(port, key, "yes", first["conversationId"])

    assert "smart thermostat" in first["payload"]["value"]
    assert "C-48392" in last["payload"]["value"]
    assert installation.list_files() == before


def test_the_bicycle_workshop_is_imported_by_its_name(installation: Installation, tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    copy_migrated(tmp_path / "var" / "convengine.sqlite3")

    command = ("convengine", "import", "bicycle_workshop.json", "--apply")

    assert "Imported as release" in installation.run(tmp_path, *command, CE_SECRET_KEY="x" * 50)


SETTINGS = """
INSTALLED_APPS += ["rest_framework"]
REST_FRAMEWORK = {"DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"]}
DATABASES["default"]["OPTIONS"] = {"transaction_mode": "IMMEDIATE"}

from convengine.embedding import add_to
add_to(globals())
"""
URLS = """
from django.contrib import admin
from django.urls import include, path
from rest_framework.response import Response
from rest_framework.views import APIView


class Hello(APIView):
    def get(self, request):
        return Response({"hello": "world"})


urlpatterns = [
    path("", include("convengine.included_urls")),
    path("admin/", admin.site.urls),
    path("api/v1/hello/", Hello.as_view()),
]
"""
VISIT = """
import json, sys
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client

visitor = Client(SERVER_NAME="localhost")
pages = json.loads(sys.argv[1])
answer = visitor.post(
    "/api/v1/conversation/message", {"message": "I have a flat tyre"}, content_type="application/json",
    headers={"Authorization": f"Api-Key {sys.argv[2]}"},
).json()
refused = visitor.post("/api/v1/conversation/message", {}, content_type="application/json").json()
theirs_refused = visitor.get("/api/v1/hello/")
visitor.force_login(User.objects.get())
print(json.dumps({
    "pages": {page: visitor.get(page).status_code for page in pages},
    "answer": answer["payload"]["value"],
    "refused": refused["errorCode"],
    "theirs refused": theirs_refused.json(),
    "theirs": visitor.get("/api/v1/hello/").json(),
    "user admin": type(admin.site._registry[User]).__module__,
    "documented": "/api/v1/hello/" in visitor.get("/api/schema/").content.decode(),
}))
"""
LIST_COMMANDS = """
import django, json
from django.core.management import get_commands
django.setup()
ours = ("convengine", "config_admin", "audit")
print(json.dumps([name for name, app in get_commands().items() if app.startswith(ours)]))
"""


@pytest.mark.nightly
def test_a_fresh_django_project_holds_it_beside_its_own_users_and_rest_settings(
    installation: Installation, tmp_path: Path
) -> None:
    def manage(*words: str, **variables: str) -> str:
        return installation.run(tmp_path, "python", "manage.py", *words, **variables)

    installation.run(tmp_path, "django-admin", "startproject", "shop", ".")
    with (tmp_path / "shop" / "settings.py").open("a") as file:
        file.write(SETTINGS)
    (tmp_path / "shop" / "urls.py").write_text(URLS)
    (tmp_path / "visit.py").write_text("import django\ndjango.setup()\n" + VISIT)

    assert "no issues" in manage("check")
    manage("makemigrations", "--check", "--dry-run")
    manage("migrate", "--verbosity", "0")
    bicycles = installation.folder.rglob("bicycle_workshop.json")
    manage("convengine", "config_import", str(next(bicycles)), "--apply")
    manage("convengine", "user", "create", "ada", "--superuser")
    key = manage("convengine", "key", "create", "website").strip()
    pages = [
        "/admin/",
        "/admin/auth/user/add/",
        "/admin/config_admin/ceintent/",
        "/docs/first_hour_analyst/",
        "/api/docs/",
    ]
    seen = json.loads(
        installation.run(tmp_path, "python", "visit.py", json.dumps(pages), key, DJANGO_SETTINGS_MODULE="shop.settings")
    )

    commands = installation.run(tmp_path, "python", "-c", LIST_COMMANDS, DJANGO_SETTINGS_MODULE="shop.settings")
    assert json.loads(commands) == ["convengine"]
    assert seen == {
        "pages": dict.fromkeys(pages, 200),
        "answer": "What kind of bicycle is it: city bike, e-bike, racing bike or child's bike?",
        "refused": "NOT_AUTHENTICATED",
        "theirs refused": {"detail": "Authentication credentials were not provided."},
        "theirs": {"hello": "world"},
        "user admin": "django.contrib.auth.admin",
        "documented": False,
    }
