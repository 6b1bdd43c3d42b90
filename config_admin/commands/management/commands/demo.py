"""`manage.py demo`: a help desk without network or set-up; a model is optional."""

import json
import os
import secrets
import signal
import subprocess
import sys
from argparse import ArgumentParser
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import transaction

from config_admin.commands.management.commands.demo_week import DAYS, set_clock, unfinished_week
from config_admin.tables.intent import CeIntent
from config_admin.test_cases.transfer import import_files
from config_admin.transfer.apply_import import add_rows
from config_admin.workplace.start_empty import AUTHOR, REASON, find_demonstration
from convengine.commands.management.commands.serve import become_server, jobs_in_server, need_port
from convengine.server import wiring
from convengine.server.api.models import CeApiKey
from convengine.server.deployment import conf
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.deployment.folders import DEMO_FACTS, find_shipped

CONFIGURATION = find_shipped("fixtures") / "demo" / "configuration.json"
#: Tests of the demonstration, as scenario files.
TESTS = CONFIGURATION.parent / "tests"
#: What the demo's key may do; the approval of a sensitive action is a part of docs/first_hour_qa.md.
SCOPES = ["turns", "sessions", "audit", "config", "approve"]
#: The users of the demo: name, group, superuser.
PEOPLE = (("analyst", "analyst", False), ("qa", "qa", False), ("admin", "config_admin", True))


class Command(ExactCommand):
    """Migrates, loads the demonstration once, prints how to use it, and serves."""

    requires_system_checks = "__all__"
    help = "Serve the demonstration: a help desk with configuration, users and an API key."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="Listen on this address. Default: %(default)s.")
        parser.add_argument("--port", type=int, default=8000, help="Default: %(default)s.")
        parser.add_argument("--no-serve", action="store_true", help="Prepare everything, print the addresses and exit.")
        parser.add_argument("--no-week", action="store_true", help="Begin without the sample week of conversations.")
        parser.add_argument("--empty", action="store_true", help="Begin without flows and conversations.")

    def handle(
        self, *args: Any, host: str, port: int, no_serve: bool, no_week: bool, empty: bool, **options: Any
    ) -> None:
        """Prepare, print, serve. Raises CommandError when the port is taken."""
        if not no_serve:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it at once, and the next start goes on.
            need_port(host, port)
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        has_week = not (no_week or empty)
        with set_clock(datetime.now(UTC) - timedelta(days=DAYS)) if has_week else nullcontext():
            self._prepare(has_flows=not empty, has_week=has_week)
        if unfinished_week().is_file() and has_week:
            quiet = {"CE_LOG_LEVEL": "WARNING"} | os.environ
            played = subprocess.run(
                [sys.executable, "-m", "django", "demo_week"], env=quiet, check=False, stderr=subprocess.PIPE, text=True
            )
            if played.returncode:
                self.stderr.write(f"{played.stderr}The sample week is not finished; the next start goes on with it.")
        facts = _facts(f"http://{host}:{port}")
        jobs = jobs_in_server()
        self._print(facts, jobs)
        if not no_serve:
            self._announce("Starting the server (a few seconds)")
            # For the processes of the server.
            os.environ |= {"CE_CHAT": "true", "CE_DEMO": "true"}
            become_server(host, port, workers=1, threads=conf.get("THREADS"), asgi=True)

    def _prepare(self, *, has_flows: bool, has_week: bool) -> None:
        """Migrate, and load the help desk once, as a whole; not again where somebody took it away."""
        self._announce("Preparing the database (up to half a minute the first time)")
        call_command("migrate", verbosity=0, interactive=False, skip_checks=False)
        if not has_week:
            unfinished_week().unlink(missing_ok=True)
        if not has_flows or CeIntent.objects.exists() or find_demonstration():
            return
        self._announce("Loading the help desk (a few seconds)")
        if has_week:
            unfinished_week().write_text(datetime.now(UTC).isoformat())
        with transaction.atomic():
            add_rows(json.loads(CONFIGURATION.read_text()), author=AUTHOR, reason=REASON)
            import_files([(file.name, file.read_bytes()) for file in sorted(TESTS.glob("*.yaml"))], editor=AUTHOR)

    def _announce(self, phase: str) -> None:
        self.stdout.write(f"{phase} …")
        self.stdout.flush()

    def _print(self, facts: dict[str, Any], jobs: str) -> None:
        logins = "\n".join(
            f"    {person['username']:<10} {person['password']}   ({person['group']})" for person in facts["users"]
        )
        self.stdout.write(
            f"""
ConvEngine demo: a help desk

  Chat      {facts["url"]}/chat/

  Admin     {facts["url"]}/admin/
{logins}
  API docs  {facts["url"]}/api/docs/
  API key   {facts["api_key"]}
  Model     {_model()}
  Jobs      {jobs}

  Send a message:

    {curl(facts)}

  These facts are in {settings.VAR_DIR / DEMO_FACTS}.
"""
        )


def _model() -> str:
    """The model's name, or how to configure one."""
    connections = wiring.models().answering
    if not connections:
        return "none. Set CE_LLM_BASE_URL and CE_LLM_MODEL to use one (docs/models.md)"
    return f"{connections[0].models[0]} at {connections[0].base_url or connections[0].name}"


def curl(facts: dict[str, Any]) -> str:
    """A curl command that says hello."""
    return (
        f"curl -s {facts['url']}/api/v1/conversation/message "
        f"-H 'Authorization: Api-Key {facts['api_key']}' -H 'Content-Type: application/json' "
        '-d \'{"message": "Hello"}\''
    )


def _facts(url: str) -> dict[str, Any]:
    """URL, API key and users, made at the first start and stored in `demo.json`."""
    path = Path(settings.VAR_DIR) / DEMO_FACTS
    known: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    key = known.get("api_key")
    if not (key and CeApiKey.objects.filter(prefix=key.partition(".")[0], revoked=False).exists()):
        _, secret = CeApiKey.objects.create_key(name="demo", scopes=SCOPES)
        key = str(secret)
    facts = {"url": url, "api_key": key, "users": _people(known.get("users") or [])}
    written = path.with_suffix(".new")
    written.touch(mode=0o600)
    written.write_text(json.dumps(facts, indent=2) + "\n")
    written.replace(path)
    return facts


def _people(known: list[dict[str, str]]) -> list[dict[str, str]]:
    passwords = {person["username"]: person["password"] for person in known}
    people = []
    for name, group, superuser in PEOPLE:
        user, made = get_user_model().objects.get_or_create(
            username=name, defaults={"is_staff": True, "is_superuser": superuser}
        )
        if made or name not in passwords:
            passwords[name] = secrets.token_urlsafe(9)
            user.set_password(passwords[name])
            user.save()
        user.groups.add(Group.objects.get(name=group))
        people.append({"username": name, "password": passwords[name], "group": group})
    return people
