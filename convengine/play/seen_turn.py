"""A turn as its caller and its readers see it, wherever it ran: what expectations are about."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from convengine.engine.cached_property import cached_property
from convengine.engine.llm.scripted import NO_ANSWER
from convengine.engine.pipeline.stages import STEP_ENTER
from convengine.engine.text.compare import code
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.recording import name_call
from convengine.engine.turn.trail import AuditEvent
from convengine.json_value import Json

#: The error of tasks that nobody registered.
_NOT_REGISTERED = "NOT_REGISTERED"
#: The ports whose calls leave the engine, and which stubs answer.
OUTSIDE_PORTS = frozenset({"model", "task", "tool", "container"})
#: Purpose in scenarios -> purposes of the engine.
PURPOSES: Mapping[str, frozenset[str]] = {
    "dialogue_act": frozenset({"DIALOGUE_ACT"}),
    "intent": frozenset({"INTENT_AGENT"}),
    "schema": frozenset({"SCHEMA_EXTRACTION"}),
    "planner": frozenset({"MCP_PLAN"}),
    "response": frozenset({"RESPONSE_TEXT", "RESPONSE_JSON", "COLLISION"}),
    "disambiguation": frozenset({"DISAMBIGUATION"}),
    "summary": frozenset({"SUMMARY", "MEMORY"}),
    "policy": frozenset({"POLICY"}),
    "units": frozenset({"UNITS"}),
    "drift": frozenset({"DRIFT"}),
}


def scenario_purpose(purpose: str) -> str:
    """The scenario name of an engine purpose; the engine's own if there is none."""
    return next((name for name, covered in PURPOSES.items() if purpose in covered), purpose)


class PortCall(NamedTuple):
    port: str
    request: Json
    answer: Json

    @property
    def is_unanswered(self) -> bool:
        """True if no stub answered; of a container, only if its stubs are used up, or a registered one was refused."""
        return self.port in OUTSIDE_PORTS and self.answer.get("error_message") == NO_ANSWER

    def __str__(self) -> str:
        """Whom it asks, and with what."""
        match self.port:
            case "model":
                prompt = " ".join(f"{self.request['system']} {self.request['user']}".split())
                return f"{name_call(self.port, self.request)}, whose prompt is: {prompt[:200]}"
            case "tool":
                return f"{name_call(self.port, self.request)} with {self.request['args']}"
            case _:
                return name_call(self.port, self.request)


class SeenEvent(NamedTuple):
    stage: str
    payload: Mapping[str, Json]

    def has_name(self, name: str) -> bool:
        """True when a stage of a scenario means this event: itself, or with its source in brackets."""
        return self.stage == name or self.stage.startswith(f"{name} (")


@dataclass(frozen=True)
class SeenTurn:
    """One turn, seen from outside and inside."""

    message: str | None = None
    #: The HTTP status of the answer.
    status: int = 200
    #: The body of the answer, as the API gives it.
    body: Mapping[str, Json] = field(default_factory=dict)
    #: The row of `ce_conversation` by column, or None.
    conversation: Mapping[str, Json] | None = None
    verbose: Sequence[Mapping[str, Json]] = ()
    calls: Sequence[PortCall] = ()
    #: Every event, even those that the audit filters; none when no turn ran.
    trail: Sequence[AuditEvent] = ()
    #: What few readers want, and is read when they do: events, explanation, rows that decided as (table, key).
    read_events: Callable[[], Iterable[SeenEvent]] = tuple
    read_explanation: Callable[[], Iterable[str]] = tuple
    read_deciding_rows: Callable[[], Iterable[tuple[str, str]]] = tuple

    @property
    def payload(self) -> Mapping[str, Json]:
        return self.body.get("payload") or {}

    @property
    def answer(self) -> Json:
        """The text of the answer, or its document. Returns None for an error."""
        return None if self.payload.get("type") == "ERROR" else self.payload.get("value")

    @property
    def error(self) -> str | None:
        """The code of the error, if the turn failed."""
        return self.body.get("errorCode")

    @property
    def intent(self) -> str | None:
        return self.body.get("intent")

    @property
    def state(self) -> str | None:
        return self.body.get("state")

    @property
    def fields(self) -> Mapping[str, Json]:
        """The values of the conversation's context by name."""
        context: Mapping[str, Json] = self.body.get("context") or {}
        return context

    @cached_property
    def events(self) -> Sequence[SeenEvent]:
        """The audit events, in order."""
        return tuple(self.read_events())

    @property
    def stages(self) -> list[str]:
        """The stages of the events, in order."""
        return [event.stage for event in self.events]

    @property
    def steps(self) -> list[str]:
        """The names of the steps that ran, in order."""
        return [event.payload["step"] for event in self.events if event.stage == STEP_ENTER]

    @cached_property
    def deciding_rows(self) -> Sequence[tuple[str, str]]:
        """The rows that decided something, as (table, key), each once."""
        return tuple(dict.fromkeys(self.read_deciding_rows()))

    @property
    def model_calls(self) -> list[str]:
        """The purposes of the model's calls, in the names of scenarios."""
        return [scenario_purpose(call.request["purpose"]) for call in self._calls_of("model")]

    @property
    def task_calls(self) -> list[tuple[str, str]]:
        """(task, method) of the tasks that ran, in order."""
        ran = (call for call in self._calls_of("task") if call.answer["error_type"] != _NOT_REGISTERED)
        return [(call.request["task"], call.request["method"]) for call in ran if not call.is_unanswered]

    @property
    def tool_calls(self) -> list[Mapping[str, Json]]:
        """The tools that were called, as {tool_code, tool_group, args}, in order."""
        requests = (call.request for call in self._calls_of("tool") if not call.is_unanswered)
        return [
            {"tool_code": request["tool"] or None, "tool_group": request["group"], "args": request["args"]}
            for request in requests
        ]

    @property
    def unanswered(self) -> list[str]:
        """The calls that no stub answered, and those of tasks that nobody registered, in words."""
        missing = (
            str(event.payload.get("errorMessage") or event.payload.get("reasonText"))
            for event in self.trail
            if _NOT_REGISTERED in (event.payload.get("errorCode"), event.payload.get("errorType"))
        )
        return [*(str(call) for call in self.calls if call.is_unanswered), *missing]

    @property
    def input_params(self) -> Mapping[str, Json] | None:
        """The session's input params at the end of the pipeline. Returns None when no turn ran."""
        return to_plain(self.trail[-1].session.input_params) if self.trail else None

    @property
    def positions(self) -> list[tuple[str, str]]:
        """Where the session stood, (intent, state), in order and without repetitions."""
        stood = ((code(event.session.intent), code(event.session.state)) for event in self.trail)
        return [position for position, _ in groupby(stood)]

    def _calls_of(self, port: str) -> Iterator[PortCall]:
        return (call for call in self.calls if call.port == port)

    @cached_property
    def explanation(self) -> Sequence[str]:
        """What happened in the turn and why: each decision with its winner, and the rows that lost; one line each."""
        return tuple(self.read_explanation())

    def explain(self) -> str:
        """The explanation as one text."""
        return "\n".join(self.explanation)
