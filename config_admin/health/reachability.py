"""The states that an intent can reach: what rows lead to, step by step from the initial ones."""

from collections import deque
from collections.abc import Mapping
from functools import partial

from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY, BUILT_IN_STATES, UNKNOWN, list_buckets, scope_key
from convengine.engine.turn.snapshot import Snapshot

#: The reachable states of each intent.
ReachableStates = Mapping[str, frozenset[str]]


def find_reachable_states(snapshot: Snapshot) -> ReachableStates:
    """The reachable states of every active intent; models and code that set a state do not count."""
    return snapshot.memo.get("health reach", partial(_find_reachable_states, snapshot))


def is_reachable(snapshot: Snapshot, intent: str, state: str) -> bool:
    """True when something leads to the state in this intent; for intent ANY, in some intent. State ANY is reachable."""
    reachable, wanted = find_reachable_states(snapshot), code(state)
    if wanted == ANY:
        return True
    return (
        any(wanted in states for states in reachable.values())
        if code(intent) == ANY
        else wanted in reachable.get(code(intent), ())
    )


def _find_reachable_states(snapshot: Snapshot) -> ReachableStates:
    """The states of each intent that a conversation can reach.

    The search starts at the built-in states, and where phrases and edges lead.
    """
    search = _Search(snapshot)
    for intent in search.intents:
        for state in BUILT_IN_STATES:
            search.add_state(intent, state)
    for row in snapshot.enabled_rows(rows.Classifier):
        if snapshot.is_active(row.intent_code) and code(row.state_code) != ANY:
            search.add_state(code(row.intent_code), code(row.state_code) or UNKNOWN)
    for edge in snapshot.enabled_rows(rows.StateEdge):
        if code(edge.to_state) != ANY:
            search.add_state(code(edge.intent_code), code(edge.to_state))
    search.run()
    return {intent: frozenset(states) for intent, states in search.states.items()}


class _Search:
    """Goes from one intent and state to the next."""

    def __init__(self, snapshot: Snapshot) -> None:
        named = {code(row.intent_code) for row in snapshot.enabled_rows(rows.Intent)}
        self.intents = sorted((named | {UNKNOWN}) - {ANY})
        self.states: dict[str, set[str]] = {intent: set() for intent in self.intents}
        self._waiting: deque[tuple[str, str]] = deque()
        #: By action, the targets of rules by scope.
        self._targets: dict[str, dict[tuple[str, str], set[str]]] = {"SET_STATE": {}, "SET_INTENT": {}}
        #: The scopes whose rules set the state of an intent: they set the same from each state, so once is enough.
        self._followed: set[tuple[str, tuple[str, str]]] = set()
        for rule in snapshot.enabled_rows(rows.Rule):
            action, target = code(rule.action), code(rule.action_value)
            if action in self._targets and target not in ("", ANY):
                self._targets[action].setdefault(scope_key(rule), set()).add(target)
        #: Intents that a phrase sets without changing the state.
        self._keeping = {
            code(row.intent_code) for row in snapshot.enabled_rows(rows.Classifier) if code(row.state_code) == ANY
        }

    def add_state(self, intent: str, state: str) -> None:
        for intent_code in self.intents if intent == ANY else [intent]:
            if intent_code in self.states and state not in self.states[intent_code]:
                self.states[intent_code].add(state)
                self._waiting.append((intent_code, state))

    def run(self) -> None:
        """Continue from each scope until nothing new is reached."""
        while self._waiting:
            intent, state = self._waiting.popleft()
            for scope in list_buckets(intent, state):
                if (intent, scope) not in self._followed:
                    self._followed.add((intent, scope))
                    for target in self._targets["SET_STATE"].get(scope, ()):
                        self.add_state(intent, target)
                for target in self._targets["SET_INTENT"].get(scope, ()):
                    self.add_state(target, state)
            for other in self._keeping:
                self.add_state(other, state)
