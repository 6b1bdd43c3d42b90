"""Choose the rows that answer in a state: this state before ANY, then this intent, then priority, then id."""

from convengine.engine.rules.choice import RowChoice, build_choice
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY, HAND_OVER, scope_key
from convengine.engine.turn.snapshot import Snapshot


def choose_response(snapshot: Snapshot, intent: str | None, state: str | None) -> RowChoice[rows.Response]:
    """All active rows for (intent, state), in order of precedence."""
    by_scope = snapshot.index(rows.Response, scope_key, _order_key)
    intent_code, state_code = code(intent), code(state)
    ranked: list[rows.Response] = []
    general = [(ANY, state_code), (intent_code, ANY)]
    if state_code == HAND_OVER:
        # There, answers of every intent are for forms that are given up: an intent that hands over has its own.
        general.reverse()
    for bucket in dict.fromkeys(((intent_code, state_code), *general, (ANY, ANY))):
        if snapshot.is_active(bucket[0]):
            ranked.extend(by_scope.get(bucket, ()))
    return build_choice(snapshot, rows.Response, intent_code, tuple((row, None) for row in ranked))


def choose_exact_response(snapshot: Snapshot, intent: str | None, state: str) -> RowChoice[rows.Response] | None:
    """The rows of exactly this state, of the intent before ANY. Returns None if there are none."""
    choice = choose_response(snapshot, intent, state)
    exact = tuple((row, refused) for row, refused in choice.considered if code(row.state_code) == state)
    return RowChoice(exact, choice.cut) if exact else None


def _order_key(row: rows.Response) -> tuple[int, int]:
    return row.priority, row.response_id
