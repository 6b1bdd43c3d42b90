"""Choosing one row of a scoped table: who could, in which order, and why the others did not (R30, pipeline-2 0.3)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from convengine.domain.rows import Row
from convengine.domain.scope import specificity
from convengine.domain.snapshot import Snapshot
from convengine.domain.turn import Candidate
from convengine.rules.cuts import scope_cuts
from convengine.rules.explain import OUTRANKED

R = TypeVar("R", bound=Row)
#: How many rows beside the winner a decision lists; the rest is counted.
_LISTED = 10


@dataclass(frozen=True)
class Choice(Generic[R]):
    """The rows in scope, best first, each with the reason why it takes no part, or null."""

    looked_at: tuple[tuple[R, str | None], ...]
    cut: dict[str, int]

    @property
    def winner(self) -> R | None:
        """The best row that takes part."""
        return next((row for row, refused in self.looked_at if refused is None), None)

    def candidates(self) -> list[Candidate]:
        """The winner, the rows that it outranked, then those that take no part; the first few."""
        winner = self.winner
        listed = sorted(self.looked_at, key=lambda one: one[1] is not None)[: _LISTED + 1]
        return [
            Candidate(row.pk, row is winner, None if row is winner else refused or _why(winner, row))
            for row, refused in listed
        ]


def choose(
    snapshot: Snapshot,
    row_type: type[R],
    intent: str | None,
    state: str | None,
    refused: Callable[[R], str | None],
    *,
    order: Callable[[R], Any] | None = None,
) -> Choice[R]:
    """The active rows that admit (intent, state), most specific first, then in `order` (priority, then id).

    `refused` says why a row in scope takes no part; null when it does.
    """
    looked_at = tuple((row, refused(row)) for row in snapshot.in_scope(row_type, intent, state, order=order))
    cut = scope_cuts(snapshot, row_type, intent, len(looked_at))
    return Choice(looked_at, {**cut, OUTRANKED: max(0, len(looked_at) - 1 - _LISTED)})


def _why(winner: Any, row: Any) -> str:
    return "LOWER_PRIORITY" if specificity(winner) == specificity(row) else "LESS_SPECIFIC"
