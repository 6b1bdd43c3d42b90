"""Holding events to what is said of their stages: who writes them, and what their payloads hold."""

from collections.abc import Iterator

from audit.record.events import expand_events
from convengine.engine.pipeline.order import DEFAULT_PIPELINE
from convengine.engine.stages import STAGES
from convengine.engine.steps.containers.step import CONTAINER_DATA_ATTACHED
from tests import record

_FREE = frozenset({CONTAINER_DATA_ATTACHED})
_BUILT_IN = frozenset(path.rpartition(".")[2] for path in DEFAULT_PIPELINE)


def untold_anywhere() -> Iterator[str]:
    """What the stored events hold that is not said of their stages."""
    for event in expand_events(record.events()):
        if event.name in STAGES:
            stage = STAGES[event.name]
            if stage not in _FREE:
                yield from (f"{stage}: {key}" for key in event.payload.keys() - {*stage.keys, "_meta"})
            if stage.steps and event.step in _BUILT_IN and event.step not in stage.steps:
                yield f"{stage}: written by {event.step}"
