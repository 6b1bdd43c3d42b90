"""All metrics of the product. The reference lists each.

`serve` gives the processes of an installation one folder, in which each stores its numbers; a scrape of any of them
adds them up (convengine/server/probes/views.py).
"""

from convengine.engine.turn.enums import ToolGroup
from convengine.server.observability.metric import Counter, Gauge, Histogram, Metric

# --- turns -----------------------------------------------------------------------------------------------------------

TURN_SECONDS = Histogram(
    "convengine_turn_seconds",
    "Turns by outcome, and how long they took, with the wait for the lease.",
    ("outcome",),
    initial=(("ok",), ("blocked",), ("failed",), ("refused",)),
)
TURN_ERRORS = Counter(
    "convengine_turn_errors",
    "Turns without an answer, by the error code.",
    ("code",),
    (("INTERNAL_ERROR",),),
)
STEP_SECONDS = Counter("convengine_step_seconds", "Seconds that turns spent in each step.", ("step",))
LEASES_WAITING = Gauge("convengine_leases_waiting", "Turns that wait for another turn of their conversation.")
LEASE_WAIT_SECONDS = Histogram(
    "convengine_lease_wait_seconds",
    "How long turns waited for another turn of their conversation, if they did.",
)

# --- models and tools ------------------------------------------------------------------------------------------------

MODEL_CALLS = Counter(
    "convengine_model_calls",
    "Attempts of model calls by connection, and outcome: ok, or the code of the fault.",
    ("connection", "outcome"),
)
MODEL_CALL_SECONDS = Histogram(
    "convengine_model_call_seconds", "How long attempts of model calls took, by connection.", ("connection",)
)
MODEL_TOKENS = Counter(
    "convengine_model_tokens", "Tokens that model services counted, in and out.", ("connection", "direction")
)
MODEL_COST = Counter("convengine_model_cost", "Cost of model calls, in the currency of the prices.", ("connection",))
TOOL_CALL_SECONDS = Histogram(
    "convengine_tool_call_seconds",
    "Calls of tools by group and outcome (ok, timeout, circuit_open, failed), and how long they took.",
    ("group", "outcome"),
    initial=tuple((group.value, "ok") for group in ToolGroup),
)
BREAKERS_OPEN = Gauge(
    "convengine_breakers_open",
    "Open circuit breakers of model connections (kind model) and tools (kind tool), in all processes.",
    ("kind", "name"),
)

# --- requests and capacity -------------------------------------------------------------------------------------------

REQUEST_SECONDS = Histogram(
    "convengine_request_seconds",
    "Requests by area (turns, api, pages) and class of status, and how long they took.",
    ("area", "status"),
    initial=(("turns", "2xx"), ("turns", "5xx")),
)
REQUESTS_REFUSED = Counter(
    "convengine_requests_refused",
    "Requests that got no thread, and answers that nobody read in time, by code.",
    ("code",),
    tuple(
        (code,)
        for code in ("SERVER_OVERLOADED", "REQUEST_TIMEOUT", "REQUEST_TOO_LARGE", "VALIDATION_ERROR", "ANSWER_NOT_READ")
    ),
)
SIGN_INS = Counter("convengine_sign_ins", "Sign-ins of users, by result.", ("result",), (("accepted",), ("refused",)))
REQUEST_THREADS = Gauge(
    "convengine_request_threads",
    "Requests that run, are queued, or resume after a wait; and the limit of those that run.",
    ("state",),
)
TRANSFERS_UNFINISHED = Gauge("convengine_transfers_unfinished", "Bodies and answers that are slowly on their way.")
WAITING_SLOTS = Gauge(
    "convengine_waiting_slots",
    "Turns that wait for something outside (kind: models, tools, leases): used slots, and their limit.",
    ("kind", "state"),
)
WAITS_REFUSED = Counter("convengine_waits_refused", "Waits that found no free slot, by kind.", ("kind",))
POOL_CONNECTIONS = Gauge("convengine_pool_connections", "Connections to the database that are open.")
POOL_WAITING = Gauge("convengine_pool_waiting", "Threads that wait for a connection to the database.")
POOL_WAIT_SECONDS = Counter("convengine_pool_wait_seconds", "Seconds that threads waited for a connection.")
POOL_ERRORS = Counter("convengine_pool_errors", "Waits for a connection that ended without one.")
STREAM_READERS = Gauge("convengine_stream_readers", "Open event streams.")

# --- the installation ------------------------------------------------------------------------------------------------

RELEASE = Gauge("convengine_release", "The release that a process uses for new turns.", mode="liveall")
RELEASE_FAILURES = Counter("convengine_release_failures", "Attempts to load a release that failed.")
JOB_SECONDS = Histogram(
    "convengine_job_seconds",
    "Runs of background jobs by outcome, and how long they took.",
    ("job", "outcome"),
    buckets=(0.01, 0.1, 1, 10, 60, 300, 1800),
)
WEBHOOK_DELIVERIES = Counter(
    "convengine_webhook_deliveries",
    "Attempts to send deliveries of webhooks, by outcome.",
    ("outcome",),
    (("sent",), ("failed",)),
)
PROCESS_MEMORY = Gauge("convengine_process_memory_bytes", "Resident memory of each process.", mode="liveall")
PROCESS_RESTARTS = Counter("convengine_process_restarts", "Processes that died and were started again.", ("process",))

# --- read from the database at each scrape ---------------------------------------------------------------------------

DATABASE_UP = Gauge("convengine_database_up", "1 when the database answered this scrape in time and can be written to.")
RELEASE_NEWEST = Gauge("convengine_release_newest", "The newest release in the database.")
JOB_OVERDUE_SECONDS = Gauge("convengine_job_overdue_seconds", "How long a background job has been due.", ("job",))
JOB_FAILURES = Gauge("convengine_job_failures", "Failures of a background job since its last success.", ("job",))
ALERTS_FIRING = Gauge("convengine_alerts_firing", "Alerts on the numbers of the reports that fire.")
WEBHOOK_OLDEST_SECONDS = Gauge(
    "convengine_webhook_oldest_seconds", "How long the oldest delivery of a webhook has waited; 0 for none."
)
BUILD_INFO = Gauge("convengine_build_info", "Always 1; the label has the version of the product.", ("version",))

AT_SCRAPE = (
    *(DATABASE_UP, RELEASE_NEWEST, JOB_OVERDUE_SECONDS, JOB_FAILURES, ALERTS_FIRING, WEBHOOK_OLDEST_SECONDS),
    BUILD_INFO,
)
ALL: tuple[Metric, ...] = tuple(value for value in list(vars().values()) if isinstance(value, Metric))


def create_initial_series() -> None:
    """Show zeros for what did not happen yet; called when a process that takes turns starts."""
    for metric in ALL:
        if metric not in AT_SCRAPE:
            metric.create_initial()
