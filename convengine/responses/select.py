"""Which response row answers: this state before ANY, then this intent, then priority, then id (pipeline-2 9.2)."""

from dataclasses import dataclass

from convengine.domain import rows
from convengine.domain.scope import ANY
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.domain.turn import Candidate
from convengine.rules import cuts
from convengine.rules.explain import OUTRANKED

#: How many rows beside the winner a decision lists; the rest is counted.
_LISTED = 10


@dataclass(frozen=True)
class ResponseChoice:
    """The rows that could answer, best first, and the counts of those that could not."""

    ranked: tuple[rows.Response, ...]
    cut: dict[str, int]

    @property
    def winner(self) -> rows.Response | None:
        """The row that answers, if any."""
        return self.ranked[0] if self.ranked else None

    def candidates(self) -> list[Candidate]:
        """The winner and the rows that it outranked."""
        return [
            Candidate(row.response_id, index == 0, None if index == 0 else _why(self.ranked[0], row))
            for index, row in enumerate(self.ranked[: _LISTED + 1])
        ]


def choose_response(snapshot: Snapshot, intent: str | None, state: str | None) -> ResponseChoice:
    """All active rows that admit (intent, state), in the order in which they win."""
    by_scope = snapshot.index(rows.Response, _scope, _order)
    one, other = code(intent), code(state)
    ranked: list[rows.Response] = []
    for bucket in dict.fromkeys(((one, other), (ANY, other), (one, ANY), (ANY, ANY))):
        if snapshot.is_active(bucket[0]):
            ranked.extend(by_scope.get(bucket, ()))
    return ResponseChoice(
        tuple(ranked),
        {
            **cuts.scope_cuts(snapshot, rows.Response, one, len(ranked)),
            OUTRANKED: max(0, len(ranked) - 1 - _LISTED),
        },
    )


def _scope(row: rows.Response) -> tuple[str, str]:
    return code(row.intent_code), code(row.state_code)


def _order(row: rows.Response) -> tuple[int, int]:
    return row.priority, row.response_id


def _why(winner: rows.Response, row: rows.Response) -> str:
    def rank(of: rows.Response) -> tuple[bool, bool]:
        return code(of.state_code) == ANY, code(of.intent_code) == ANY

    return "LOWER_PRIORITY" if rank(winner) == rank(row) else "LESS_SPECIFIC"
