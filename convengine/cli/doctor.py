"""`convengine doctor`: what is set, what is missing and what is wrong, in plain words."""

import argparse
import json
import os
import socket
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from convengine.cli.commands import BY_WORDS, load_management_command
from convengine.engine.rules.conditions.time_points import describe_count
from convengine.engine.text.wording import join_names
from convengine.server.deployment import environment
from convengine.server.deployment.folders import (
    FIND_PROJECT,
    describe_version,
    find_shipped,
    is_demonstration_secret,
    is_project,
    project_folder,
)

#: Seconds for a service to accept a connection.
_PATIENCE = 3.0
#: Time limit for the searches among the rows.
_CHECK_SECONDS = 3.0
#: Our packages, whose names a project may have, too.
_PACKAGES = ("config_admin", "audit")
_OWN_SERVICE = "Rename yours, or run ConvEngine as a service of its own: the manual's chapter Install."
_MIGRATE = "convengine manage migrate"
_PORTS = {"redis": 6379, "sentinel": 26379, "rediss": 6379, "http": 80, "https": 443}


class Level(Enum):
    """How a finding matters; only WRONG fails the command."""

    FINE = "ok"
    MISSING = "missing"
    WRONG = "WRONG"


@dataclass(frozen=True)
class DoctorFinding:
    level: Level
    subject: str
    text: str
    remedy: str = ""
    #: True where the tables cannot be read until the remedy was applied.
    blocks_tables: bool = False


def print_report(arguments: Sequence[str] = ()) -> int:
    """Print all findings. Returns 1 if something is wrong or, with `--production`, missing."""
    parser = argparse.ArgumentParser(prog="convengine doctor", description=BY_WORDS["doctor"].help, allow_abbrev=False)
    parser.add_argument("--production", action="store_true", help="Also check what a hardened installation must have.")
    parser.add_argument("--json", action="store_true", help="Print the findings as JSON.")
    options = parser.parse_args(list(arguments))
    findings = list(examine(production=options.production))
    counted = {level: sum(finding.level is level for finding in findings) for level in Level}
    if options.json:
        keys = ("subject", "text", "remedy")
        rows = [{"level": each.level.name, **{key: getattr(each, key) for key in keys}} for each in findings]
        counts = {level.name.lower(): counted[level] for level in (Level.WRONG, Level.MISSING)}
        print(json.dumps({**counts, "findings": rows}, indent=2))
    else:
        for finding in findings:
            print(f"{finding.level.value:<8} {finding.subject:<14} {finding.text}")
            if finding.remedy:
                print(f"{'':<23} → {finding.remedy}")
        print(f"\n{counted[Level.WRONG]} wrong, {counted[Level.MISSING]} missing.")
    return 1 if counted[Level.WRONG] or (options.production and counted[Level.MISSING]) else 0


def examine(*, production: bool = False) -> Iterator[DoctorFinding]:
    """All findings. What cannot be examined without the settings or the database is left out."""
    yield DoctorFinding(Level.FINE, "python", f"{sys.version.split()[0]}, ConvEngine {describe_version()}")
    yield from examine_names()
    yield from _examine_project()
    problem = _load_settings()
    for sentence in environment.describe_misspelt():
        yield DoctorFinding(Level.WRONG, "variables", sentence, "Correct the name, or remove the variable.")
    if problem:
        yield problem
        return
    for examine_part in (_examine_secret, _examine_system_checks, _examine_static_files):
        yield from examine_part()
    # This module needs the settings.
    from convengine.cli.production import examine_installation, examine_settings

    if production:
        yield from examine_settings()
    database = list(_examine_database())
    yield from database
    if not any(finding.blocks_tables for finding in database):
        yield from _examine_configuration()
        yield from _examine_servers()
        yield from _examine_people()
        if production:
            yield from examine_installation()
    yield from _examine_broker()
    yield from _examine_models()


