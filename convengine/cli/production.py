"""`convengine doctor --production`: what a hardened installation must have. Import it once Django is set up."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import verify_password
from django.core.checks.registry import registry
from django.db import connection

from convengine.cli.doctor import DoctorFinding, Level
from convengine.engine.rules.conditions.time_points import describe_count
from convengine.engine.text.wording import join_names
from convengine.engine.turn import live_settings
from convengine.engine.turn.audit_settings import RETENTION_DAYS
from convengine.server.admin_site.rights import PUBLISH_DRAFT
from convengine.server.deployment import conf
from convengine.server.interfaces.configuration import configuration

#: Django's deployment checks that have a finding of their own here.
_COVERED = frozenset(f"security.W{number:03}" for number in (4, 5, 8, 9, *range(10, 19), 20, 21, 25))
_SECRET_LENGTH = 50
#: Passwords that people set temporarily, besides their user names; and how many users are examined, at a second each.
_DEFAULT_PASSWORDS, _MOST_USERS = ("admin", "password", "convengine", "changeme"), 20
#: A daily backup or anchor that is older means that the last one was not made.
_DAILY = timedelta(days=2)
_LOCAL = ("", "localhost", "127.0.0.1", "::1")


def examine_settings() -> Iterator[DoctorFinding]:
    """Findings about the settings."""
    yield from _examine_https()
    yield from _examine_names_and_keys()
    calls = [check(app_configs=None, databases=None) for check in registry.deployment_checks]
    rest = [message for message in chain(*calls) if message.id not in _COVERED and not message.is_silenced()]
    for message in rest:
        remedy = message.hint or f"Change the setting, or add {message.id} to SILENCED_SYSTEM_CHECKS."
        yield DoctorFinding(Level.MISSING, "check --deploy", f"{message.msg} ({message.id})", remedy)
    if not rest:
        yield DoctorFinding(Level.FINE, "check --deploy", f"{describe_count(len(calls), 'check')}, nothing else")


def _examine_https() -> Iterator[DoctorFinding]:
    remedy = "Set CE_HTTPS_REDIRECT=true, and CE_PROXY_SSL_HEADER to the header of your proxy."
    yield _judge("HTTPS", settings.SECURE_SSL_REDIRECT, "HTTP is redirected", "HTTP is not redirected.", remedy)
    seconds, subdomains = settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_INCLUDE_SUBDOMAINS
    text = f"{seconds} seconds, {'with' if subdomains else 'without'} subdomains"
    yield _judge("HSTS", seconds, text, "Browsers may use HTTP again.", "Set CE_HSTS_SECONDS.")
    is_safe = settings.SESSION_COOKIE_SECURE and settings.CSRF_COOKIE_SECURE and settings.SESSION_COOKIE_HTTPONLY
    problem = "Cookies of the admin are sent over HTTP, or scripts may read them."
    yield _judge("cookies", is_safe, "only over HTTPS", problem, "Set CE_SECURE_COOKIES=true.")


def _examine_names_and_keys() -> Iterator[DoctorFinding]:
    hosts = [host for host in settings.ALLOWED_HOSTS if host.strip("[]") not in _LOCAL]
    problem = "Any host name is accepted." if "*" in hosts else "Only names of this machine are accepted."
    remedy = "Set CE_ALLOWED_HOSTS to the names of your server."
    yield _judge("hosts", hosts and "*" not in hosts, ", ".join(hosts), problem, remedy)
    keys = [str(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    weak = sum(len(key) < _SECRET_LENGTH or len(set(key)) < 5 or key.startswith("django-insecure-") for key in keys)
    text = f"{len(keys[0])} characters, {describe_count(len(keys) - 1, 'fallback')}"
    problem = f"{weak} of {describe_count(len(keys), 'key')} can be guessed: too short, or too uniform."
    remedy = f"Set CE_SECRET_KEY and each of SECRET_KEY_FALLBACKS to {_SECRET_LENGTH} random characters or more."
    yield _judge("secret keys", not weak, text, problem, remedy)
    yield _judge("debug pages", not settings.DEBUG, "off", "Failed pages show code and settings.", "Remove CE_DEBUG.")


def examine_installation() -> Iterator[DoctorFinding]:
    """Findings about the database, its users, and the files of anchors and backups."""
    backup, archived = conf.get("BACKUP_FOLDER"), None
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT (SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()), last_archived_time "
                           "FROM pg_stat_archiver")  # fmt: skip
            version, archived = cursor.fetchone()
        database = connection.settings_dict
        yield judge_encryption(str(database["HOST"]), database["OPTIONS"].get("sslmode", "prefer"), version or "")
    yield _examine_passwords()
    yield _examine_second_factor()
    days = live_settings.read(configuration().current(), RETENTION_DAYS).value
    remedy = f"Set “{RETENTION_DAYS.label}” in the admin under All settings ({RETENTION_DAYS.name})."
    yield _judge("retention", days, f"turns: {describe_count(days, 'day')}", "Turns stay forever.", remedy)
    file, command = conf.get("ANCHOR_FILE"), conf.get("ANCHOR_COMMAND")
    remedy = "Set CE_ANCHOR_FILE to a file on another system, or CE_ANCHOR_COMMAND. The job write_ledger writes it."
    if command and not file:
        yield DoctorFinding(Level.FINE, "anchor", "CE_ANCHOR_COMMAND gets each root")
    else:
        yield _judge_age("anchor", file, "No hash of the record is kept elsewhere.", remedy)
    if archived and not backup and datetime.now(UTC) - archived <= _DAILY:
        yield DoctorFinding(Level.FINE, "backup", f"PostgreSQL archived its log at {archived:%Y-%m-%d %H:%M} UTC")
    else:
        remedy = "Make backups (the manual's chapter Operations), and set CE_BACKUP_FOLDER to where they are."
        yield _judge_age("backup", backup, "No backup is known.", remedy)


def _judge(subject: str, is_fine: object, fine: str, problem: str, remedy: str) -> DoctorFinding:
    if is_fine:
        return DoctorFinding(Level.FINE, subject, fine)
    return DoctorFinding(Level.MISSING, subject, problem, remedy)


def _judge_age(subject: str, name: str, problem: str, remedy: str) -> DoctorFinding:
    """Whether a file, or the newest file of a folder, is recent."""
    if not name:
        return DoctorFinding(Level.MISSING, subject, problem, remedy)
    try:
        path = Path(name)
        files = [each for each in path.iterdir() if each.is_file()] if path.is_dir() else [path]
        written, newest = max((each.stat().st_mtime, each.name) for each in files)
    except (OSError, ValueError):
        return DoctorFinding(Level.MISSING, subject, f"There is no file at {name}, or it cannot be read.", remedy)
    hours = round((time.time() - written) / 3600)
    text = f"{newest}, written {describe_count(hours, 'hour')} ago"
    return _judge(subject, timedelta(hours=hours) <= _DAILY, text, f"The newest file is old: {text}.", remedy)


def judge_encryption(host: str, mode: str, version: str) -> DoctorFinding:
    """Whether the connection to PostgreSQL is encrypted. `version`: the version of TLS, or "" without encryption."""
    is_local = host.startswith("/") or host in _LOCAL
    is_fine = is_local or (version and mode in ("require", "verify-ca", "verify-full"))
    text = f"{host or 'a socket'} is this machine" if is_local else f"{version}, sslmode={mode}"
    problem = f"It is {'encrypted now, but need not be' if version else 'not encrypted'} (sslmode={mode})."
    return _judge("database link", is_fine, text, problem, "Add ?sslmode=verify-full to DATABASE_URL.")


def _examine_passwords() -> DoctorFinding:
    """Whether users have passwords that everybody tries first; administrators are examined first."""
    users = list(get_user_model()._default_manager.filter(is_active=True).order_by("-is_superuser", "-is_staff", "pk"))
    guessed = []
    for user in users[:_MOST_USERS]:
        # This compares only the hash: `user.check_password` may also store a new one.
        words = (user.get_username(), *_DEFAULT_PASSWORDS) if user.has_usable_password() else ()
        if any(verify_password(word, user.password)[0] for word in words):
            guessed.append(str(user.get_username()))
    text = f"{min(len(users), _MOST_USERS)} of {describe_count(len(users), 'user')} examined, no default password"
    problem = f"The passwords of {join_names(guessed)} can be guessed at once."
    return _judge("passwords", not guessed, text, problem, "convengine manage changepassword NAME")


def _examine_second_factor() -> DoctorFinding:
    """Whether each user who may publish has a second factor, unless the policy asks all of them for one."""
    policy, remedy = conf.get("SIGN_IN").get("second_factor"), "Set CE_SECOND_FACTOR=required."
    if policy == "required":
        return DoctorFinding(Level.FINE, "second factor", "all users who may publish need one, here or at the provider")
    if policy == "off" or not apps.is_installed("allauth.mfa"):
        return DoctorFinding(Level.MISSING, "second factor", "This server asks for none.", remedy)
    users: Any = get_user_model()._default_manager
    may_publish = users.with_perm(PUBLISH_DRAFT, backend="django.contrib.auth.backends.ModelBackend")
    factors = apps.get_app_config("mfa").get_model("Authenticator")._default_manager.exclude(type="recovery_codes")
    names = [user.get_username() for user in may_publish.exclude(pk__in=factors.values("user_id"))]
    fine, problem = "all users who may publish have one", f"{join_names(names)} may publish without one."
    return _judge("second factor", not names, fine, problem, f"Ask these users to add one. {remedy}")
