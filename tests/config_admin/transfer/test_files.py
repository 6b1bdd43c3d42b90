"""Files that would take very long or very much memory are refused before anything reads them."""

import base64
import json
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from config_admin.transfer.document import FileRefused
from config_admin.transfer.files import read_bytes
from tests.api import make_key
from tests.config_admin.transfer import bombs
from tests.pace import allow

ROOT = Path(__file__).resolve().parents[3]
SECONDS, MEGABYTES = 2, 100


@pytest.mark.parametrize("kind", ["row far below", "YAML aliases", "small zip bomb that understates", "CSV of commas"])
def test_small_and_dangerous_files_are_refused(kind: str) -> None:
    name, make = bombs.FILES[kind]

    with pytest.raises(FileRefused):
        read_bytes(name, make())


@pytest.mark.nightly
@pytest.mark.parametrize("kind", bombs.FILES)
def test_a_dangerous_file_costs_little_time_and_memory(kind: str, tmp_path: Path) -> None:
    name, make = bombs.FILES[kind]
    file = tmp_path / "file"
    file.write_bytes(make())
    command = [sys.executable, "-m", "tests.config_admin.transfer.read_bomb", name, str(file)]

    measured = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)

    assert measured["refused"]
    assert measured["seconds"] < allow(SECONDS)
    assert measured["megabytes"] < MEGABYTES


@pytest.mark.nightly
@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["900,000 rows", "zip bomb", "JSON of empty lists", "deep JSON", "YAML of nothing"])
def test_it_is_refused_by_page_call_and_command(kind: str, tmp_path: Path) -> None:
    name, make = bombs.FILES[kind]
    data, client = make(), Client()
    client.force_login(User.objects.create_superuser("ada"))
    (tmp_path / name).write_bytes(data)
    key = {"Authorization": f"Api-Key {make_key(scopes=['config'])}"}
    body = json.dumps({"file": {"name": name, "base64": base64.b64encode(data[: 20 * 1024 * 1024]).decode()}})

    began = time.process_time()
    page = client.post(
        reverse("admin:config_admin_cerelease_transfer"), {"file": SimpleUploadedFile(name, data), "reason": "x"}
    )
    answer = client.post("/api/v1/config/import", body, "application/json", headers=key)
    bundle = client.post(
        "/api/v1/config/import", b'{"bundle":' + data[:30_000_000] + b"}", "application/json", headers=key
    )
    with pytest.raises(CommandError, match="Split it by tables"):
        call_command("config_import", str(tmp_path / name), stdout=StringIO())

    assert time.process_time() - began < allow(5 * SECONDS)  # the test itself packs the files
    assert "Split it by tables" in page.content.decode()
    assert (answer.status_code, bundle.status_code) == (400, 400)
    assert "Split it by tables" in answer.content.decode()


def test_sql_is_bounded_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config_admin.contrib.original.seed_sql.read_statements", None)

    with pytest.raises(FileRefused, match=r"seed\.sql: has 1100 KB of SQL; at most 256 KB are read\. Split it"):
        read_bytes("seed.sql", b"INSERT INTO ce_rule (rule_id) VALUES (1);\n".ljust(1100 * 1024))
