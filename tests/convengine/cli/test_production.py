"""`convengine doctor --production`: what is missing is named with its remedy, and fails the command."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import get_resolver

from config_admin.models import CeConfig
from convengine.cli import doctor, production
from convengine.cli.doctor import Level
from tests.convengine.cli.test_main import run

pytestmark = pytest.mark.django_db
#: What docs/deployment.md recommends, as settings.
HARDENED: Mapping[str, Any] = {
    "DEBUG": False,
    "SECURE_SSL_REDIRECT": True,
    "SECURE_HSTS_SECONDS": 3600,
    "SESSION_COOKIE_SECURE": True,
    "CSRF_COOKIE_SECURE": True,
    "ALLOWED_HOSTS": ["desk.example.com", "127.0.0.1"],
    "SECRET_KEY": "0123456789abcdefghijABCDEFGHIJ0123456789abcdefghij",
}


@pytest.fixture(autouse=True)
def _hardened(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "project_folder", lambda: tmp_path)
    (tmp_path / "heads.anchor").touch()
    for name, value in HARDENED.items():
        setattr(settings, name, value)
    set_conf(settings, ANCHOR_FILE=str(tmp_path / "heads.anchor"), BACKUP_FOLDER=str(tmp_path))
    # The addresses first: the setting alone installs nothing that those of the sign-in need.
    assert get_resolver().url_patterns
    set_conf(settings, SIGN_IN={"second_factor": "required"})
    CeConfig.objects.create(config_type="AUDIT", config_key="RETENTION_DAYS", config_value="365")


def set_conf(settings: Any, **values: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, **values}


def list_missing() -> dict[str, str]:
    """The subjects that are not fine, with what is wrong and what to do."""
    findings = [*production.examine_settings(), *production.examine_installation()]
    assert all(bool(finding.remedy) is (finding.level is not Level.FINE) for finding in findings)
    return {each.subject: f"{each.text} {each.remedy}" for each in findings if each.level is not Level.FINE}


def test_what_the_manual_recommends_is_fine() -> None:
    assert list_missing() == {}


@pytest.mark.parametrize(
    ("changed", "subject", "says"),
    [
        ({"SECURE_SSL_REDIRECT": False}, "HTTPS", "CE_HTTPS_REDIRECT=true"),
        ({"SECURE_HSTS_SECONDS": 0}, "HSTS", "CE_HSTS_SECONDS"),
        ({"SESSION_COOKIE_SECURE": False}, "cookies", "CE_SECURE_COOKIES=true"),
        ({"CSRF_COOKIE_SECURE": False}, "cookies", "CE_SECURE_COOKIES=true"),
        ({"ALLOWED_HOSTS": ["*"]}, "hosts", "Any host name is accepted. Set CE_ALLOWED_HOSTS"),
        ({"ALLOWED_HOSTS": ["localhost", "[::1]"]}, "hosts", "Only names of this machine are accepted."),
        ({"SECRET_KEY": "short"}, "secret keys", "1 of 1 key can be guessed"),
        ({"SECRET_KEY": "x" * 60}, "secret keys", "1 of 1 key can be guessed"),
        ({"SECRET_KEY_FALLBACKS": ["short"]}, "secret keys", "1 of 2 keys can be guessed"),
        ({"DEBUG": True}, "debug pages", "Remove CE_DEBUG."),
        ({"SECURE_REFERRER_POLICY": None}, "check --deploy", "security.W022"),
    ],
)
def test_a_setting_that_is_not_safe_is_named(settings: Any, changed: dict[str, Any], subject: str, says: str) -> None:
    for name, value in changed.items():
        setattr(settings, name, value)

    missing = list_missing()
    assert list(missing) == [subject]
    assert says in missing[subject]


@pytest.mark.parametrize(
    ("changed", "subject", "says"),
    [
        ({"ANCHOR_FILE": ""}, "anchor", "Set CE_ANCHOR_FILE"),
        ({"ANCHOR_FILE": "/nowhere/heads.anchor"}, "anchor", "There is no file at /nowhere/heads.anchor"),
        ({"BACKUP_FOLDER": ""}, "backup", "set CE_BACKUP_FOLDER"),
        ({"BACKUP_FOLDER": "/nowhere"}, "backup", "There is no file at /nowhere"),
        ({"SIGN_IN": {}}, "second factor", "This server asks for none. Set CE_SECOND_FACTOR=required."),
        ({"SIGN_IN": {"second_factor": "off"}}, "second factor", "Set CE_SECOND_FACTOR=required."),
    ],
)
def test_what_the_deployment_lacks_is_named(settings: Any, changed: dict[str, Any], subject: str, says: str) -> None:
    set_conf(settings, **changed)

    missing = list_missing()
    assert list(missing) == [subject]
    assert says in missing[subject]


def test_a_command_for_anchors_is_enough(settings: Any) -> None:
    set_conf(settings, ANCHOR_FILE="", ANCHOR_COMMAND="/usr/local/bin/send-root")

    assert list_missing() == {}


def test_an_old_backup_or_anchor_is_missing(tmp_path: Path) -> None:
    os.utime(tmp_path / "heads.anchor", (0, time.time() - 3 * 86_400))

    assert {name: text.partition(".")[0] for name, text in list_missing().items()} == {
        "anchor": "The newest file is old: heads",
        "backup": "The newest file is old: heads",
    }


def test_turns_that_stay_forever_are_named() -> None:
    CeConfig.objects.all().delete()

    assert list_missing() == {
        "retention": "Turns stay forever. Set “Retention of turns (days)” in the admin under All settings "
        "(AUDIT/RETENTION_DAYS)."
    }


def test_passwords_that_everybody_tries_first_are_named() -> None:
    for name, password in {"ada": "ada", "ben": "changeme", "eve": "Xk2_9fTrewq!"}.items():
        User.objects.create_user(name, password=password)
    User.objects.create_user("sso", password=None)
    User.objects.create_user("gone", password="gone", is_active=False)
    hashes = list(User.objects.order_by("pk").values_list("password", flat=True))

    assert list_missing() == {
        "passwords": "The passwords of ada, ben can be guessed at once. convengine manage changepassword NAME"
    }
    assert list(User.objects.order_by("pk").values_list("password", flat=True)) == hashes


@pytest.mark.parametrize(
    ("host", "mode", "version", "level", "text"),
    [
        ("", "prefer", "", Level.FINE, "a socket is this machine"),
        ("/run/postgresql", "prefer", "", Level.FINE, "/run/postgresql is this machine"),
        ("127.0.0.1", "disable", "", Level.FINE, "127.0.0.1 is this machine"),
        ("db.example.com", "verify-full", "TLSv1.3", Level.FINE, "TLSv1.3, sslmode=verify-full"),
        ("db.example.com", "prefer", "TLSv1.3", Level.MISSING, "It is encrypted now, but need not be"),
        ("db.example.com", "disable", "", Level.MISSING, "It is not encrypted"),
    ],
)
def test_the_connection_to_another_machine_is_encrypted(
    host: str, mode: str, version: str, level: Level, text: str
) -> None:
    finding = production.judge_encryption(host, mode, version)

    assert (finding.level, finding.text.partition(" (sslmode")[0]) == (level, text)


def test_what_is_missing_fails_only_in_production(capsys: Any) -> None:
    assert doctor.print_report(["--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert (plain["wrong"], plain["missing"] > 0) == (0, True)

    assert doctor.print_report(["--production", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    subjects = {finding["subject"] for finding in report["findings"]}
    assert {"HTTPS", "passwords", "check --deploy"} <= subjects
    assert {finding["subject"] for finding in plain["findings"]} <= subjects


def test_the_command_takes_the_option(tmp_path: Path) -> None:
    done = run(tmp_path, "doctor", "--production", CE_SECRET_KEY="x" * 50, CE_PROJECT_DIR=str(tmp_path))

    assert done.returncode == 1
    assert "missing  HTTPS          HTTP is not redirected.\n" in done.stdout
    assert "→ Set CE_HTTPS_REDIRECT=true" in done.stdout
