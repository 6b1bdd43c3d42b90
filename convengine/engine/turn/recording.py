"""The tape: every port call and its answer, in order (R32).

In a live turn, calls are made and recorded. In a replay, answers come from the tape and nothing is called. A port does
not know the difference.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from convengine.engine.errors import ReplayMismatch

Json = Any


class Tape(Protocol):
    """Stands between the engine and a port."""

    def ask(self, port: str, request: Json, call: Callable[[], Json]) -> Json:
        """The answer of `port`: from `call`, or from the recording. Request and answer are JSON values.

        An exception of `call` is not recorded: a port turns its faults into answers first.
        """


@dataclass
class Recording:
    """A tape that makes calls and records them as [port, request, answer]."""

    entries: list[list[Json]] = field(default_factory=list)

    def ask(self, port: str, request: Json, call: Callable[[], Json]) -> Json:
        """Make the call, record it, return its answer."""
        answer = call()
        self.entries.append([port, request, answer])
        return answer


@dataclass
class Playback:
    """A tape that answers from a recording and calls nothing."""

    entries: list[list[Json]]
    position: int = 0
    #: Requests without a recorded answer.
    missing: list[str] = field(default_factory=list)

    def ask(self, port: str, request: Json, call: Callable[[], Json]) -> Json:
        """The recorded answer. Raises ReplayMismatch when the request differs from the recorded one."""
        if self.position >= len(self.entries):
            raise self._report_missing(
                f"The turn asks {_describe_call(port, request)}, and the recording has no answer left."
            )
        recorded_port, recorded_request, answer = self.entries[self.position]
        if (recorded_port, recorded_request) != (port, request):
            raise self._report_missing(
                f"Call {self.position + 1} of the turn asks {_describe_call(port, request)}; "
                f"recorded is {_describe_call(recorded_port, recorded_request)}."
            )
        self.position += 1
        return answer

    @property
    def unasked(self) -> list[str]:
        """Recorded calls that the turn did not make."""
        return [_describe_call(port, request) for port, request, _ in self.entries[self.position :]]

    def _report_missing(self, text: str) -> ReplayMismatch:
        self.missing.append(text)
        return ReplayMismatch(text)


#: Calls without effect outside of the process: registrations and arithmetic.
_HERE = frozenset({"task.methods", "task.names", "task.allowed_from_context", "model.allows", "likeness", "pace.spent"})
#: The answer when a port was not asked.
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

    A model with another prompt gets the next recorded answer of the same purpose, which is noted; a tool, task or
    container with another request has no answer.
    """

    entries: list[list[Json]]
    #: Requests without a recorded answer.
    missing: list[str] = field(default_factory=list)
    #: Requests that got the answer to another prompt.
    stretched: list[str] = field(default_factory=list)
    _used: set[int] = field(default_factory=set)

    def ask(self, port: str, request: Json, call: Callable[[], Json]) -> Json:
        """The recorded answer. Raises ReplayMismatch when there is none."""
        same = [place for place, (name, asked, _) in enumerate(self.entries) if (name, asked) == (port, request)]
        fresh = [place for place in same if place not in self._used]
        if fresh or same:
            return self._take_entry((fresh or same)[0])
        if port in _HERE:
            return call()
        if port in _NOTHING:
            return _NOTHING[port]
        if port == "model":
            for place, (name, asked, _) in enumerate(self.entries):
                if name == port and place not in self._used and asked["purpose"] == request["purpose"]:
                    self.stretched.append(f"The model is asked otherwise for {request['purpose']}.")
                    return self._take_entry(place)
        text = f"The turn asks {_describe_briefly(port, request)}, and the recording has no answer to that."
        self.missing.append(text)
        raise ReplayMismatch(text)

    @property
    def unasked(self) -> list[str]:
        """Recorded calls of models, tools, tasks and containers that the turn no longer makes."""
        return [
            _describe_briefly(port, request)
            for place, (port, request, _) in enumerate(self.entries)
            if place not in self._used and port in ("model", "tool", "task", "container")
        ]

    def _take_entry(self, place: int) -> Json:
        self._used.add(place)
        return self.entries[place][2]


def _describe_call(port: str, request: Json) -> str:
    """A call in words: the port, and the request as JSON."""
    return port if request is None else f"{port} for {json.dumps(request, ensure_ascii=False, default=str)}"


def _describe_briefly(port: str, request: Json) -> str:
    """A call in few words: of a model, its purpose."""
    return f"{port} for {request['purpose']}" if port == "model" else _describe_call(port, request)
