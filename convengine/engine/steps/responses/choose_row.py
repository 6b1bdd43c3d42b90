"""Choose the rows that answer in a state: this state before ANY, then this intent, then priority, then id."""

from dataclasses import dataclass

from convengine.engine.rules.explain import OUTRANKED
from convengine.engine.rules.verdict import count_out_of_scope
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.scope import ANY, HAND_OVER, scope_key
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Candidate

#: How many rows besides the winner a decision lists; the others are counted.
_LISTED = 10


@dataclass(frozen=True)
class ResponseChoice:
    """The rows that could answer, best first, and the counts of the others."""

    ranked: tuple[rows.Response, ...]
    cut: dict[str, int]

    @property
    def winner(self) -> rows.Response | None:
        """The row that answers, if any."""
        return self.ranked[0] if self.ranked else None

    def candidates(self) -> list[Candidate]:
        """The winner and the rows that it outranked."""
        return [
            Candidate(row.response_id, index == 0, None if index == 0 else _explain_rank(self.ranked[0], row))
            for index, row in enumerate(self.ranked[: _LISTED + 1])
        ]


def choose_response(snapshot: Snapshot, intent: str | None, state: str | None) -> ResponseChoice:
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
    return ResponseChoice(
        tuple(ranked),
        {
            **count_out_of_scope(snapshot, rows.Response, intent_code, len(ranked)),
            OUTRANKED: max(0, len(ranked) - 1 - _LISTED),
        },
    )


def choose_exact_response(snapshot: Snapshot, intent: str | None, state: str) -> ResponseChoice | None:
    """The rows of exactly this state, of the intent before ANY. Returns None if there are none."""
    choice = choose_response(snapshot, intent, state)
    ranked = tuple(row for row in choice.ranked if code(row.state_code) == state)
    return ResponseChoice(ranked, choice.cut) if ranked else None


def _order_key(row: rows.Response) -> tuple[int, int]:
    return row.priority, row.response_id


def _explain_rank(winner: rows.Response, row: rows.Response) -> str:
    def rank(of: rows.Response) -> tuple[bool, bool]:
        return code(of.state_code) == ANY, code(of.intent_code) == ANY

    return "LOWER_PRIORITY" if rank(winner) == rank(row) else "LESS_SPECIFIC"
