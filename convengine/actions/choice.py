"""Which pending action a yes would run: its key, its row, or what the context names (pipeline-1 11, pipeline-2 2.1)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from convengine.domain import rows
from convengine.domain.catalogue.interaction import REQUIRE_RESOLVED_INTENT_AND_STATE
from convengine.domain.enums import DecisionKind
from convengine.domain.scope import resolved, state_resolved
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import blank, code
from convengine.domain.turn import Candidate, Turn
from convengine.rules.cuts import scope_cuts
from convengine.rules.explain import OUTRANKED

Json = Any

#: Why a row in scope was not chosen.
OTHER_KEY = "OTHER_KEY"
LOWER_PRIORITY = "LOWER_PRIORITY"
AMBIGUOUS = "AMBIGUOUS"
NO_TASK = "NO_TASK"
UNRESOLVED = "UNRESOLVED"
#: Where the context's own action says what it is, and what it runs.
_KEYS = ("action_key", "actionKey", "key", "type")
_REFERENCES = ("task", "action", "action_value", "actionValue", "set_task", "setTask")
_BEANS = ("bean", "bean_name", "beanName")
_METHODS = ("method", "method_name", "methodName", "methods", "method_names")
_LISTED = 10


@dataclass(frozen=True)
class Scope:
    """An intent and a state."""

    intent: str | None
    state: str | None

    @classmethod
    def of(cls, session: Session) -> "Scope":
        """Where the dialogue stands."""
        return cls(session.intent, session.state)

    def __str__(self) -> str:
        return f"{code(self.intent)}|{code(self.state)}"

    @property
    def resolved(self) -> bool:
        """True when both say something."""
        return resolved(self.intent) and state_resolved(self.state)


@dataclass(frozen=True)
class Action:
    """An action that can be proposed, run and rejected."""

    key: str
    #: `task:method,method`, as the row or the context has it.
    reference: str
    row: rows.PendingAction | None = None

    @property
    def identity(self) -> str:
        """What makes it this action inside its scope."""
        return f"{code(self.key)} {self.reference}"


@dataclass(frozen=True)
class Choice:
    """The action that is meant, and the rows that it was chosen from."""

    scope: Scope
    #: The key that was asked for, null when none was.
    key: str | None
    action: Action | None
    #: The rows in scope, best first, each with the reason why it is not the one; null for the one.
    looked_at: tuple[tuple[rows.PendingAction, str | None], ...] = ()

    @property
    def ambiguous(self) -> tuple[rows.PendingAction, ...]:
        """The rows that nobody can choose between, none when there is no such doubt."""
        return () if self.action else tuple(row for row, reason in self.looked_at if reason == AMBIGUOUS)


def pending_rows(snapshot: Snapshot, scope: Scope) -> tuple[rows.PendingAction, ...]:
    """The rows in scope by priority, then id: how specific a row is does not count (tables 4.1)."""
    found = snapshot.in_scope(rows.PendingAction, scope.intent, scope.state)
    return tuple(sorted(found, key=lambda row: (row.priority, row.pending_action_id)))


def wanted_key(session: Session) -> str | None:
    """The key that the caller, a rule or the context gives; the first that says something."""
    context = session.context
    own = context_action(session)
    places = [session.input_params.get("pending_action_key")]
    places += [context.get("pending_action_key"), context.get("pendingActionKey")]
    if isinstance(own, Mapping):
        places += [own.get(name) for name in _KEYS]
    return _first_text(places)


def context_action(session: Session) -> Json:
    """The action that a task or an integrator left in the context: a text, an object, or null."""
    found = session.context.get("pending_action")
    return session.context.get("pendingAction") if found is None else found


def choose(session: Session, turn: Turn, scope: Scope) -> Choice:
    """The action of a scope: of the table; else the one that the context names, if its task allows that."""
    if not scope.resolved and turn.config(session, REQUIRE_RESOLVED_INTENT_AND_STATE):
        rows_here = pending_rows(turn.snapshot, scope)
        return Choice(scope, wanted_key(session), None, tuple((row, UNRESOLVED) for row in rows_here))
    choice = _of_table(turn.snapshot, session, scope)
    if choice.action is None:
        return replace(choice, action=_of_context(session, turn, choice.key))
    return choice


def tell(session: Session, turn: Turn, choice: Choice) -> None:
    """Leave the DECISION event of a choice; nothing where no action exists at all."""
    if not turn.snapshot.rows(rows.PendingAction):
        return
    winner = choice.action.row if choice.action else None
    cut = scope_cuts(turn.snapshot, rows.PendingAction, choice.scope.intent, len(choice.looked_at))
    turn.decide(
        session,
        DecisionKind.PENDING_ACTION,
        key={"intent": choice.scope.intent, "state": choice.scope.state, "actionKey": choice.key},
        winner=winner,
        candidates=[
            Candidate(row.pending_action_id, row is winner, reason)
            for row, reason in sorted(choice.looked_at, key=lambda one: one[1] is not None)[: _LISTED + 1]
        ],
        cut={**cut, OUTRANKED: max(0, len(choice.looked_at) - 1 - _LISTED)},
    )


def _of_table(snapshot: Snapshot, session: Session, scope: Scope) -> Choice:
    key, found = wanted_key(session), pending_rows(snapshot, scope)
    fitting = [row for row in found if key is None or code(row.action_key) == code(key)]
    best = [row for row in fitting if row.priority == fitting[0].priority]
    names = {code(row.action_key) for row in best} - {""}
    # Rows that share the best priority leave no doubt when they are one action by name.
    doubt = key is None and len(best) > 1 and len(names) != 1
    chosen = None if doubt else next((row for row in best if len(best) == 1 or not blank(row.action_key)), None)
    action = action_of(chosen) if chosen else None

    def reason(row: rows.PendingAction) -> str | None:
        if row is chosen:
            return None if action else NO_TASK
        if row not in fitting:
            return OTHER_KEY
        return AMBIGUOUS if doubt and row in best else LOWER_PRIORITY

    return Choice(scope, key, action, tuple((row, reason(row)) for row in found))


def action_of(row: rows.PendingAction) -> Action | None:
    """The action of a row; null when it names no task or no method."""
    if blank(row.bean_name) or blank(row.method_names):
        return None
    return Action(row.action_key, f"{row.bean_name.strip()}:{row.method_names.strip()}", row)


def _of_context(session: Session, turn: Turn, key: str | None) -> Action | None:
    """Data in the context chooses code only where that code was registered to be chosen so (2.1, 4b)."""
    reference = _context_reference(context_action(session))
    if reference is None or not turn.ports.tasks.allowed_from_context(reference.partition(":")[0].strip()):
        return None
    return Action(key or "", reference)


def _context_reference(own: Json) -> str | None:
    if isinstance(own, str):
        return None if blank(own) else own.strip()
    if not isinstance(own, Mapping):
        return None
    if whole := _first_text(own.get(name) for name in _REFERENCES):
        return whole
    bean = _first_text(own.get(name) for name in _BEANS)
    methods = _first_text(own.get(name) for name in _METHODS)
    return f"{bean}:{methods or ''}" if bean else None


def _first_text(values: Iterable[Json]) -> str | None:
    return next((value.strip() for value in values if isinstance(value, str) and not blank(value)), None)
