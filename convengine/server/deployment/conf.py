"""The only reader of `settings.CONVENGINE`: defaults, dotted paths, and an error for unknown keys."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

DEFAULTS: Mapping[str, Any] = {
    # What the apps offer to one another, as the types of `convengine.server.interfaces`.
    "SNAPSHOT": "config_admin.interface.configuration",
    "NAMED_CONFIGURATIONS": "config_admin.interface.named_configurations",
    "RELEASE_HISTORY": "config_admin.interface.release_history",
    "CONFIGURATION_FILES": "config_admin.interface.configuration_files",
    "STORED_TESTS": "config_admin.interface.stored_tests",
    "AUDIT_WRITER": "audit.interface.turn_log",
    "SEALED_STATES": "audit.interface.sealed_states",
    "TURN_READER": "audit.interface.turn_reader",
    "TURN_REPORTS": "audit.interface.turn_reports",
    "INBOX": "audit.interface.inbox",
    "ACCESS_LOG": "audit.interface.access_log",
    "LIVE_STREAMS": "audit.interface.live_streams",
    "SIMULATOR": "audit.interface.simulator",
    "WHAT_IF": "audit.interface.what_if",
    "ALERT_RULES": "audit.interface.alert_rules",
    # Reads configuration files of further formats: ending -> a function of the file's name and text.
    "FILE_READERS": {".sql": "config_admin.contrib.original.reader.read_seed_sql"},
    # Converts a template of an older form to Jinja2; blank for none.
    "TEMPLATE_CONVERTER": "config_admin.contrib.original.templates.convert",
    # True: users and groups get admin pages in the design of the others. A project with pages of its own leaves it off.
    "PEOPLE_ADMIN": False,
    # Options of sign-in through an identity provider and of second factors (`convengine.server.sign_in.settings`).
    "SIGN_IN": {},
    # The bus that carries events of running turns to other processes; blank for none.
    "BUS_URL": "",
    # The address of the streams if another process serves them; blank for this one.
    "STREAMS_URL": "",
    # Limits of streams: per process, per signed-in person, per API key, and seconds of one stream.
    "MAX_STREAMS": 200,
    "MAX_STREAMS_PER_PERSON": 5,
    "MAX_STREAMS_PER_KEY": 100,
    "STREAM_SECONDS": 1800,
    # How often watched conversations are polled without a bus.
    "STREAM_POLL_MS": 500,
    # Called with each event when it happens.
    "TRAIL_LISTENERS": [],
    # Called with each progress text (`VerboseLine`).
    "VERBOSE_LISTENERS": [],
    # Connections to models by name, {base_url, api_key, models, prices, answers, …} each; empty for no model.
    "MODELS": {},
    # Steps and hooks of the deployment, besides the built-in ones.
    "STEPS": [],
    "HOOKS": [],
    # Modules that register tasks, container providers, hooks and transformers on import.
    "EXTENSIONS": [],
    # Read-only databases of tools, name -> address.
    "TOOL_DATABASES": {},
    # Named targets of HTTP tools, name -> {base_url, auth, header, prefix, secret_value, hosts, private_hosts}.
    "HTTP_CONNECTIONS": {},
    # The folder that FILES tools may list and read; blank for none.
    "FILES_ROOT": "",
    # The allowed recipients of tools, addresses or @domain; the sender; and the allowed webhook connections.
    "NOTIFICATION_RECIPIENTS": [],
    "NOTIFICATION_FROM": "",
    "NOTIFICATION_WEBHOOKS": [],
    # Hosts of webhooks that may have private addresses and may be called without TLS: `host`, `host:port`, `*.domain`.
    "WEBHOOK_PRIVATE_HOSTS": [],
    # Hosts from which documents may be fetched although their addresses are not public.
    "DOCUMENT_PRIVATE_HOSTS": [],
    # Kinds of channels; the secrets that channels name; and hosts beside the providers' own, which may be private.
    "CHANNEL_PROVIDERS": [
        "convengine.server.channels.telegram.Telegram",
        "convengine.server.channels.whatsapp.WhatsApp",
        "convengine.server.channels.slack.Slack",
    ],
    "CHANNEL_SECRETS": {},
    "CHANNEL_HOSTS": [],
    # True: rows may switch off the SQL check of a database tool.
    "UNSAFE_SQL_TOOLS": False,
    # Background jobs, and the work that can be sent to a worker by name.
    "JOBS": [
        "convengine.server.threads.idle_sessions.JOB",
        "convengine.server.memory.compaction.JOB",
        "convengine.server.turns.dead_turns.JOB",
        "convengine.server.sessions.old_turns.SHORT_LIVED",
        "convengine.server.sessions.old_turns.TURNS",
        "convengine.server.queued.answer.JOB",
        "convengine.server.channels.send.JOB",
        "convengine.server.webhooks.send.JOB",
        "convengine.server.webhooks.send.RETENTION",
        "audit.record.retention.JOB",
        "audit.erasure.erase.JOB",
        "audit.integrity.ledger.JOB",
        "audit.integrity.nightly_job.JOB",
        "audit.search.text_index.JOB",
        "audit.reports.job.JOB",
        "audit.alerts.job.JOB",
        "audit.alerts.messages.JOB",
        "audit.inbox.job.JOB",
        "config_admin.health.job.JOB",
        "config_admin.drafts.schedule.JOB",
        "config_admin.history.gradual.guard.JOB",
        "convengine.server.jobs.old_runs.JOB",
        "convengine.server.phrase_models.old_models.JOB",
    ],
    "HANDED_WORK": {
        "summaries": "convengine.server.memory.after_commit.write_summaries",
        "channel_messages": "convengine.server.channels.send.wake_here",
        "queued_messages": "convengine.server.queued.answer.answer_due",
        "webhooks": "convengine.server.webhooks.send.wake_here",
    },
    # A replica of the database that is further behind is not read.
    "REPLICA_MAX_LAG_SECONDS": 10,
    # The broker of worker and beat; blank for none. Without one, a server may run the jobs in a thread.
    "BROKER_URL": "",
    # The name of the broker that Sentinels watch, if `BROKER_URL` or `BUS_URL` names Sentinels.
    "SENTINEL_MASTER": "mymaster",
    "JOBS_IN_PROCESS": False,
    # Without turns, a process does not load the classifier of phrases before it is ready.
    "TAKES_TURNS": True,
    # How often a process looks for due jobs; how long a silent process keeps its job.
    "JOB_TICK_SECONDS": 10,
    "JOB_LEASE_SECONDS": 120,
    # Deployment defaults of live settings, (TYPE, KEY) -> text.
    "SETTING_DEFAULTS": {},
    # What `ce_mcp_server` rows may do: commands to start, hosts to call (`host`, `host:port`, `*.domain`), those that
    # may have private addresses, and the values of `${NAME}` in their environment and headers.
    "MCP_STDIO_COMMANDS": [],
    "MCP_HTTP_HOSTS": [],
    "MCP_PRIVATE_HOSTS": [],
    "MCP_SECRETS": {},
    "MAX_MESSAGE_BYTES": 16 * 1024,
    "MAX_INPUT_PARAMS_BYTES": 64 * 1024,
    "MAX_REQUEST_BYTES": 1024 * 1024,
    #: Maximum size of an imported configuration file.
    "MAX_IMPORT_BYTES": 32 * 1024 * 1024,
    "TURN_TIMEOUT_SECONDS": 110,
    # Seconds in which running turns may end when the server stops or restarts.
    "STOP_SECONDS": 120,
    # Requests that a process of `serve` runs at once, and that wait for a thread.
    "THREADS": 4,
    "MAX_QUEUED": 500,
    # Transfers of bodies and answers: seconds at the least, bytes per second beyond; unfinished ones of a process, of
    # one address and of one key; and the bytes of bodies that a process holds.
    "TRANSFER_SECONDS": 5,
    "TRANSFER_BYTES_PER_SECOND": 8192,
    "MAX_UNFINISHED": 1000,
    "MAX_UNFINISHED_PER_ADDRESS": 100,
    "MAX_UNFINISHED_PER_KEY": 100,
    "MAX_HELD_BYTES": 256 * 1024 * 1024,
    # Threads of one process that wait for models; for tools, tasks, containers and MCP servers; for other turns.
    "MAX_WAITING_FOR_MODELS": 128,
    "MAX_WAITING_FOR_TOOLS": 64,
    "MAX_WAITING_FOR_LEASES": 32,
    "IDEMPOTENCY_HOURS": 24,
    # The part of the context in answers whose caller does not choose one: all, public or none.
    "ANSWER_CONTEXT": "public",
    # Maximum calls of one API key, such as "600/min"; blank for no limit.
    "THROTTLE_RATE": "",
    # Whether the chat serves visitors; the other origins whose pages may do so; and the calls of one conversation.
    "CHAT": False,
    "CHAT_ORIGINS": [],
    "CHAT_RATE": "60/min",
    # How many conversations of the chat begin at one address, in a short and in a long time.
    "CHAT_TOKEN_RATE": "30/min",
    "CHAT_TOKEN_DAY_RATE": "3000/day",
    # The demonstration, whose chat page shows its logins.
    "DEMO": False,
    # How many proxies in front of the server add their caller to X-Forwarded-For.
    "TRUSTED_PROXIES": 0,
    # Null, or {max_events, window_ms, per_conversation, per_stage, max_tracked_buckets}.
    "AUDIT_RATE_LIMIT": None,
    # Null for the database's clock, or a fixed time in UTC; set by scenarios.
    "CLOCK_AT": None,
    # False: rows may name connections, hosts, commands and models that no setting allows; set by scenarios.
    "IS_DEPLOYED": True,
    # Where the daily root of the ledger goes, too: a growing file, and a command that reads JSON; blank for none.
    "ANCHOR_FILE": "",
    "ANCHOR_COMMAND": "",
    # Contacts for reports of vulnerabilities, as URIs: without any, /.well-known/security.txt does not exist.
    "SECURITY_CONTACTS": [],
    # The folder with backups, in which `convengine doctor --production` looks for a recent one.
    "BACKUP_FOLDER": "",
    # The token of `GET /metrics`; blank for no such address.
    "METRICS_TOKEN": "",
    # True: the log has a line for each request.
    "REQUEST_LOG": False,
    # Seconds added to the clock; set by tests.
    "CLOCK_OFFSET_SECONDS": 0.0,
}


@cache
def get(key: str) -> Any:
    """A value of `settings.CONVENGINE`, or its default. Raises ImproperlyConfigured for an unknown key.

    A turn asks sixty times, so a process reads each key once, and again after a change by `override_settings`.
    """
    if key not in DEFAULTS:
        raise ImproperlyConfigured(f"CONVENGINE has no key {key}.")
    return getattr(settings, "CONVENGINE", {}).get(key, DEFAULTS[key])


def unknown_keys() -> list[str]:
    """Keys of `settings.CONVENGINE` that nothing reads."""
    return sorted(getattr(settings, "CONVENGINE", {}).keys() - DEFAULTS.keys())


@cache
def import_from_path(path: str) -> Any:
    """The module or the name of a dotted path. Raises ImportError naming the path."""
    try:
        return import_string(path)
    except ImportError:
        return import_module(path)


@cache
def load(key: str) -> Any:
    """The object of a dotted path. Raises ImportError naming the path."""
    return import_from_path(get(key))


@cache
def load_all(key: str) -> tuple[Any, ...]:
    """The objects of a list of dotted paths."""
    return tuple(import_from_path(path) for path in get(key))


def _forget_changed(*, setting: str, **_: Any) -> None:
    if setting == "CONVENGINE":
        for cached in (get, load, load_all):
            cached.cache_clear()


setting_changed.connect(_forget_changed)
