"""The tape: every port call and its answer, in order.

In a live turn, calls are made and recorded. In a replay, answers come from the tape and nothing is called. A port does
not know the difference.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol

from convengine.engine.cached_property import cached_property
from convengine.engine.errors import ReplayMismatch
from convengine.engine.turn.codec import TOO_DEEP, is_too_deep, to_plain
from convengine.engine.turn.labels import purpose_label
from convengine.engine.turn.ports import (
    Clock,
    LearnedSubject,
    LlmAnswer,
    LlmRequest,
    ModelPort,
    ServerPort,
    ServerTools,
    TimedToolPort,
    ToolAnswer,
)
from convengine.engine.turn.rows import McpServer
from convengine.engine.turn.session import Session
from convengine.json_value import Json

#: Times and durations, which differ in any two runs.
_TIMES = frozenset(
    {
        *("durationMs", "totalMs", "wallMs", "startedAtMs", "emittedAt", "steps", "llmMs", "toolMs", "sqlCount"),
        # Why a step took no time.
        *("latencyMs", "notNeeded"),
    }
)
#: Up to here a float distinguishes all whole numbers.
_EXACT = 2**53


def drop_times(value: Json) -> Json:
    """A value without times and durations, at any depth: what of two runs may be compared.

    PostgreSQL returns a float such as 1e23 as a whole number; beyond the exact range of floats both are equal.
    """
    if isinstance(value, Mapping):
        return {key: drop_times(item) for key, item in value.items() if key not in _TIMES}
    if isinstance(value, int) and abs(value) > _EXACT:
        return float(str(value))
    return [drop_times(item) for item in value] if isinstance(value, list) else value


class Aside(NamedTuple):
    """What a port says of a call besides its request, for a tape that wants to know."""

    #: What the call reads besides its request: of a task the session, of a transformer the answer.
    subject: Callable[[], Json] = lambda: None
    #: True when nobody is registered for the call here, so that it has no effect and changes nothing.
    is_idle: Callable[[], bool] = lambda: False


#: Nothing to say.
NO_ASIDE = Aside()


class Tape(Protocol):
    """Stands between the engine and a port."""

    def ask(self, port: str, request: Json, call: Callable[[], Json], aside: Aside = NO_ASIDE) -> Json:
        """The answer of `port`: from `call`, or from the recording. Request and answer are JSON values.

        An exception of `call` is not recorded: a port turns its faults into answers first.
        """


@dataclass
class Recording:
    """A tape that makes calls and records them as [port, request, answer]."""

    entries: list[list[Json]] = field(default_factory=list)

    def ask(self, port: str, request: Json, call: Callable[[], Json], aside: Aside = NO_ASIDE) -> Json:
        """Make the call, record it, return its answer. `aside` is not recorded."""
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
    #: What the calls were about, by their position: the recording does not have it.
    subjects: dict[int, Json] = field(default_factory=dict)
    #: Of a recording of an older version: what it does not have, and where the answers come from.
    unrecorded: str = ""

    def ask(self, port: str, request: Json, call: Callable[[], Json], aside: Aside = NO_ASIDE) -> Json:
        """The recorded answer. Raises ReplayMismatch when the recording has another request next, or none."""
        is_next = self.position < len(self.entries) and self.entries[self.position][0] == port
        if port in _LEARNED and not is_next and not any(entry[0] == ENCODER for entry in self.entries):
            # An older version did not record it, so that the encoder of today decides.
            answer = call()
            if port == ENCODER:
                self.unrecorded = f"What is learned was not recorded with this turn: {answer} decided it anew."
            return answer
        if self.position >= len(self.entries):
            raise self._report_missing(
                f"The turn asks {_describe_call(port, request)}, and the recording has no answer left."
            )
        recorded_port, recorded_request, answer = self.entries[self.position]
        if (recorded_port, _drop_derived(recorded_request)) != (port, _drop_derived(request)):
            raise self._report_missing(
                f"Call {self.position + 1} of the turn asks {_describe_call(port, request)}, "
                f"but the recording has {_describe_call(recorded_port, recorded_request)}."
            )
        if port in _WITH_SUBJECT:
            self.subjects[self.position] = drop_times(aside.subject())
        self.position += 1
        return answer

    @property
    def unasked(self) -> list[str]:
        """Recorded calls that the turn did not make."""
        return [_describe_call(port, request) for port, request, _ in self.entries[self.position :]]

    def _report_missing(self, text: str) -> ReplayMismatch:
        """Note a request without an answer; returns the error to raise."""
        self.missing.append(text)
        return ReplayMismatch(text)


#: Values of requests that follow from others: a version may make them in another way than the one that recorded.
_DERIVED = frozenset({"idempotencyKey", "request_hash"})


def _drop_derived(request: Json) -> Json:
    """A request without these values."""
    return (
        {key: value for key, value in request.items() if key not in _DERIVED} if isinstance(request, dict) else request
    )


#: The name of the encoder, recorded before the first learned decision of a turn.
ENCODER = "encoder"
_LEARNED = frozenset({ENCODER, *LearnedSubject})
#: Calls without effect outside of the process: registrations and arithmetic.
_HERE = _LEARNED | {
    *("task.methods", "task.names", "task.allowed_from_context", "task.repeatable"),
    *("model.allows", "pace.spent"),
}
#: The answer when a port was not asked.
NOTHING: Mapping[str, Json] = {
    "transform": {"payload": None, "transformer": None, "errorType": None, "errorMessage": None},
    "memory.read": {"text": None, "stores": [], "faults": []},
    "memory.write": {"text": None, "stores": [], "faults": []},
    "model.spent": 0.0,
    "pace.wait": None,
    "execution.finish": {},
}


#: Calls without a recorded answer that are made: `_HERE`, and whether the deployment has a model.
_KNOWN = _HERE | {"model.configured"}
#: Their answer decides nothing in the turn.
_IGNORED = frozenset({"memory.write", "pace.wait", "execution.finish"})
#: No port answers this.
_ASKED = object()
#: Ports that read more than their request says: the session, or the answer.
_WITH_SUBJECT = frozenset({"task", "transform"})


@dataclass
class Reuse:
    """A tape for another configuration: recorded answers in any order, without any assumption, and never an effect.

    Only a recorded answer to the very same question counts. That of a task or a transformer includes its subject. A
    call that would reach nobody needs no recording.
    """

    entries: list[list[Json]]
    #: What the recorded calls of tasks and transformers were about, by their position on the tape.
    subjects: Mapping[int, Json] = field(default_factory=dict)
    #: Requests without a recorded answer.
    missing: list[str] = field(default_factory=list)
    #: Those requests in a few words, without the data of people.
    unanswered: list[str] = field(default_factory=list)
    _used: set[int] = field(default_factory=set)

    def ask(self, port: str, request: Json, call: Callable[[], Json], aside: Aside = NO_ASIDE) -> Json:
        """The recorded answer, or one that has no effect. Raises ReplayMismatch when there is neither."""
        same = [index for index, entry in enumerate(self.entries) if (entry[0], entry[1]) == (port, request)]
        nothing = NOTHING.get(port, _ASKED)
        if all(self.entries[index][2] == nothing for index in same) and aside.is_idle():
            return nothing
        fresh = [index for index in same if index not in self._used]
        if port in _WITH_SUBJECT:
            subject = drop_times(aside.subject())
            usable = [index for index in fresh if self.subjects.get(index) == subject]
        else:
            usable = fresh or same
        if usable:
            self._used.add(usable[0])
            return self.entries[usable[0]][2]
        if port in _KNOWN:
            return call()
        if port in _IGNORED:
            return NOTHING[port]
        self.unanswered.append(name_call(port, request))
        text = f"The turn asks {_describe_briefly(port, request)}, and the recording has no answer to it."
        self.missing.append(text)
        raise ReplayMismatch(text)

    @property
    def unasked(self) -> list[str]:
        """Recorded calls of models, tools, tasks and containers that the turn no longer makes."""
        return [
            _describe_briefly(port, request)
            for index, (port, request, _) in enumerate(self.entries)
            if index not in self._used and port in ("model", "tool", "task", "container", "finder")
        ]


def name_call(port: str, request: Json) -> str:
    """Whom a call asks, without the data that it sends."""
    if port == "model":
        return f"the model for “{purpose_label(request['purpose'])}”"
    names = request if isinstance(request, Mapping) else {}
    if port == "task":
        return f"the task {names.get('task')}:{names.get('method')}"
    if port == "tool":
        return f"the tool {names.get('tool') or names.get('group')}"
    return _PORT_NAMES.get(port, port)


_PORT_NAMES: Mapping[str, str] = {
    "container": "a data source",
    "transform": "a transformer of answers",
    "finder": "a finder of values",
    "memory.read": "the memory",
    "execution.claim": "the record of actions that ran",
    "server.tools": "an MCP server for its tools",
    "model.spent": "the cost of earlier model calls",
}


def _describe_call(port: str, request: Json) -> str:
    """A call in words: the port, and the request as JSON."""
    return port if request is None else f"{port} for {json.dumps(request, ensure_ascii=False, default=str)}"


def _describe_briefly(port: str, request: Json) -> str:
    """A call in few words: of a model, its purpose."""
    return f"the model for “{purpose_label(request['purpose'])}”" if port == "model" else _describe_call(port, request)


RESULT_TOO_DEEP = "RESULT_TOO_DEEP"


class TapedTools:
    """The tools port of one turn, in front of the deployment's executors."""

    def __init__(self, tools: TimedToolPort, tape: Tape) -> None:
        self._tools = tools
        self._tape = tape

    def run(
        self,
        tool_code: str,
        tool_group: str,
        args: Mapping[str, Any],
        session: Session,
        within_ms: int | None = None,
    ) -> ToolAnswer:
        def call() -> dict[str, Any]:
            given = self._tools.run(tool_code, tool_group, args, session, within_ms)
            if is_too_deep(given.result):
                # What cannot be stored cannot be remembered, shown or replayed either.
                given = ToolAnswer(error_type=RESULT_TOO_DEEP, error_message=TOO_DEEP)
            answer: dict[str, Any] = to_plain(asdict(given))
            # The name in the recordings.
            answer["told"] = answer.pop("stage_payloads")
            return answer

        request = to_plain({"tool": tool_code, "group": tool_group, "args": args})
        recorded = dict(self._tape.ask("tool", request, call))
        return ToolAnswer(stage_payloads=recorded.pop("told", {}), **recorded)


