"""What a turn of a scenario left, wherever an expectation may look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.steps.tools.scripted import Call

Json = Any


@dataclass(frozen=True)
class Row:
    """An audit event from the audit endpoint."""

    stage: str
    payload: Mapping[str, Json]

    def has_name(self, name: str) -> bool:
        """True when a stage of a scenario means this event: itself, or with its source in brackets."""
        return self.stage == name or self.stage.startswith(f"{name} (")


@dataclass(frozen=True)
class ObservedTurn:
    """One turn, seen from outside and inside."""

    status: int = 200
    #: The body of the answer.
    body: Mapping[str, Json] = field(default_factory=dict)
    #: The session's input params at the end of the pipeline; null when no turn ran.
    input_params: Mapping[str, Json] | None = None
    #: The row of `ce_conversation` by column, or null.
    conversation: Mapping[str, Json] | None = None
    rows: Sequence[Row] = ()
    #: The names of the steps in the trace.
    steps: Sequence[str] = ()
    verbose: Sequence[Mapping[str, Json]] = ()
    #: Purposes of model calls, in the names of scenarios.
    llm_calls: Sequence[str] = ()
    #: (task, method) of task calls.
    task_calls: Sequence[tuple[str, str]] = ()
    tool_calls: Sequence[Call] = ()
    #: Calls that no stub and no line of the script answered.
    unscripted: Sequence[str] = ()

    @property
    def payload(self) -> Mapping[str, Json]:
        """The payload of the answer."""
        return self.body.get("payload") or {}
