"""Answers of the API as values. Each has the whole JSON as `raw`, with fields that are newer than this client."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Self, TypeVar

from convengine.json_value import Json

T = TypeVar("T")


@dataclass(frozen=True)
class Choice:
    """Something to choose: send its label as the message."""

    value: Json
    label: str


@dataclass(frozen=True)
class AskedField:
    """The field of a form that the answer asks for."""

    #: Its path in the context.
    field: str
    title: str
    #: The JSON type of its value.
    type: str
    #: All that it takes; empty if it takes other values.
    options: Sequence[Choice]
    min: Json
    max: Json
    #: How a value is written, such as `date` or `phone`, or None.
    format: str | None

    @classmethod
    def read(cls, raw: Mapping[str, Json]) -> Self:
        names = ("field", "title", "type", "min", "max", "format")
        return cls(**{name: raw[name] for name in names}, options=_read_choices(raw["options"]))


@dataclass(frozen=True)
class Confirm:
    """The words for a yes and a no: send one as the message."""

    yes: str
    no: str


@dataclass(frozen=True)
class StateReport:
    """What the answer asks, and where the conversation stands."""

    lifecycle: str
    missing_fields: Sequence[str]
    #: `question`, `reason` and `options`, or None.
    pending_clarification: Mapping[str, Json] | None
    #: `actionKey` and `status`, or None.
    pending_action: Mapping[str, Json] | None
    #: What the answer asks is at most one of the next three.
    asked: AskedField | None
    confirm: Confirm | None
    choices: Sequence[Choice] | None
    #: By field, the values that a yes to `confirm` stores; None without such a question.
    offered: Mapping[str, Json] | None = None

    @classmethod
    def read(cls, raw: Mapping[str, Json]) -> Self:
        # Servers before 0.9 send no open question.
        field, confirm, choices = (raw.get(name) for name in ("asked", "confirm", "choices"))
        return cls(
            raw["lifecycle"],
            raw["missingFields"],
            raw["pendingClarification"],
            raw["pendingAction"],
            AskedField.read(field) if field else None,
            Confirm(confirm["yes"], confirm["no"]) if confirm else None,
            None if choices is None else _read_choices(choices),
            raw.get("offered"),
        )


@dataclass(frozen=True)
class TurnAnswer:
    """The answer to a message."""

    conversation_id: str
    turn_id: str
    turn_no: int
    config_version: int
    intent: str
    state: str
    #: `TEXT` or `JSON`.
    payload_type: str
    #: A text, or a document.
    payload: Json
    #: As much of it as was wanted; null with `context="none"`.
    context: Mapping[str, Json] | None
    state_report: StateReport | None
    ignored_input_params: Sequence[str]
    #: True for the stored answer of an earlier call with the same key.
    is_replayed: bool
    raw: Mapping[str, Json]

    @property
    def text(self) -> str:
        """The answer if it is a text, otherwise blank."""
        return self.payload if isinstance(self.payload, str) else ""

    @classmethod
    def read(cls, raw: Mapping[str, Json], headers: Mapping[str, str]) -> Self:
        payload, report = raw.get("payload") or {}, raw.get("stateReport")
        return cls(
            conversation_id=raw["conversationId"],
            turn_id=raw["turnId"],
            turn_no=raw["turnNo"],
            config_version=raw["configVersion"],
            intent=raw["intent"],
            state=raw["state"],
            payload_type=payload.get("type", "TEXT"),
            payload=payload.get("value"),
            context=raw["context"],
            state_report=StateReport.read(report) if report else None,
            ignored_input_params=raw.get("ignoredInputParams", ()),
            is_replayed=headers.get("X-Idempotent-Replay") == "true",
            raw=raw,
        )


@dataclass(frozen=True)
class Session:
    """A session of a participant on a channel."""

    session_id: str
    workspace_id: str
    channel: str
    remote_jid: str
    #: `active` or `closed`.
    status: str
    lifecycle: str
    intent: str
    state: str
    turn_count: int
    created_at: datetime
    last_message_at: datetime
    raw: Mapping[str, Json]

    @classmethod
    def read(cls, raw: Mapping[str, Json]) -> Self:
        names = ("session_id", "workspace_id", "channel", "remote_jid", "status", "lifecycle", "intent", "state")
        return cls(
            **{name: raw[name] for name in (*names, "turn_count")},
            created_at=datetime.fromisoformat(raw["created_at"]),
            last_message_at=datetime.fromisoformat(raw["last_message_at"]),
            raw=raw,
        )


@dataclass(frozen=True)
class SessionAnswer:
    """The answer to a message on a channel: its session, and the turn."""

    session: Session
    #: `new` or `continue`, and why.
    decision: str
    reason: str
    #: The words of the answer.
    reply: str | None
    turn: TurnAnswer
    raw: Mapping[str, Json]

    @classmethod
    def read(cls, raw: Mapping[str, Json], headers: Mapping[str, str]) -> Self:
        turn = TurnAnswer.read(raw["turn"], headers)
        return cls(Session.read(raw["session"]), raw["decision"], raw["reason"], raw["reply"], turn, raw)


@dataclass(frozen=True)
class TurnRecord:
    """A stored turn, which may have failed."""

    turn_id: str
    turn_no: int
    started_at: datetime
    #: `OK`, `BLOCKED`, `FAILED` or `INTERRUPTED`.
    status: str
    error_code: str | None
    intent: str
    state: str
    config_version: int
    duration_ms: int | None
    cost: float | None
    user_text: str | None
    answer: Json
    raw: Mapping[str, Json]

    @classmethod
    def read(cls, raw: Mapping[str, Json]) -> Self:
        return cls(
            turn_id=raw["turnId"],
            turn_no=raw["turnNo"],
            started_at=datetime.fromisoformat(raw["startedAt"]),
            status=raw["status"],
            error_code=raw["errorCode"],
            intent=raw["intent"],
            state=raw["state"],
            config_version=raw["configVersion"],
            duration_ms=raw["durationMs"],
            cost=raw["cost"],
            user_text=raw["userText"],
            answer=raw["answer"],
            raw=raw,
        )


@dataclass(frozen=True)
class Conversation:
    """Where a conversation stands."""

    conversation_id: str
    status: str
    lifecycle: str
    intent: str
    state: str
    context: Mapping[str, Json]
    turn_count: int
    last_turn: TurnRecord | None
    raw: Mapping[str, Json]

    @classmethod
    def read(cls, raw: Mapping[str, Json]) -> Self:
        last = raw["lastTurn"]
        names = ("status", "lifecycle", "intent", "state", "context")
        return cls(
            conversation_id=raw["conversationId"],
            **{name: raw[name] for name in names},
            turn_count=raw["turnCount"],
            last_turn=TurnRecord.read(last) if last else None,
            raw=raw,
        )


@dataclass(frozen=True)
class Event:
    """A stored event of a turn."""

    stage: str
    payload: Mapping[str, Json]
    created_at: datetime
    turn_no: int | None
    seq: int
    raw: Mapping[str, Json]

    @classmethod
    def read(cls, raw: Mapping[str, Json]) -> Self:
        return cls(
            raw["stage"], raw["payload"], datetime.fromisoformat(raw["createdAt"]), raw["turnNo"], raw["seq"], raw
        )


@dataclass(frozen=True)
class StreamEvent:
    """An event of a watched conversation, as it happens."""

    #: The stage, or `CONNECTED`, `VERBOSE`, `TURN_FAILED`, `STREAM_CLOSED`.
    name: str
    data: Mapping[str, Json]
    #: Where to go on: send it as `after`.
    id: str


@dataclass(frozen=True)
class Feedback:
    """Stored feedback."""

    feedback_id: int
    raw: Mapping[str, Json]

    @classmethod
    def read(cls, raw: Mapping[str, Json]) -> Self:
        return cls(raw["feedbackId"], raw)


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list; `next` is the cursor of the page after it, null at the end."""

    results: Sequence[T]
    next: str | None

    @classmethod
    def read(cls, raw: Mapping[str, Json], name: str, read_item: Callable[[Mapping[str, Json]], T]) -> Self:
        return cls([read_item(item) for item in raw[name]], raw["next"])


def _read_choices(listed: Sequence[Mapping[str, Json]]) -> list[Choice]:
    return [Choice(choice["value"], choice["label"]) for choice in listed]
