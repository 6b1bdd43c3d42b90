"""Choose one row of a scoped table, or the rows that answer in a state; explain why the others were not chosen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from convengine.engine.rules.explain import OUTRANKED
from convengine.engine.rules.verdict import count_out_of_scope
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, HAND_OVER, rank_specificity, scope_key
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Candidate, Turn
from convengine.json_value import Json

R = TypeVar("R", bound=Row)
#: How many rows besides the winner a decision lists; the others are counted.
_LISTED = 10


@dataclass(frozen=True)
class RowChoice(Generic[R]):
    """The rows in scope, best first, each with the reason why it does not count, if there is one."""

    considered: tuple[tuple[R, str | None], ...]
    cut: dict[str, int]

    @property
    def winner(self) -> R | None:
        """The best row that counts. Returns None if none does."""
        return next((row for row, refused in self.considered if refused is None), None)

    def candidates(self) -> list[Candidate]:
        """The winner, the rows that it outranked, then those that do not count; the first few."""
        winner = self.winner
        listed = sorted(self.considered, key=lambda entry: entry[1] is not None)[: _LISTED + 1]
        return [
            Candidate(row.pk, row is winner, None if row is winner else refused or _explain_rank(winner, row))
            for row, refused in listed
        ]

    def decide(self, session: Session, turn: Turn, kind: DecisionKind, **key: Json) -> R | None:
        """The winner, if there is one, with the DECISION event of this choice. `key`: what the rows were chosen for."""
        winner = self.winner
        turn.decide(session, kind, key=key, winner=winner, candidates=self.candidates(), cut=self.cut)
        return winner


def choose_row(
    snapshot: Snapshot,
    row_type: type[R],
    intent: str | None,
    state: str | None,
    refused: Callable[[R], str | None],
    *,
    order: Callable[[R], Any] | None = None,
) -> RowChoice[R]:
    """The active rows for (intent, state), most specific first, then in `order` (priority, then id).

    `refused` gives the reason why a row in scope does not count, or None.
    """
    looked_at = tuple((row, refused(row)) for row in snapshot.in_scope(row_type, intent, state, order=order))
    return build_choice(snapshot, row_type, intent, looked_at)


def build_choice(
    snapshot: Snapshot, row_type: type[R], intent: str | None, considered: tuple[tuple[R, str | None], ...]
) -> RowChoice[R]:
    """The choice among rows in scope that are in order already, with the counts of the others."""
    cut = count_out_of_scope(snapshot, row_type, intent, len(considered))
    return RowChoice(considered, {**cut, OUTRANKED: max(0, len(considered) - 1 - _LISTED)})


def find_row(
    snapshot: Snapshot,
    row_type: type[R],
    intent: str | None,
    state: str | None,
    refused: Callable[[R], str | None],
    *,
    order: Callable[[R], Any] | None = None,
) -> R | None:
    """The winner of `choose_row`, without explaining the others. Returns None if there is none."""
    in_scope = snapshot.in_scope(row_type, intent, state, order=order)
    return next((row for row in in_scope if refused(row) is None), None)


def _explain_rank(winner: Any, row: Any) -> str:
    return "LOWER_PRIORITY" if rank_specificity(winner) == rank_specificity(row) else "LESS_SPECIFIC"


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
    choice = choose_response(snapshot, intent, state)
    exact = tuple((row, refused) for row, refused in choice.considered if code(row.state_code) == state)
    return RowChoice(exact, choice.cut) if exact else None


def _order_key(row: rows.Response) -> tuple[int, int]:
    return row.priority, row.response_id
