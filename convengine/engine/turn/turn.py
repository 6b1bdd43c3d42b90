"""One turn in the pipeline: its request, its configuration, and its events."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec, Protocol, TypeVar

from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.ports import ModelCall, Ports
from convengine.engine.turn.releases import ReleaseChoice, limit_to_channel
from convengine.engine.turn.session import Session, StepTiming
from convengine.engine.turn.snapshot import Memo, Snapshot
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.stages import CONFIG_ROW_INVALID, CONFIG_VALUE_INVALID, DECISION
from convengine.engine.turn.trail import AuditEvent, Trail
from convengine.engine.turn.verbose import VerboseLine
from convengine.json_value import Json

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True)
class TurnRequest:
    """The API's request to the engine. `input_params` is what the caller sent, unchanged."""

    conversation_id: str
    message: str | None = None
    input_params: Mapping[str, Json] = field(default_factory=dict)
    #: Engine-owned keys that the caller tried to set; dropped and reported.
    ignored_params: tuple[str, ...] = ()
    channel: str = PLAIN_CHANNEL
    workspace_id: str = "default"
    #: True when the caller named no conversation, so the id is new.
    new: bool = False
    #: Why the session of a thread was found or made; None on the plain turn API.
    resolved: str | None = None
    #: The session before it ended because nobody wrote for days.
    after_stale: bool = False
    #: The session before it in the thread.
    previous_session_id: str | None = None
    #: The validated preferences of this request, by kind.
    preferences: Mapping[str, str] = field(default_factory=dict)


class Candidate(NamedTuple):
    """A row that a decision considered: whether it held, and why not."""

    row_id: Any
    matched: bool
    reason: str | None = None
    #: The compared values: {path, op, value, literal, result} or {text, pattern}.
    operands: tuple[Mapping[str, Json], ...] = ()

    def to_json(self) -> dict[str, Json]:
        record: dict[str, Json] = {"id": self.row_id, "matched": self.matched}
        if self.reason:
            record["reason"] = self.reason
        if self.operands:
            record["operands"] = list(self.operands)
        return record


@dataclass(frozen=True)
class DecidingRow:
    table: str
    row_pk: str
    role: str


class StepFlush(Protocol):
    """Stores the events of a running turn, for readers."""

    #: The last stored event; 0 for none.
    stored: int

    def __call__(self, turn: "Turn", /) -> None:
        """Store what is not stored yet."""


