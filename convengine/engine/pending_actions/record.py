"""The runtime record of an action: `context.pending_action_runtime`, as a value."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Self

from convengine.engine.pending_actions.choice import ActionScope, ProposedAction
from convengine.engine.turn.enums import ActionStatus
from convengine.engine.turn.owned_params import ActionParams
from convengine.engine.turn.session import Session
from convengine.json_value import Json

RECORD = "pending_action_runtime"
#: The number of the next opening. It grows when a record ends or its scope is left, so that no two openings share a
#: nonce.
ORDINAL = "pending_action_ordinal"
_NAMESPACE = uuid.UUID("0c3a2f5e-6f0f-4f55-9d0b-3a4ad1f0b6b8")

#: Waiting for a yes; limits apply.
LIVE = frozenset({ActionStatus.OPEN, ActionStatus.IN_PROGRESS})
#: Final until the scope is left.
FINAL = frozenset({ActionStatus.EXECUTED, ActionStatus.REJECTED})
#: When a record reached a status, in turns and in milliseconds since 1970.
_STAMPED = {
    ActionStatus.IN_PROGRESS: ("in_progress_turn", "in_progress_at_epoch_ms"),
    ActionStatus.REJECTED: ("rejected_turn", "rejected_at_epoch_ms"),
    ActionStatus.EXPIRED: ("expired_turn", "expired_at_epoch_ms"),
    ActionStatus.EXECUTED: ("executed_turn", "executed_at_epoch_ms"),
    ActionStatus.FAILED: ("failed_turn", "failed_at_epoch_ms"),
}


@dataclass(frozen=True)
class Moment:
    turn_no: int
    epoch_ms: int

    @classmethod
    def of(cls, turn_no: int, now: datetime) -> "Moment":
        return cls(turn_no, int(now.timestamp() * 1000))


@dataclass(frozen=True)
class Record:
    """One opened action. A limit of -1 never applies; unset times are null and not stored."""

    status: ActionStatus
    action_key: str
    action_ref: str
    #: `INTENT|STATE` in which it was opened.
    scope: str
    #: Identifies the right to run it once.
    nonce: str
    created_turn: int
    created_at_epoch_ms: int
    expires_turn: int = -1
    expires_at_epoch_ms: int = -1
    in_progress_turn: int | None = None
    in_progress_at_epoch_ms: int | None = None
    rejected_turn: int | None = None
    rejected_at_epoch_ms: int | None = None
    expired_turn: int | None = None
    expired_at_epoch_ms: int | None = None
    executed_turn: int | None = None
    executed_at_epoch_ms: int | None = None
    failed_turn: int | None = None
    failed_at_epoch_ms: int | None = None
    #: Other actions of this scope that are done; another one may have been opened since.
    finished: tuple[str, ...] = ()
    #: The result of its task: {status, values, errorType, finishedAt}.
    result: Mapping[str, Json] | None = None

    @property
    def identity(self) -> str:
        return ProposedAction(self.action_key, self.action_ref).identity

    def is_for(self, action: ProposedAction) -> bool:
        return self.identity == action.identity

    def settles(self, action: ProposedAction) -> bool:
        """True when that action is done in this scope: another yes must not run it again."""
        return (self.is_for(action) and self.status in FINAL) or action.identity in self.finished

    def is_expired(self, moment: Moment) -> bool:
        """True when a limit is reached, in turns or by the clock."""
        return (0 <= self.expires_turn <= moment.turn_no) or (0 <= self.expires_at_epoch_ms <= moment.epoch_ms)

    def with_status(self, status: ActionStatus, moment: Moment) -> Self:
        turn_name, time_name = _STAMPED.get(status, (None, None))
        stamps: dict[str, Any] = {}
        if turn_name and time_name:
            stamps = {turn_name: moment.turn_no, time_name: moment.epoch_ms}
        return replace(self, status=status, **stamps)

    def with_result(self, result: Mapping[str, Json]) -> Self:
        return replace(self, result=result)

    def with_unknown_end(self, nonce: str) -> Self:
        """Mark the action of this nonce as possibly run: it needs a decision and does not expire."""
        return replace(self, nonce=nonce, expires_turn=-1, expires_at_epoch_ms=-1)

    def to_json(self) -> dict[str, Json]:
        values = {key: value for key, value in asdict(self).items() if value is not None and value != ()}
        return {**values, "status": self.status.value, **({"finished": list(self.finished)} if self.finished else {})}


def read_record(session: Session) -> Record | None:
    """Read the record from the context. Without a readable status there is no record; other missing values get
    defaults.
    """
    stored = session.context.get(RECORD)
    if not isinstance(stored, Mapping) or (status := ActionStatus.read(stored.get("status"))) is None:
        return None
    reference = _read_text(stored.get("action_ref"))
    scope = _read_text(stored.get("scope")) or str(ActionScope.of(session))
    numbers = {name: number for name in _NUMBERS if (number := _read_number(stored.get(name))) is not None}
    result, finished = stored.get("result"), stored.get("finished")
    return Record(
        status=status,
        action_key=_read_text(stored.get("action_key")),
        action_ref=reference,
        scope=scope,
        nonce=_read_nonce(stored.get("nonce")) or derive_nonce(session, scope, reference),
        **{"created_turn": session.turn_no, "created_at_epoch_ms": 0, **numbers},
        finished=tuple(str(identity) for identity in finished) if isinstance(finished, (list, tuple)) else (),
        result=result if isinstance(result, Mapping) else None,
    )


def store_record(session: Session, record: Record) -> Session:
    """The session with the record, and its status where rules see it."""
    if session.context.get(RECORD) != (stored := record.to_json()):
        session = session.with_context({RECORD: stored})
    return session.with_values(ActionParams(pending_action_runtime_status=record.status.value))


def open_record(
    session: Session, action: ProposedAction, moment: Moment, ttl: tuple[int, int], before: Record | None
) -> Record:
    """A new record. `ttl` is in turns and in minutes, 0 for no limit; `before` is the record that it replaces."""
    turns, minutes = ttl
    scope = str(ActionScope.of(session))
    done = [*(before.finished if before else ()), *([before.identity] if before and before.status in FINAL else ())]
    return Record(
        ActionStatus.OPEN,
        action.key,
        action.reference,
        scope,
        derive_nonce(session, scope, action.reference),
        moment.turn_no,
        moment.epoch_ms,
        moment.turn_no + turns if turns > 0 else -1,
        moment.epoch_ms + minutes * 60_000 if minutes > 0 else -1,
        finished=tuple(identity for identity in dict.fromkeys(done) if identity != action.identity),
    )


def derive_nonce(session: Session, scope: str, reference: str) -> str:
    """The right to run this opening. It is derived, so that a repeated turn gets the same."""
    parts = (session.conversation_id, session.epoch, scope, reference, _read_ordinal(session))
    return str(uuid.uuid5(_NAMESPACE, "\n".join(str(part) for part in parts)))


def end_record(session: Session) -> Session:
    """The session after a record ended or its scope was left: the next opening gets another nonce."""
    return session.with_context({ORDINAL: _read_ordinal(session) + 1})


def _read_ordinal(session: Session) -> int:
    return _read_number(session.context.get(ORDINAL)) or 1


_NUMBERS = (
    "created_turn", "created_at_epoch_ms", "expires_turn", "expires_at_epoch_ms",
    *(name for names in _STAMPED.values() for name in names),
)  # fmt: skip


def _read_number(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _read_nonce(value: Json) -> str | None:
    try:
        return str(uuid.UUID(value)) if isinstance(value, str) else None
    except ValueError:
        return None
