"""A world outside in which every call is a failure of the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from convengine.server import wiring
from convengine.server.confirmed_actions import run_once
from convengine.server.extensions.registry import Registry
from convengine.server.wiring import OutsideWorld


class Called(BaseException):
    """Something outside was called. No step catches it."""


def trip(*args: Any, **options: Any) -> Any:
    raise Called


@dataclass
class _Model:
    """A model that must not be asked."""

    configured: bool = True
    complete: Any = trip
    sum_cost: Any = trip

    def allows(self, name: str) -> bool:
        return True


@dataclass
class _Tools:
    run: Any = trip


@dataclass
class _Servers:
    tools: Any = trip


@contextmanager
def set_tripwire(registry: Registry | None = None) -> Iterator[None]:
    """Let every port fail the test if it is called for effect. What `registry` has stays known, and never runs."""
    registry = registry or Registry()
    with pytest.MonkeyPatch.context() as patched:
        for module, name in (
            ("convengine.server.extensions.tasks.Tasks", "_call"),
            ("convengine.server.extensions.ports.Containers", "_measure_call"),
            ("convengine.server.extensions.ports.Memories", "_read"),
            ("convengine.server.extensions.ports.Memories", "_write"),
            ("convengine.server.extensions.ports.ResponseTransformers", "_call"),
            ("convengine.server.extensions.ports.TimedTools", "run"),
        ):
            patched.setattr(f"{module}.{name}", trip)
        patched.setattr(run_once, "_insert_claim", trip)
        patched.setattr(run_once, "_store_end", trip)
        patched.setattr(wiring, "_pause", trip)
        with wiring.replace_outside_world(OutsideWorld(registry, _Model(), _Tools(), _Servers())):
            yield