def examine_names(search_path: Sequence[str] = sys.path) -> Iterator[DoctorFinding]:
    """Packages that have the name of one of ours: one hides the other."""
    folders = dict.fromkeys(Path(entry or ".").resolve() for entry in search_path)
    # A folder with `convengine` is a copy of ours.
    others = [folder for folder in folders if not (folder / "convengine" / "__init__.py").is_file()]
    for name in _PACKAGES:
        for folder in others:
            if (folder / name / "__init__.py").is_file() or (folder / f"{name}.py").is_file():
                text = f"{folder / name} has the name of a package of ConvEngine: one hides the other."
                yield DoctorFinding(Level.WRONG, "packages", text, _OWN_SERVICE)


def _examine_project() -> Iterator[DoctorFinding]:
    folder = project_folder()
    named = str(folder) if is_project(folder) else f"none in {folder} or above it"
    yield DoctorFinding(Level.FINE, "project", f"{named}, settings {os.environ['DJANGO_SETTINGS_MODULE']}")
    if (folder / ".env").is_file():
        yield DoctorFinding(Level.FINE, "variables", f"{folder / '.env'} and the environment")
    elif (folder / ".env.example").is_file():
        yield DoctorFinding(
            Level.MISSING, "variables", "There is no .env.", "Copy .env.example to .env, and fill it in."
        )
    else:
        yield DoctorFinding(Level.FINE, "variables", "the environment")


def _load_settings() -> DoctorFinding | None:
    """What keeps Django from starting. Returns None if there is none."""
    import django
    from django.core.exceptions import ImproperlyConfigured

    remedy = "Correct this first; the rest needs the settings."
    if not is_project(project_folder()):
        remedy = f"{FIND_PROJECT} Or set the variables of the manual's chapter Deployment."
    try:
        django.setup()
    except (ImproperlyConfigured, ImportError) as error:
        return DoctorFinding(Level.WRONG, "settings", str(error), remedy)
    except Exception as error:
        # Settings are code of the project, and Django itself raises ValueError for an unknown time zone.
        return DoctorFinding(Level.WRONG, "settings", f"{type(error).__name__}: {error}", remedy)
    return None


def _examine_secret() -> Iterator[DoctorFinding]:
    from django.conf import settings

    data = Path(getattr(settings, "VAR_DIR", project_folder() / "var"))
    remedy = "Set CE_SECRET_KEY to a long random string."
    if settings.DEBUG:
        yield DoctorFinding(
            Level.MISSING, "debug", "Debug mode is on: pages show code.", "Unset CE_DEBUG in production."
        )
    if is_demonstration_secret(data, settings.SECRET_KEY):
        yield DoctorFinding(Level.MISSING, "secret", "This is the demonstration's secret.", remedy)
    elif len(settings.SECRET_KEY) < 32:
        yield DoctorFinding(Level.MISSING, "secret", "It is short.", remedy)
    else:
        yield DoctorFinding(Level.FINE, "secret", "set")


def _examine_system_checks() -> Iterator[DoctorFinding]:
    """What Django's checks find about wiring, steps, extensions and connections; without errors, what is registered."""
    from django.core import checks

    from convengine.server.deployment import conf

    # `examine` reports misspelt variables, W001, itself.
    messages = [
        message for message in checks.run_checks() if not message.is_silenced() and message.id != "convengine.W001"
    ]
    for message in messages:
        level = Level.WRONG if message.is_serious() else Level.MISSING
        yield DoctorFinding(level, "wiring", f"{message.msg} ({message.id})", message.hint or "")
    if not any(message.is_serious() for message in messages):
        yield DoctorFinding(Level.FINE, "extensions", ", ".join(conf.get("EXTENSIONS")) or "none")
        for kind, names in _list_registered():
            if names:
                yield DoctorFinding(Level.FINE, kind, join_names(names))


