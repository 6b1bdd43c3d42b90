"""Phrases with examples: a text means the intent of the most similar example (tables 2.2).

Only when no pattern matches, so that a similarity never contradicts a pattern, and a clear message needs no vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from convengine.engine.rules.exclusion import BELOW_MIN_SCORE, SEMANTIC_UNAVAILABLE
from convengine.engine.steps.intents.settings import SEMANTIC_GAP_THRESHOLD, SEMANTIC_MIN_SCORE
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Candidate, Turn

REMEDY = "Install it with pip install 'convengine[semantic]', or choose another match type."
#: How many rejected rows are recorded with their similarity.
_LISTED = 5


@dataclass(frozen=True)
class Likeness:
    """A row, and its most similar example."""

    row: rows.Classifier
    score: float
    example: str


@dataclass(frozen=True)
class SemanticComparison:
    """The result for a text: the rows that count, and those that came near."""

    hits: tuple[rows.Classifier, ...] = ()
    near: tuple[Likeness, ...] = ()
    least: float = 0.0
    #: Why no comparison was possible, or null.
    problem: str | None = None

    @property
    def reason(self) -> str:
        """Why the unlisted rows did not decide."""
        return SEMANTIC_UNAVAILABLE if self.problem else BELOW_MIN_SCORE

    def operands(self, row: rows.Classifier) -> dict[str, object] | None:
        """The compared values of a row, or null."""
        nearest = next((likeness for likeness in self.near if likeness.row is row), None)
        return {"example": nearest.example, "score": nearest.score, "minScore": self.least} if nearest else None

    def candidates(self) -> list[Candidate]:
        """The rows that came near and do not count."""
        return [
            Candidate(likeness.row.classifier_id, False, BELOW_MIN_SCORE, (self.operands(likeness.row) or {},))
            for likeness in self.near
            if likeness.row not in self.hits
        ]


def compare_examples(
    session: Session, turn: Turn, text: str, rows_of_examples: Sequence[rows.Classifier]
) -> SemanticComparison:
    """The rows with similar enough examples that are not far behind the best."""
    lines = [row.examples for row in rows_of_examples]
    answer = turn.ports.likeness.likeness(text, [example for row in lines for example in row])
    if answer.error_message is not None:
        return SemanticComparison(problem=answer.error_message)
    ends = list(accumulate((len(row) for row in lines), initial=0))
    best = [
        _find_likest_example(row, examples, answer.scores[start:end])
        for row, examples, (start, end) in zip(rows_of_examples, lines, pairwise(ends), strict=True)
        if examples
    ]
    return _keep_close_rows(session, turn, best)


def build_unavailable_fault(problem: str) -> Fault:
    """Why no row of this type takes part."""
    return Fault(problem, "rule_type", ClassifierType.SEMANTIC.value, REMEDY)


def _find_likest_example(row: rows.Classifier, examples: Sequence[str], scores: Sequence[float]) -> Likeness:
    score, index = max((score, -index) for index, score in enumerate(scores))
    return Likeness(row, score, examples[-index])


def _keep_close_rows(session: Session, turn: Turn, best: Sequence[Likeness]) -> SemanticComparison:
    least, gap = turn.config(session, SEMANTIC_MIN_SCORE), turn.config(session, SEMANTIC_GAP_THRESHOLD)
    top = max((likeness.score for likeness in best), default=0.0)
    enough = max(least, round(top - gap, 6))
    hits = tuple(likeness.row for likeness in best if likeness.score >= enough)
    ranked = sorted(best, key=lambda likeness: (-likeness.score, likeness.row.classifier_id))
    return SemanticComparison(hits, tuple(ranked[: len(hits) + _LISTED]), enough)
