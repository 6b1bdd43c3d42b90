"""The tape: every port call and its answer, in order (R32).

Live, a call is made and written down. Replayed, the answer comes from the tape and nothing is called. A port is
written once and does not know which of the two it is on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from convengine.errors import ReplayMismatch

Json = Any


class Tape(Protocol):
    """What stands between the engine and a port."""

    def ask(self, port: str, request: Json, call: Callable[[], Json]) -> Json:
        """The answer of `port` to `request`: from `call`, or from the recording. Both are JSON values.

        An exception of `call` is not recorded here: a port turns its faults into answers first.
        """


@dataclass
class Recording:
    """A tape that lets calls through and writes them down as [port, request, answer]."""

    entries: list[list[Json]] = field(default_factory=list)

    def ask(self, port: str, request: Json, call: Callable[[], Json]) -> Json:
        """Make the call, write it down, hand on its answer."""
        answer = call()
        self.entries.append([port, request, answer])
        return answer


@dataclass
class Playback:
    """A tape that answers from a recording and never calls anything."""

    entries: list[list[Json]]
    position: int = 0

    def ask(self, port: str, request: Json, call: Callable[[], Json]) -> Json:
        """The recorded answer. Raises ReplayMismatch when the turn asks for something else than was recorded."""
        if self.position >= len(self.entries):
            raise ReplayMismatch(f"The turn asks {port} for {request!r}, and the recording has no answer left.")
        recorded_port, recorded_request, answer = self.entries[self.position]
        if (recorded_port, recorded_request) != (port, request):
            raise ReplayMismatch(
                f"Call {self.position + 1} of the turn asks {port} for {request!r}; "
                f"recorded is {recorded_port} for {recorded_request!r}."
            )
        self.position += 1
        return answer
