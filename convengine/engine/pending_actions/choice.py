"""Which pending action a yes would run: by its key, its row, or the context."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from convengine.engine.pending_actions.settings import REQUIRE_RESOLVED_INTENT_AND_STATE
from convengine.engine.rules.explain import OUTRANKED
from convengine.engine.rules.verdict import count_out_of_scope
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.scope import is_resolved, is_state_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Candidate, Turn
from convengine.json_value import Json

#: Reason why a row in scope was not chosen.
OTHER_KEY = "OTHER_KEY"
LOWER_PRIORITY = "LOWER_PRIORITY"
AMBIGUOUS = "AMBIGUOUS"
NO_TASK = "NO_TASK"
UNRESOLVED = "UNRESOLVED"
#: Keys of the context's own action: its identity, and what it runs.
_KEYS = ("action_key", "actionKey", "key", "type")
_REFERENCES = ("task", "action", "action_value", "actionValue", "set_task", "setTask")
_BEANS = ("bean", "bean_name", "beanName")
_METHODS = ("method", "method_name", "methodName", "methods", "method_names")
_LISTED = 10


@dataclass(frozen=True)
class ActionScope:
    intent: str | None
    state: str | None

    @classmethod
    def of(cls, session: Session) -> "ActionScope":
        return cls(session.intent, session.state)

    def __str__(self) -> str:
        return f"{code(self.intent)}|{code(self.state)}"

    @property
    def resolved(self) -> bool:
        """True when both are known."""
        return is_resolved(self.intent) and is_state_resolved(self.state)


@dataclass(frozen=True)
class ProposedAction:
    """An action that can be proposed, run and rejected."""

    key: str
    #: `task:method,method`, from the row or the context.
    reference: str
    row: rows.PendingAction | None = None

    @property
    def identity(self) -> str:
        """Identifies the action inside its scope."""
        return f"{code(self.key)} {self.reference}"


@dataclass(frozen=True)
class ActionChoice:
    """The chosen action, and the rows that were considered."""

    scope: ActionScope
    #: The requested key, or None.
    key: str | None
    action: ProposedAction | None
    #: The rows in scope, best first, each with the reason why it was not chosen. None for the chosen one.
    considered: tuple[tuple[rows.PendingAction, str | None], ...] = ()

    @property
    def ambiguous(self) -> tuple[rows.PendingAction, ...]:
        """The rows that nothing distinguishes; none if there is no ambiguity."""
        return () if self.action else tuple(row for row, reason in self.considered if reason == AMBIGUOUS)


def list_pending_rows(snapshot: Snapshot, scope: ActionScope) -> tuple[rows.PendingAction, ...]:
    """The rows in scope by priority, then id. Specificity does not count."""
    rows_in_scope = snapshot.in_scope(rows.PendingAction, scope.intent, scope.state)
    return tuple(sorted(rows_in_scope, key=lambda row: (row.priority, row.pending_action_id)))


def find_wanted_key(session: Session) -> str | None:
    """The key from the caller, a rule or the context; the first one that is set."""
    context = session.context
    context_action = read_context_action(session)
    values = [session.params.get("pending_action_key")]
    values += [context.get("pending_action_key"), context.get("pendingActionKey")]
    if isinstance(context_action, Mapping):
        values += [context_action.get(name) for name in _KEYS]
    return _find_first_text(values)


def read_context_action(session: Session) -> Json:
    """The action that a task or an integrator put into the context: a text or an object, if there is one."""
    action = session.context.get("pending_action")
    return session.context.get("pendingAction") if action is None else action


def choose_action(session: Session, turn: Turn, scope: ActionScope) -> ActionChoice:
    """The action of a scope: from the table; else from the context, if its task allows that."""
    if not scope.resolved and turn.config(session, REQUIRE_RESOLVED_INTENT_AND_STATE):
        rows_in_scope = list_pending_rows(turn.snapshot, scope)
        return ActionChoice(scope, find_wanted_key(session), None, tuple((row, UNRESOLVED) for row in rows_in_scope))
    choice = _choose_from_table(turn.snapshot, session, scope)
    if choice.action is not None:
        return choice
    reference = _find_context_reference(read_context_action(session))
    # Data in the context may only choose code that was registered for it.
    if reference is None or not turn.ports.tasks.allowed_from_context(reference.partition(":")[0].strip()):
        return choice
    return replace(choice, action=ProposedAction(choice.key or "", reference))


def audit_choice(session: Session, turn: Turn, choice: ActionChoice) -> None:
    """Write the DECISION event of a choice; nothing if there are no actions at all."""
    if not turn.snapshot.rows(rows.PendingAction):
        return
    winner = choice.action.row if choice.action else None
    cut = count_out_of_scope(turn.snapshot, rows.PendingAction, choice.scope.intent, len(choice.considered))
    turn.decide(
        session,
        DecisionKind.PENDING_ACTION,
        key={"intent": choice.scope.intent, "state": choice.scope.state, "actionKey": choice.key},
        winner=winner,
        candidates=[
            Candidate(row.pending_action_id, row is winner, reason)
            for row, reason in sorted(choice.considered, key=lambda considered: considered[1] is not None)[
                : _LISTED + 1
            ]
        ],
        cut={**cut, OUTRANKED: max(0, len(choice.considered) - 1 - _LISTED)},
    )


def _choose_from_table(snapshot: Snapshot, session: Session, scope: ActionScope) -> ActionChoice:
    key, rows_in_scope = find_wanted_key(session), list_pending_rows(snapshot, scope)
    fitting = [row for row in rows_in_scope if key is None or code(row.action_key) == code(key)]
    best = [row for row in fitting if row.priority == fitting[0].priority]
    names = {code(row.action_key) for row in best} - {""}
    # Rows with the same priority and the same name are one action.
    doubt = key is None and len(best) > 1 and len(names) != 1
    chosen = None if doubt else next((row for row in best if len(best) == 1 or not blank(row.action_key)), None)
    action = build_action(chosen) if chosen else None

    def reason(row: rows.PendingAction) -> str | None:
        if row is chosen:
            return None if action else NO_TASK
        if row not in fitting:
            return OTHER_KEY
        return AMBIGUOUS if doubt and row in best else LOWER_PRIORITY

    return ActionChoice(scope, key, action, tuple((row, reason(row)) for row in rows_in_scope))


def build_action(row: rows.PendingAction) -> ProposedAction | None:
    """The action of a row. Returns None if it names no task or no method."""
    if blank(row.bean_name) or blank(row.method_names):
        return None
    return ProposedAction(row.action_key, f"{row.bean_name.strip()}:{row.method_names.strip()}", row)


def _find_context_reference(context_action: Json) -> str | None:
    if isinstance(context_action, str):
        return None if blank(context_action) else context_action.strip()
    if not isinstance(context_action, Mapping):
        return None
    if reference := _find_first_text(context_action.get(name) for name in _REFERENCES):
        return reference
    bean = _find_first_text(context_action.get(name) for name in _BEANS)
    methods = _find_first_text(context_action.get(name) for name in _METHODS)
    return f"{bean}:{methods or ''}" if bean else None


def _find_first_text(values: Iterable[Json]) -> str | None:
    return next((value.strip() for value in values if isinstance(value, str) and not blank(value)), None)
