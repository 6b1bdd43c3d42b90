"""Prepare a server process, and show its metrics: zeros for what may happen, and samples of what is used."""

import gc
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import structlog
from django.db import connections
from django.urls import get_resolver

from convengine.engine.turn.enums import JobStatus
from convengine.server import wiring
from convengine.server.deployment import conf
from convengine.server.executors.http_client import circuits as tool_circuits
from convengine.server.interfaces.live_streams import live_streams
from convengine.server.jobs.running import all_jobs
from convengine.server.model_clients.openai_model import OpenAiModel
from convengine.server.observability import metrics
from convengine.server.observability.calls import OK
from convengine.server.observability.folder import VARIABLE, merge_ended_processes
from convengine.server.observability.sampler import sampler
from convengine.server.observability.tracing import tracing
from convengine.server.phrase_models.live import live_classifier
from convengine.server.resilience.waiting import count_waiting

#: A turn makes some ten thousand objects and few cycles; collecting every seven hundred would cost it a sixth.
_BETWEEN_LOOKS = 10_000
#: Seconds that a thread may compute before another takes over. A turn computes for about three milliseconds; switching
#: in the middle makes each turn of a busy process longer, needs more connections, and costs a third more.
_UNBROKEN = 0.03
log = structlog.get_logger(__name__)


def prepare_process() -> None:
    """Load the engine before the first turn, and let turns run undisturbed.

    Raises errors that make the engine impossible, such as PipelineConstraintViolation.
    """
    wiring.engine()
    wiring.load_model()
    # The first caller does not wait until all pages are imported.
    _ = get_resolver().url_patterns
    live_streams().start()
    start_metrics()
    tracing.start()
    for database in connections.all():
        if hasattr(database, "start_watch"):
            database.start_watch()
    if conf.get("TAKES_TURNS"):
        live_classifier.start()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BETWEEN_LOOKS, 20, 20)
    sys.setswitchinterval(_UNBROKEN)
    if conf.get("JOBS_IN_PROCESS"):
        from convengine.server.jobs import in_process

        in_process.start()


def start_metrics() -> None:
    """Show them from now on. A process that starts often takes over from one that died."""
    if folder := os.environ.get(VARIABLE):
        try:
            with merge_ended_processes(Path(folder)):
                pass
        except OSError as error:
            # Such as a folder that is full or gone. A process that only lacks its numbers must start.
            log.warning("metrics of ended processes not added up", folder=folder, error=str(error))
    show_zeros()
    sampler.add(WaitingSample())
    sampler.add(sample_circuits)
    sampler.start()


def show_zeros() -> None:
    """Show zeros for what this deployment may do, so that the first event is an increase."""
    metrics.create_initial_series()
    for connection in wiring.models().all:
        metrics.MODEL_CALLS.show(connection.name, OK)
        metrics.MODEL_CALL_SECONDS.show(connection.name)
        metrics.MODEL_COST.show(connection.name)
        for direction in ("in", "out"):
            metrics.MODEL_TOKENS.show(connection.name, direction)
        metrics.BREAKERS_OPEN.show("model", connection.name)
    for job in all_jobs():
        metrics.JOB_SECONDS.show(job, JobStatus.OK.value.lower())


class WaitingSample:
    """The slots of turns that wait, and the refusals since the last sample."""

    def __init__(self) -> None:
        self._refused: Mapping[str, int] = {}

    def __call__(self) -> None:
        counts = count_waiting()
        for kind, count in counts.items():
            metrics.WAITING_SLOTS.set(count["used"], kind, "used")
            metrics.WAITING_SLOTS.set(count["limit"], kind, "limit")
            metrics.WAITS_REFUSED.add(kind, amount=count["refused"] - self._refused.get(kind, 0))
        self._refused = {kind: count["refused"] for kind, count in counts.items()}


def sample_circuits() -> None:
    """The circuit breakers of this process: 1 for one that is not closed."""
    model = wiring.model()
    states = {("tool", name): state for name, state in tool_circuits.states().items()}
    if isinstance(model, OpenAiModel):
        states |= {("model", name): state for name, state in model.circuits.states().items()}
    for (kind, name), state in states.items():
        metrics.BREAKERS_OPEN.set(state != "CLOSED", kind, name)
