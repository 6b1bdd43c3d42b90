"""The only reader of `settings.CONVENGINE`: defaults in sight, dotted paths resolved here, unknown keys refused."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

DEFAULTS: Mapping[str, Any] = {
    # Where a turn gets its configuration: an object with `head_sql` and `pin(head)`.
    "SNAPSHOT": "config_admin.snapshot.active.snapshots",
    # Writes a turn's trail inside the turn's transaction (`write`), the rows that decided it
    # (`write_deciding_rows`), and single events for a turn that nobody runs any more (`append`).
    "AUDIT_WRITER": "audit.writer",
    # Runs a stored turn again and gives the first event that differs, or null.
    "REPLAY": "audit.replay.replay",
    # Runs a stored turn again and gives it with its trail; a ValueError says why it cannot.
    "RERUN": "audit.replay.rerun",
    # What differs between two releases, by table: (before, after) -> {table: added, removed, changed}; 0 is empty.
    "RELEASES": "config_admin.releases.diff.diff",
    # How often rows decided turns lately, as forms and lists show it.
    "FIRED": "audit.fired.fired",
    # What people thought of a row's answers, as its form shows it: (table, key) -> ups, downs; null for nothing.
    "RATED": "audit.feedback.counting.of_row",
    # The trace of some turns of a conversation as graphs: (conversation id, turn numbers) -> {turn_no: {nodes, edges}}.
    "TRACE_GRAPHS": "audit.graph.graphs",
    # One turn as steps with their stages: (conversation id, turn number) -> document, or null.
    "TURN_TRACE": "audit.turn_trace.turn_trace",
    # How a session moved in some of its turns, and which rows decided those: `moves`, `deciders`.
    "SESSION_TRAIL": "audit.session_trail",
    # Notes that a person reads stored rows in the admin: (request, row, null for a list).
    "LOOKED": "audit.access.noting.looked",
    # Lets turns be watched while they run: `start` once a process, `join` for each turn.
    "LIVE": "audit.live.telling",
    # The ASGI application that serves event streams.
    "STREAMS": "audit.live.serving.streams",
    # The bus that carries what running turns tell to other processes; blank for none.
    "BUS_URL": "",
    # Where streams are served, when not by the process that is asked; blank for there.
    "STREAMS_URL": "",
    # Streams of one process, and of one person who is signed in; how long one lasts.
    "MAX_STREAMS": 200,
    "MAX_STREAMS_PER_PERSON": 5,
    "STREAM_SECONDS": 1800,
    # How often watched conversations are looked at while nobody tells what happens.
    "STREAM_POLL_MS": 500,
    # Rows as they stood in a release, and what releases changed, for readers of past turns: `right_to_read`,
    # `then_and_now`, `between`.
    "THEN_AND_NOW": "config_admin.admin.comparison.then_and_now",
    # Called with each event as it happens.
    "TRAIL_LISTENERS": [],
    # Called with each progress line (`VerboseLine`) as it is made.
    "VERBOSE_LISTENERS": [],
    # Connections to models by name, {base_url, api_key, models, prices, answers, …} each; none for no model.
    "MODELS": {},
    # Steps and hooks of the deployment, beside the built-in ones.
    "STEPS": [],
    "HOOKS": [],
    # Modules that register tasks, container providers, hooks and transformers when they are imported.
    "EXTENSIONS": [],
    # Read-only databases of tools, name -> address.
    "TOOL_DATABASES": {},
    # Named targets of HTTP tools, name -> {base_url, auth, header, prefix, secret_value, hosts, private_hosts}.
    "HTTP_CONNECTIONS": {},
    # The folder that FILES tools may list and read below; blank for none.
    "FILES_ROOT": "",
    # Whom tools may write to, addresses or @domain; as whom; and the connections that they may notify.
    "NOTIFICATION_RECIPIENTS": [],
    "NOTIFICATION_FROM": "",
    "NOTIFICATION_WEBHOOKS": [],
    # True: rows may switch the guard of a database tool off.
    "UNSAFE_SQL_TOOLS": False,
    # Background jobs (`domain.job.Job`), what may be handed to a worker by name, and who hands it.
    "JOBS": [
        "convengine.sessions.closing.JOB",
        "convengine.sessions.compaction.JOB",
        "convengine.sessions.open_executions.JOB",
        "convengine.sessions.retention.SHORT_LIVED",
        "convengine.sessions.retention.TURNS",
        "audit.retention.JOB",
        "audit.partitions.JOB",
        "audit.erasing.erase.JOB",
        "audit.trust.job.JOB",
        "audit.finding.text_index.JOB",
        "convengine.jobs.old_runs.JOB",
    ],
    "HANDED_WORK": {"summaries": "convengine.sessions.afterwards.write_of"},
    "HAND_OVER": "convengine.jobs.handing.hand_over",
    # The broker of worker and beat; blank for none. Without one, a server may run the jobs in a thread of its own.
    "BROKER_URL": "",
    "JOBS_IN_PROCESS": False,
    # How often somebody looks for jobs that are due; how long a job is held by a process that says nothing.
    "JOB_TICK_SECONDS": 10,
    "JOB_LEASE_SECONDS": 120,
    # Deployment defaults of live settings, (TYPE, KEY) -> text.
    "SETTING_DEFAULTS": {},
    # What `ce_mcp_server` rows may do here: commands that they may start, hosts that they may reach (`host`,
    # `host:port`, `*.domain`), and what `${NAME}` in their environment and headers stands for.
    "MCP_STDIO_COMMANDS": [],
    "MCP_HTTP_HOSTS": [],
    "MCP_SECRETS": {},
    "MAX_MESSAGE_BYTES": 16 * 1024,
    "MAX_INPUT_PARAMS_BYTES": 64 * 1024,
    "MAX_REQUEST_BYTES": 1024 * 1024,
    #: Of a file of configuration that is imported.
    "MAX_IMPORT_BYTES": 32 * 1024 * 1024,
    "TURN_TIMEOUT_SECONDS": 110,
    "IDEMPOTENCY_HOURS": 24,
    # Calls of one API key, such as "600/min"; blank for no limit.
    "THROTTLE_RATE": "",
    # Null, or {max_events, window_ms, per_conversation, per_stage, max_tracked_buckets}.
    "AUDIT_RATE_LIMIT": None,
    # Null for the database's clock, or a time in UTC at which it stands still; scenarios set it.
    "CLOCK_AT": None,
    # Seconds added to the clock; tests set it.
    "CLOCK_OFFSET_SECONDS": 0.0,
}


def get(key: str) -> Any:
    """A value of `settings.CONVENGINE`, or its default. Raises ImproperlyConfigured for an unknown key."""
    if key not in DEFAULTS:
        raise ImproperlyConfigured(f"CONVENGINE has no key {key}.")
    return _given().get(key, DEFAULTS[key])


def _given() -> Mapping[str, Any]:
    """The setting itself, from where Django's settings keep what they were asked for before.

    A turn asks thirty times, and the usual way there is two calls of Python.
    """
    kept: Mapping[str, Any] | None = object.__getattribute__(settings, "__dict__").get("CONVENGINE")
    return getattr(settings, "CONVENGINE", {}) if kept is None else kept


def unknown_keys() -> list[str]:
    """Keys of `settings.CONVENGINE` that nothing reads."""
    return sorted(getattr(settings, "CONVENGINE", {}).keys() - DEFAULTS.keys())


@cache
def imported(path: str) -> Any:
    """What a dotted path of a setting names: a module, or a name inside one. Raises ImportError naming the path."""
    try:
        return import_string(path)
    except ImportError:
        return import_module(path)


def load(key: str) -> Any:
    """The object that a dotted path names. Raises ImportError naming the path."""
    return imported(get(key))


def load_all(key: str) -> list[Any]:
    """The objects that a list of dotted paths names."""
    return [imported(path) for path in get(key)]
