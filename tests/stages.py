"""Holding events to what is said of their stages: who writes them, and what their payloads hold."""

from collections.abc import Iterator

from audit.expand import expanded
from convengine.domain.stage_facts import FACTS
from convengine.domain.stages import Stage
from convengine.pipeline.order import DEFAULT_PIPELINE
from tests import record

_FREE = frozenset({Stage.CONTAINER_DATA_ATTACHED})
_BUILT_IN = frozenset(path.rpartition(".")[2] for path in DEFAULT_PIPELINE)


def untold_anywhere() -> Iterator[str]:
    """What the stored events hold that is not said of their stages."""
    for event in expanded(record.events()):
        if event.name in Stage.__members__:
            stage = Stage(event.name)
            told = FACTS[stage]
            if stage not in _FREE:
                yield from (f"{stage}: {key}" for key in event.payload.keys() - {*told.keys, "_meta"})
            if told.steps and event.step in _BUILT_IN and event.step not in told.steps:
                yield f"{stage}: written by {event.step}"