class TapedServers:
    """The tools of MCP servers in one turn, in front of the process's sessions."""

    def __init__(self, servers: ServerPort, tape: Tape) -> None:
        self._servers = servers
        self._tape = tape

    def tools(self, server: McpServer) -> ServerTools:
        request = {"server": server.name}
        return ServerTools(
            **self._tape.ask("server.tools", request, lambda: to_plain(asdict(self._servers.tools(server))))
        )


class TapedPace:
    """The stopwatch of one turn, and its pauses."""

    def __init__(self, clock: Clock, tape: Tape, sleep: Callable[[float], None]) -> None:
        self._clock = clock
        self._tape = tape
        self._sleep = sleep

    def elapsed_ms(self) -> float:
        return float(self._tape.ask("pace.spent", None, self._clock.elapsed_ms))

    def wait(self, milliseconds: float) -> None:

        def pause() -> None:
            self._sleep(milliseconds / 1000)

        self._tape.ask("pace.wait", milliseconds, pause)


class TapedModel:
    """The model port of one turn, in front of the deployment's model."""

    def __init__(self, model: ModelPort, tape: Tape) -> None:
        self._model = model
        self._tape = tape

    @cached_property
    def configured(self) -> bool:
        """True if there is a model; recorded once per turn, so that a replay does not depend on today's deployment."""
        return bool(self._tape.ask("model.configured", None, lambda: self._model.configured))

    def complete(self, request: LlmRequest) -> LlmAnswer:
        return _read_answer(
            self._tape.ask("model", to_plain(asdict(request)), lambda: to_plain(asdict(self._model.complete(request))))
        )

    def allows(self, name: str) -> bool:
        """True if a model of this name exists; recorded, because the deployment of a replay may have others."""
        return bool(self._tape.ask("model.allows", name, lambda: self._model.allows(name)))

    def sum_cost(self, conversation_id: str) -> float:
        """The cost of earlier calls."""
        return float(self._tape.ask("model.spent", conversation_id, lambda: self._model.sum_cost(conversation_id)))


def _read_answer(stored: Mapping[str, Any]) -> LlmAnswer:
    """The answer from its recorded fields, with earlier attempts."""
    return LlmAnswer(**{**stored, "earlier": tuple(_read_answer(attempt) for attempt in stored.get("earlier", ()))})


class TapedDecisions:
    """The learned decisions of one turn. The encoder that they rest on is recorded with the first one."""

    def __init__(self, tape: Tape, encoder: str) -> None:
        self._tape = tape
        self._encoder = encoder
        self._known: dict[str, Json] = {}

    def decide(self, subject: LearnedSubject, request: Json, compute: Callable[[], Json]) -> Json:
        """The answer of `compute`, or the recorded one; the same question is recorded once."""
        if not self._known:
            self._known[ENCODER] = self._tape.ask(ENCODER, None, lambda: self._encoder)
        key = json.dumps([subject, request], default=str)
        if key not in self._known:
            self._known[key] = self._tape.ask(subject, request, compute)
        return self._known[key]