def _list_registered() -> Iterator[tuple[str, Collection[str]]]:
    """What the extensions registered, by kind, with the names that rows write."""
    from convengine.engine.rules.conditions.rule import custom_matchers
    from convengine.engine.rules.vocabulary import custom_registry
    from convengine.server.deployment import conf
    from convengine.server.extensions.registry import registry

    tasks = ((name, method) for name, entry in registry.tasks.items() for method in entry.methods)
    yield "tasks", [name if name == method else f"{name}:{method}" for name, method in tasks]
    yield "tools", registry.tools
    yield "tool groups", registry.tool_groups
    yield "finders", registry.finders
    yield "HTTP mappers", registry.http_mappers
    addresses = (["*" if part is None else str(part) for part in address] for address in registry.providers)
    yield "containers", ["/".join(parts) for parts in addresses]
    yield (
        "transformers",
        [
            each.name
            for stage in (*registry.response_transformers.values(), registry.container_transformers)
            for each in stage
        ],
    )
    yield "memory stores", registry.memory_stores
    yield "steps", conf.get("STEPS")
    yield "hooks", [*conf.get("HOOKS"), *(type(hook).__name__ for hook in registry.hooks)]
    yield "interceptors", [each.name for each in registry.interceptors]
    listeners = (getattr(listener, "__qualname__", repr(listener)) for listener in registry.verbose_listeners)
    yield "listeners", [*listeners, *conf.get("TRAIL_LISTENERS"), *conf.get("VERBOSE_LISTENERS")]
    yield "rule types", custom_matchers()
    yield "rule actions", custom_registry()


def _examine_static_files() -> Iterator[DoctorFinding]:
    from django.contrib.staticfiles import finders

    if finders.find("convengine/admin.css"):
        yield DoctorFinding(Level.FINE, "static files", str(find_shipped("static")))
    else:
        remedy = "Add convengine's folder to STATICFILES_DIRS (the manual: Your own project)."
        yield DoctorFinding(Level.WRONG, "static files", "The files of the admin are not found.", remedy)


def _examine_database() -> Iterator[DoctorFinding]:
    from django.db import DatabaseError, connection
    from django.db.migrations.executor import MigrationExecutor

    shown = f"{connection.vendor}, {connection.settings_dict['NAME']}"
    if connection.vendor == "sqlite" and not Path(str(connection.settings_dict["NAME"])).exists():
        yield DoctorFinding(Level.MISSING, "database", f"{shown} does not exist yet.", _MIGRATE, blocks_tables=True)
        return
    try:
        connection.ensure_connection()
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        text = f"{shown}: {str(error).strip()}"
        yield DoctorFinding(Level.WRONG, "database", text, "Check DATABASE_URL.", blocks_tables=True)
        return
    yield DoctorFinding(Level.FINE, "database", shown)
    if connection.vendor == "sqlite":
        yield DoctorFinding(
            Level.MISSING, "database", "SQLite is for one person and for tests.", "Set DATABASE_URL in production."
        )
    if plan:
        text = f"{len(plan)} are not applied."
        remedy = f"{_MIGRATE} (convengine serve does it, too)"
        yield DoctorFinding(Level.MISSING, "migrations", text, remedy, blocks_tables=True)
    else:
        yield DoctorFinding(Level.FINE, "migrations", "all applied")


def _examine_configuration() -> Iterator[DoctorFinding]:
    from django.core.management import CommandError, call_command

    from convengine.server.interfaces.configuration import configuration

    snapshot = configuration().current()
    count = len(snapshot.allowed_intents)
    if not count:
        yield DoctorFinding(Level.MISSING, "configuration", "It is empty.", "convengine import FILE --apply")
        return
    text = f"release {snapshot.config_version}, {describe_count(count, 'intent')}"
    printed = StringIO()
    with suppress(CommandError):
        # The errors that `convengine check` finds in a few seconds.
        call_command(load_management_command("config_check"), json=True, seconds=_CHECK_SECONDS, stdout=printed)
    if errors := int(json.loads(printed.getvalue())["errorCount"]):
        text += f", {describe_count(errors, 'error')}"
        yield DoctorFinding(Level.WRONG, "configuration", text, "convengine check lists the errors.")
    else:
        yield DoctorFinding(Level.FINE, "configuration", text)


