"""The only reader of `settings.CONVENGINE`: defaults, dotted paths, and an error for unknown keys."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

DEFAULTS: Mapping[str, Any] = {
    # A `Configuration` of `server.app_interfaces`.
    "SNAPSHOT": "config_admin.snapshot.active.snapshots",
    # A `TurnLog` of `server.app_interfaces`.
    "AUDIT_WRITER": "audit.record.turn_log.turn_log",
    # Replays a stored turn; returns the first event that differs, or null.
    "REPLAY": "audit.replay.replay.find_replay_difference",
    # Replays a stored turn and returns it with its events; a ValueError says why it cannot.
    "RERUN": "audit.replay.replay.rebuild_turn",
    # The differences between two releases, by table: (before, after) -> {table: added, removed, changed}; 0 is empty.
    "RELEASES": "config_admin.releases.diff.diff",
    # How often rows decided turns recently, for edit pages and lists.
    "FIRED": "audit.record.row_usage.count_row_usage",
    # The feedback on a row's answers: (table, key) -> ups, downs; null for none.
    "RATED": "audit.feedback.row_ratings.rate_row",
    # The traces of turns as graphs: (conversation id, turn numbers) -> {turn_no: {nodes, edges}}.
    "TRACE_GRAPHS": "audit.record.trace_graph.build_graphs",
    # One turn as steps with their stages: (conversation id, turn number) -> document, or null.
    "TURN_TRACE": "audit.record.step_timeline.read_turn_trace",
    # The lifecycle changes and deciding rows of some turns: `list_moves`, `list_deciding_rows`.
    "SESSION_TRAIL": "audit.record.session_trail",
    # Logs that a user reads stored rows in the admin: (request, row, null for a list).
    "LOOKED": "audit.access_log.write.log_row_access",
    # Lets users watch running turns: `start` once per process, `join` for each turn.
    "LIVE": "audit.live.publish",
    # The ASGI application that serves event streams.
    "STREAMS": "audit.live.asgi.serve_streams",
    # The bus that carries events of running turns to other processes; blank for none.
    "BUS_URL": "",
    # The address of the streams if another process serves them; blank for this one.
    "STREAMS_URL": "",
    # Limits of streams: per process, per signed-in person, and seconds of one stream.
    "MAX_STREAMS": 200,
    "MAX_STREAMS_PER_PERSON": 5,
    "STREAM_SECONDS": 1800,
    # How often watched conversations are polled without a bus.
    "STREAM_POLL_MS": 500,
    # Rows as they were in a release, and the changes of releases: `right_to_read`, `then_and_now`, `between`.
    "THEN_AND_NOW": "config_admin.history.then_and_now",
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
    # True: rows may switch off the SQL check of a database tool.
    "UNSAFE_SQL_TOOLS": False,
    # Background jobs, the work that can be sent to a worker by name, and the function that sends it.
    "JOBS": [
        "convengine.server.threads.idle_sessions.JOB",
        "convengine.server.memory.compaction.JOB",
        "convengine.server.turns.open_executions.JOB",
        "convengine.server.sessions.retention.SHORT_LIVED",
        "convengine.server.sessions.retention.TURNS",
        "audit.record.retention.JOB",
        "audit.record.partitions.JOB",
        "audit.erasure.erase.JOB",
        "audit.integrity.nightly_job.JOB",
        "audit.search.text_index.JOB",
        "convengine.server.jobs.old_runs.JOB",
    ],
    "HANDED_WORK": {"summaries": "convengine.server.memory.after_commit.write_summaries"},
    "HAND_OVER": "convengine.server.jobs.handing.hand_over",
    # The broker of worker and beat; blank for none. Without one, a server may run the jobs in a thread.
    "BROKER_URL": "",
    "JOBS_IN_PROCESS": False,
    # How often a process looks for due jobs; how long a silent process keeps its job.
    "JOB_TICK_SECONDS": 10,
    "JOB_LEASE_SECONDS": 120,
    # Deployment defaults of live settings, (TYPE, KEY) -> text.
    "SETTING_DEFAULTS": {},
    # What `ce_mcp_server` rows may do: commands to start, hosts to call (`host`, `host:port`, `*.domain`), and the
    # values of `${NAME}` in their environment and headers.
    "MCP_STDIO_COMMANDS": [],
    "MCP_HTTP_HOSTS": [],
    "MCP_SECRETS": {},
    "MAX_MESSAGE_BYTES": 16 * 1024,
    "MAX_INPUT_PARAMS_BYTES": 64 * 1024,
    "MAX_REQUEST_BYTES": 1024 * 1024,
    #: Maximum size of an imported configuration file.
    "MAX_IMPORT_BYTES": 32 * 1024 * 1024,
    "TURN_TIMEOUT_SECONDS": 110,
    "IDEMPOTENCY_HOURS": 24,
    # Maximum calls of one API key, such as "600/min"; blank for no limit.
    "THROTTLE_RATE": "",
    # Null, or {max_events, window_ms, per_conversation, per_stage, max_tracked_buckets}.
    "AUDIT_RATE_LIMIT": None,
    # Null for the database's clock, or a fixed time in UTC; set by scenarios.
    "CLOCK_AT": None,
    # Seconds added to the clock; set by tests.
    "CLOCK_OFFSET_SECONDS": 0.0,
}


def get(key: str) -> Any:
    """A value of `settings.CONVENGINE`, or its default. Raises ImproperlyConfigured for an unknown key."""
    if key not in DEFAULTS:
        raise ImproperlyConfigured(f"CONVENGINE has no key {key}.")
    return getattr(settings, "CONVENGINE", {}).get(key, DEFAULTS[key])


def unknown_keys() -> list[str]:
    """Keys of `settings.CONVENGINE` that nothing reads."""
    return sorted(getattr(settings, "CONVENGINE", {}).keys() - DEFAULTS.keys())


@cache
def import_dotted(path: str) -> Any:
    """The module or the name of a dotted path. Raises ImportError naming the path."""
    try:
        return import_string(path)
    except ImportError:
        return import_module(path)


def load(key: str) -> Any:
    """The object of a dotted path. Raises ImportError naming the path."""
    return import_dotted(get(key))


def load_all(key: str) -> list[Any]:
    """The objects of a list of dotted paths."""
    return [import_dotted(path) for path in get(key)]
