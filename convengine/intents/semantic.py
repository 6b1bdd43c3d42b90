"""Classifier rows that are examples: a text means the intent whose example it is most alike (tables 2.2).

Tried when no pattern hit: a likeness never disputes what a pattern says, and a clear message costs no vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from convengine.domain import rows
from convengine.domain.catalogue.intents import SEMANTIC_GAP_THRESHOLD, SEMANTIC_MIN_SCORE
from convengine.domain.enums import ClassifierType
from convengine.domain.fault import Fault
from convengine.domain.session import Session
from convengine.domain.turn import Candidate, Turn
from convengine.rules.cuts import BELOW_MIN_SCORE, SEMANTIC_UNAVAILABLE

REMEDY = "Install it with pip install 'convengine[semantic]', or choose another kind of test."
#: How many rows that did not count are told with their likeness.
_TOLD = 5


@dataclass(frozen=True)
class Likeness:
    """A row, and the example of it that the text is most alike."""

    row: rows.Classifier
    score: float
    example: str


@dataclass(frozen=True)
class Compared:
    """What the examples say of a text: the rows that count, and those that came near."""

    hits: tuple[rows.Classifier, ...] = ()
    near: tuple[Likeness, ...] = ()
    least: float = 0.0
    #: Why nothing could be compared; null when it could.
    problem: str | None = None

    @property
    def reason(self) -> str:
        """Why the rows that are not told did not decide."""
        return SEMANTIC_UNAVAILABLE if self.problem else BELOW_MIN_SCORE

    def operands(self, row: rows.Classifier) -> dict[str, object] | None:
        """The values compared for a row; null where they are not kept."""
        found = next((one for one in self.near if one.row is row), None)
        return {"example": found.example, "score": found.score, "minScore": self.least} if found else None

    def candidates(self) -> list[Candidate]:
        """The rows that came near and did not count."""
        return [
            Candidate(one.row.classifier_id, False, BELOW_MIN_SCORE, (self.operands(one.row) or {},))
            for one in self.near
            if one.row not in self.hits
        ]


def compare(session: Session, turn: Turn, text: str, found: Sequence[rows.Classifier]) -> Compared:
    """The rows whose examples are alike enough, and not far behind the best."""
    lines = [row.examples for row in found]
    answer = turn.ports.likeness.likeness(text, [example for row in lines for example in row])
    if answer.error_message is not None:
        return Compared(problem=answer.error_message)
    ends = list(accumulate((len(row) for row in lines), initial=0))
    best = [
        _best(row, own, answer.scores[start:end])
        for row, own, (start, end) in zip(found, lines, pairwise(ends), strict=True)
        if own
    ]
    return _counted(session, turn, best)


def unavailable(problem: str) -> Fault:
    """Why no row of this type takes part."""
    return Fault(problem, "rule_type", ClassifierType.SEMANTIC.value, REMEDY)


def _best(row: rows.Classifier, own: Sequence[str], scores: Sequence[float]) -> Likeness:
    score, place = max((score, -place) for place, score in enumerate(scores))
    return Likeness(row, score, own[-place])


def _counted(session: Session, turn: Turn, best: Sequence[Likeness]) -> Compared:
    least, gap = turn.config(session, SEMANTIC_MIN_SCORE), turn.config(session, SEMANTIC_GAP_THRESHOLD)
    top = max((one.score for one in best), default=0.0)
    enough = max(least, round(top - gap, 6))
    hits = tuple(one.row for one in best if one.score >= enough)
    ranked = sorted(best, key=lambda one: (-one.score, one.row.classifier_id))
    return Compared(hits, tuple(ranked[: len(hits) + _TOLD]), enough)
