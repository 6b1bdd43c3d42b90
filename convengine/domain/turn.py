"""One turn on its way through the pipeline: what was asked, on which configuration, and the trail it leaves."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from convengine.domain import rows, settings
from convengine.domain.chain import Batch
from convengine.domain.enums import DecisionKind
from convengine.domain.fault import Fault
from convengine.domain.ports import ModelCall, Ports
from convengine.domain.session import Session, StepTiming
from convengine.domain.settings import Setting
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import Stage
from convengine.domain.trail import AuditEvent, Trail
from convengine.domain.verbose import VerboseLine, VerboseListener

T = TypeVar("T")
Json = Any


@dataclass(frozen=True)
class TurnRequest:
    """What the API hands to the engine (pipeline-1 1.1). `input_params` is what the caller sent, untouched."""

    conversation_id: str
    message: str | None = None
    input_params: Mapping[str, Json] = field(default_factory=dict)
    #: Engine-owned keys that the caller tried to set; dropped and reported.
    ignored_params: tuple[str, ...] = ()
    channel: str = "api"
    workspace_id: str = "default"
    #: True when the caller named no conversation: the id was made for this turn.
    new: bool = False
    #: Why the session of a thread was found or made (sessions 4); null on the plain turn API.
    resolved: str | None = None
    #: The session before it ended because nobody wrote for days, now or before the message came.
    after_stale: bool = False
    #: What the session is to prefer from now on, by kind; checked.
    preferences: Mapping[str, str] = field(default_factory=dict)


class Candidate(NamedTuple):
    """A row that a decision looked at: did it hold, and why not (R30)."""

    row_id: Any
    matched: bool
    reason: str | None = None
    #: The values compared: {path, op, value, literal, result} or {text, pattern}.
    operands: tuple[Mapping[str, Json], ...] = ()

    def stored(self) -> dict[str, Json]:
        """The candidate as it stands in an event."""
        record: dict[str, Json] = {"id": self.row_id, "matched": self.matched}
        if self.reason:
            record["reason"] = self.reason
        if self.operands:
            record["operands"] = list(self.operands)
        return record


@dataclass(frozen=True)
class DecidingRow:
    """A row that decided something in this turn (R58)."""

    table: str
    row_pk: str
    role: str


class StepFlush(Protocol):
    """Stores the events so far (AUDIT/FLUSH = STEP)."""

    #: How many events are stored.
    stored: int

    def __call__(self) -> None:
        """Store what is not stored yet."""


@dataclass(frozen=True)
class Left:
    """The session that a turn began in and left for a new one (R40)."""

    request: TurnRequest
    turn_no: int
    #: As the turn leaves it.
    session: Session


@dataclass
class Turn:
    """The carrier of one turn: the only thing beside the session that steps see."""

    turn_id: str
    turn_no: int
    request: TurnRequest
    snapshot: Snapshot
    ports: Ports
    trail: Trail
    decided_rows: dict[DecidingRow, None] = field(default_factory=dict)
    timings: list[StepTiming] = field(default_factory=list)
    #: Milliseconds after which no further step begins and nothing is committed; null for no limit.
    time_limit_ms: float | None = None
    #: What was told to those who wait, in order, and who is told at once.
    verbose: list[VerboseLine] = field(default_factory=list)
    verbose_listeners: tuple[VerboseListener, ...] = ()
    #: Every try of every question to a model, in order, and how many of them are stored already.
    model_calls: list[ModelCall] = field(default_factory=list)
    model_calls_stored: int = 0
    #: How long the turn waited for tools.
    tool_ms: float = 0.0
    #: Called by the runner after each step, when events are stored step by step.
    flush_step: "StepFlush | None" = None
    #: Asked between two steps: has a newer message interrupted the turn? Null where none may.
    interrupted: Callable[[], bool] | None = None
    #: A confirmed action has begun to run in this turn: from there on it is not interrupted any more.
    uninterruptible: bool = False
    #: Set when the turn goes on in a new session.
    left: Left | None = None
    #: Called when the turn is stored or given up: whoever watches it looks at what is stored.
    ended: Callable[[], None] | None = None
    #: Whether the audit takes an event, by its number.
    admitted: dict[int, bool] = field(default_factory=dict)
    #: What was stored of it so far, as its seal sees it.
    batches: list[Batch] = field(default_factory=list)
    _told: set[tuple[str, str]] = field(default_factory=set)

    @property
    def began(self) -> tuple[TurnRequest, int]:
        """The request and number with which the turn began, whatever session it went on in."""
        return (self.left.request, self.left.turn_no) if self.left else (self.request, self.turn_no)

    def audit(self, session: Session, stage: Stage, /, *, caller: str | None = None, **payload: Json) -> AuditEvent:
        """Write a stage to the trail. Payload keys are the contract's camelCase names; `caller` goes in brackets."""
        return self.trail.add(session, stage, payload, caller)

    def decide(
        self,
        session: Session,
        kind: DecisionKind,
        *,
        key: Mapping[str, Json],
        winner: rows.Row | None,
        candidates: Iterable[Candidate] = (),
        cut: Mapping[str, int] | None = None,
    ) -> None:
        """Leave the DECISION event of one choice, and remember the row that won (R30, R31)."""
        self.audit(
            session,
            Stage.DECISION,
            kind=kind.value,
            key=dict(key),
            winner=winner.pk if winner else None,
            candidates=[candidate.stored() for candidate in candidates],
            cut={reason: count for reason, count in (cut or {}).items() if count},
        )
        if winner:
            self.decided_by(winner, kind)

    def decided_by(self, row: rows.Row, kind: DecisionKind) -> None:
        """Remember that a row decided something in this turn."""
        self.decided_rows[DecidingRow(row.table, str(row.pk), kind.value)] = None

    def config(self, session: Session, setting: Setting[T], qualifier: str | None = None) -> T:
        """A live setting's value from the pinned snapshot; an unreadable one is told once a turn."""
        # Forty times a turn, and nearly always read before: then it takes no call.
        kept = self.snapshot.memo.values.get(setting) if qualifier is None else None
        reading: settings.Reading[T] = kept or settings.read(self.snapshot, setting, qualifier)
        if reading.problem:
            self.tell_once(
                session,
                Stage.CONFIG_VALUE_INVALID,
                setting.name,
                configType=setting.type,
                configKey=setting.key,
                value=reading.found,
                usedDefault=reading.value,
                reason=reading.problem,
            )
        return reading.value

    def row_invalid(self, session: Session, row: rows.Row, fault: Fault) -> None:
        """Tell, once a turn, that a row is unusable and therefore inactive: which field, and what to do about it."""
        self.tell_once(
            session,
            Stage.CONFIG_ROW_INVALID,
            f"{row.table}:{row.pk}",
            table=row.table,
            rowId=row.pk,
            **fault.stored(),
        )

    def tell_once(self, session: Session, stage: Stage, name: str, **payload: Json) -> None:
        """Write a stage unless this turn has told the same about the same thing."""
        if (stage.value, name) not in self._told:
            self._told.add((stage.value, name))
            self.audit(session, stage, **payload)
