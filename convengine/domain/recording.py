"""The tape: every port call and its answer, in order (R32).

Live, a call is made and written down. Replayed, the answer comes from the tape and nothing is called. A port is
written once and does not know which of the two it is on.
"""

import json
from collections.abc import Callable, Mapping
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
    #: What was asked and is not recorded, whatever becomes of the error.
    missing: list[str] = field(default_factory=list)

    def ask(self, port: str, request: Json, call: Callable[[], Json]) -> Json:
        """The recorded answer. Raises ReplayMismatch when the turn asks for something else than was recorded."""
        if self.position >= len(self.entries):
            raise self._missed(f"The turn asks {_call(port, request)}, and the recording has no answer left.")
        recorded_port, recorded_request, answer = self.entries[self.position]
        if (recorded_port, recorded_request) != (port, request):
            raise self._missed(
                f"Call {self.position + 1} of the turn asks {_call(port, request)}; "
                f"recorded is {_call(recorded_port, recorded_request)}."
            )
        self.position += 1
        return answer

    @property
    def unasked(self) -> list[str]:
        """Recorded calls that the turn did not make."""
        return [_call(port, request) for port, request, _ in self.entries[self.position :]]

    def _missed(self, text: str) -> ReplayMismatch:
        self.missing.append(text)
        return ReplayMismatch(text)


#: Asking these changes nothing and leaves the process for nobody: what is registered here, and arithmetic.
_HERE = frozenset({"task.methods", "task.names", "task.allowed_from_context", "model.allows", "likeness", "pace.spent"})
#: What it means that nobody was asked.
_NOTHING: Mapping[str, Json] = {
    "transform": {"payload": None, "transformer": None, "errorType": None, "errorMessage": None},
    "memory.read": {"text": None, "stores": [], "faults": []},
    "memory.write": {"text": None, "stores": [], "faults": []},
    "model.spent": 0.0,
    "pace.wait": None,
    "execution.finish": {},
}


@dataclass
class Reuse:
    """A tape for another configuration: recorded answers in any order, and never an effect.

    A model that is asked otherwise than it was gets the next recorded answer of the same purpose, and that is noted;
    a tool, a task or a container that was not asked the same has no answer.
    """

    entries: list[list[Json]]
    #: What was asked and is not recorded.
    missing: list[str] = field(default_factory=list)
    #: What was answered from the recording of another question.
    stretched: list[str] = field(default_factory=list)
    _used: set[int] = field(default_factory=set)

    def ask(self, port: str, request: Json, call: Callable[[], Json]) -> Json:
        """The recorded answer. Raises ReplayMismatch when there is none."""
        same = [place for place, (name, asked, _) in enumerate(self.entries) if (name, asked) == (port, request)]
        fresh = [place for place in same if place not in self._used]
        if fresh or same:
            return self._taken((fresh or same)[0])
        if port in _HERE:
            return call()
        if port in _NOTHING:
            return _NOTHING[port]
        if port == "model":
            for place, (name, asked, _) in enumerate(self.entries):
                if name == port and place not in self._used and asked["purpose"] == request["purpose"]:
                    self.stretched.append(f"The model is asked otherwise for {request['purpose']}.")
                    return self._taken(place)
        text = f"The turn asks {_brief(port, request)}, and the recording has no answer to that."
        self.missing.append(text)
        raise ReplayMismatch(text)

    @property
    def unasked(self) -> list[str]:
        """Recorded calls of models, tools, tasks and containers that the turn does not make any more."""
        return [
            _brief(port, request)
            for place, (port, request, _) in enumerate(self.entries)
            if place not in self._used and port in ("model", "tool", "task", "container")
        ]

    def _taken(self, place: int) -> Json:
        self._used.add(place)
        return self.entries[place][2]


def _call(port: str, request: Json) -> str:
    """A call in words: who is asked, and for what, as JSON says it."""
    return port if request is None else f"{port} for {json.dumps(request, ensure_ascii=False, default=str)}"


def _brief(port: str, request: Json) -> str:
    """A call in few words: of a model its purpose, the prompt is long."""
    return f"{port} for {request['purpose']}" if port == "model" else _call(port, request)
