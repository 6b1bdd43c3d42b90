"""Prepare a server process."""

import gc
import sys

from django.db import connections
from django.urls import get_resolver

from convengine.server import wiring
from convengine.server.deployment import conf
from convengine.server.interfaces.live_streams import live_streams
from convengine.server.observability.tracing import tracing
from convengine.server.phrase_models.live import live_classifier
from convengine.server.startup.process_metrics import start_metrics

#: A turn makes some ten thousand objects and few cycles; collecting every seven hundred would cost it a sixth.
_BETWEEN_LOOKS = 10_000
#: Seconds that a thread may compute before another takes over. A turn computes for about three milliseconds; switching
#: in the middle makes each turn of a busy process longer, needs more connections, and costs a third more.
_UNBROKEN = 0.03


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