def _examine_servers() -> Iterator[DoctorFinding]:
    """The MCP servers of the configuration, with the tools that each offers now."""
    from convengine.engine.steps.tools.scope import list_offered_tools
    from convengine.engine.turn.rows import McpServer
    from convengine.server.interfaces.configuration import configuration
    from convengine.server.mcp_client.servers import McpServers, read_policy

    for server in configuration().current().enabled_rows(McpServer):
        listing = McpServers(read_policy()).tools(server)
        if listing.error_type:
            text = f"{server.name}: {listing.error_message or listing.error_type}"
            yield DoctorFinding(Level.WRONG, "MCP server", text, "Start the server, or correct or disable its row.")
            continue
        tools = [tool.tool_code for tool in list_offered_tools(server, listing)]
        yield DoctorFinding(Level.FINE, "MCP server", f"{server.name}: {join_names(tools) if tools else 'no tools'}")


def _examine_people() -> Iterator[DoctorFinding]:
    from django.contrib.auth import get_user_model

    from convengine.server.api.models import CeApiKey

    users = get_user_model()._default_manager.filter(is_active=True, is_staff=True).count()
    if users:
        yield DoctorFinding(Level.FINE, "users", f"{users} can sign in to the admin")
    else:
        yield DoctorFinding(Level.MISSING, "users", "Nobody can sign in.", "convengine user create NAME --superuser")
    keys = CeApiKey.objects.filter(revoked=False).count()
    if keys:
        yield DoctorFinding(Level.FINE, "API keys", str(keys))
    else:
        yield DoctorFinding(Level.MISSING, "API keys", "No API key exists.", "convengine key create NAME")


def _examine_broker() -> Iterator[DoctorFinding]:
    from convengine.server.deployment import conf

    url = conf.get("BROKER_URL")
    if not url:
        yield DoctorFinding(Level.FINE, "broker", "none; the server runs the background jobs")
    elif url == "embedded" or url.startswith("redis+socket:"):
        yield DoctorFinding(Level.FINE, "broker", "embedded" if url == "embedded" else "a socket of this machine")
    else:
        yield _call("broker", url.partition(";")[0], "Start it, or correct CE_BROKER_URL.")


def _examine_models() -> Iterator[DoctorFinding]:
    from convengine.server import wiring
    from convengine.server.model_clients.connections import ModelConnectionInvalid

    try:
        connections: Sequence[Any] = wiring.models().all
    except ModelConnectionInvalid:
        # The system checks say so.
        return
    if not connections:
        yield DoctorFinding(Level.FINE, "model", "none; rules, phrases and forms decide")
    for connection in connections:
        if connection.base_url:
            yield _call("model", connection.base_url, "Start the service, or correct CE_LLM_BASE_URL.")
        else:
            yield DoctorFinding(Level.FINE, "model", connection.name)


def _call(subject: str, url: str, remedy: str) -> DoctorFinding:
    """Whether something accepts connections at an address; its password is not shown."""
    host = ""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = parts.port or _PORTS.get(parts.scheme, 443)
    except ValueError:
        # Without the error, which may quote a part of the password.
        shown = f"The address of {host}" if host else "The address"
        return DoctorFinding(
            Level.WRONG, subject, f"{shown} cannot be read. Write / of a password as %2F, # as %23.", remedy
        )
    try:
        socket.create_connection((host, port), _PATIENCE).close()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        return DoctorFinding(Level.WRONG, subject, f"{host}:{port} cannot be reached: {reason}.", remedy)
    return DoctorFinding(Level.FINE, subject, f"{host}:{port} accepts connections")