@dataclass
class Turn:
    """One turn: the only thing besides the session that steps see.

    What it is given never changes. If the turn goes on in a new session, that session has the new conversation and
    number, and the turn keeps those with which it began. The rest is what the run notes.
    """

    turn_id: Final[str]
    turn_no: Final[int]
    request: Final[TurnRequest]
    #: As the channel has it, from the start of the turn.
    snapshot: Snapshot
    ports: Final[Ports]
    trail: Final[Trail]
    #: Why it runs on this release; None when that is simply the newest one.
    release_choice: Final[ReleaseChoice | None] = None
    #: Milliseconds after which no further step begins and nothing is committed. None for no limit.
    time_limit_ms: Final[float | None] = None
    #: Each is called with the turn and a progress text, when that is published.
    verbose_listeners: Final[tuple[Callable[["Turn", VerboseLine], None], ...]] = ()
    #: Called by the runner after each step, if somebody reads the events of the running turn.
    flush_step: Final[StepFlush | None] = None
    #: Called between two steps: has a newer message interrupted the turn? Null if none may.
    interrupted: Final[Callable[[], bool] | None] = None
    #: Called with kind, name and exception when code of the deployment fails; None in a replay.
    on_fault: Final[Callable[[str, str, BaseException], None] | None] = None

    #: Each with the number of the event before it was recorded.
    decided_rows: dict[DecidingRow, int] = field(default_factory=dict)
    timings: list[StepTiming] = field(default_factory=list)
    #: Published progress texts, in order.
    verbose: list[VerboseLine] = field(default_factory=list)
    #: Every attempt of every model call, in order.
    model_calls: list[ModelCall] = field(default_factory=list)
    #: How long the turn waited for tools.
    tool_ms: float = 0.0
    #: A claimed action or task has begun to run, so the turn can no longer be interrupted.
    uninterruptible: bool = False
    #: How often each rule has run its task, by rule id.
    task_runs: dict[int, int] = field(default_factory=dict)
    #: The final value of the session in which the turn began. None unless the turn goes on in a new one.
    previous_session: Session | None = None
    #: Whether the audit accepts an event, by its number.
    admitted: dict[int, bool] = field(default_factory=dict)
    #: The rule or form that last decided about `intent` and `state` in this turn, with their code.
    set_by_rule: dict[str, tuple[rows.Rule | rows.OutputSchema, str]] = field(default_factory=dict)
    #: What the turn computes once: the message as it was understood, and as it was read into each form.
    memo: Memo = field(default_factory=Memo)
    _audited_once: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.snapshot = limit_to_channel(self.snapshot, self.request.channel)

    def audit(self, session: Session, stage: Stage, /, *, caller: str | None = None, **payload: Json) -> AuditEvent:
        """Write an event, and return it. `caller` goes in brackets behind the name of the stage."""
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
        """Write the DECISION event of one choice, and remember the row that won."""
        self.audit(
            session,
            DECISION,
            kind=kind.value,
            key=dict(key),
            winner=winner.pk if winner else None,
            candidates=[candidate.to_json() for candidate in candidates],
            cut={reason: count for reason, count in (cut or {}).items() if count},
        )
        if winner:
            self.record_deciding_row(winner, kind)

    def record_deciding_row(self, row: rows.Row, kind: DecisionKind) -> None:
        """Remember that a row decided something in this turn; the first time counts."""
        self.decided_rows.setdefault(DecidingRow(row.table, str(row.pk), kind.value), len(self.trail.events))

    def config(self, session: Session, setting: Setting[T], qualifier: str | None = None) -> T:
        """A live setting's value from the pinned snapshot. An unreadable one is reported once per turn."""
        # Called forty times a turn, nearly always for a cached value.
        cached = self.snapshot.memo.values.get(setting) if qualifier is None else None
        reading: live_settings.SettingInForce[T] = cached or live_settings.read(self.snapshot, setting, qualifier)
        if reading.problem:
            self.audit_once(
                session,
                CONFIG_VALUE_INVALID,
                setting.name,
                configType=setting.type,
                configKey=setting.key,
                value=reading.raw,
                usedDefault=reading.value,
                reason=reading.problem,
            )
        return reading.value

    def audit_invalid_row(self, session: Session, row: rows.Row, fault: Fault) -> None:
        """Report, once per turn, that a row is unusable: which field, and the remedy."""
        self.audit_once(
            session,
            CONFIG_ROW_INVALID,
            f"{row.table}:{row.pk}",
            table=row.table,
            rowId=row.pk,
            **fault.to_json(),
        )

    def audit_once(self, session: Session, stage: Stage, name: str, **payload: Json) -> None:
        """Write a stage unless this turn has already written it for the same subject."""
        if (stage, name) not in self._audited_once:
            self._audited_once.add((stage, name))
            self.audit(session, stage, **payload)


def once_per_moment(
    find: Callable[Concatenate[Session, Turn, P], T],
) -> Callable[Concatenate[Session, Turn, P], T]:
    """A function that only reads, and that many steps ask: which form is open, which words the message is read with.

    It is computed once for each moment of the session in a turn: a recorded field that changes begins the next one.
    """

    @wraps(find)
    def get(session: Session, turn: Turn, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = find, session.moment, args, *kwargs.items()
        return turn.memo.get(key, lambda: find(session, turn, *args, **kwargs))

    return get
