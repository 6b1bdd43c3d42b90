"""Find the intent by phrases, without a model (pipeline-1 14.4, tables 2.2)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from convengine.engine.rules.text_bank import TextBank
from convengine.engine.rules.verdict import (
    BELOW_MIN_SCORE,
    NOT_ASKED,
    ROW_INVALID,
    SEMANTIC_UNAVAILABLE,
    count_switched_off,
)
from convengine.engine.steps.intents.settings import (
    COLLISION_BY_PRIORITY,
    OVERRIDE_STATE_ON_SAME_INTENT,
    SEMANTIC_GAP_THRESHOLD,
    SEMANTIC_MIN_SCORE,
)
from convengine.engine.steps.intents.stages import (
    INTENT_CLASSIFICATION_MATCHED,
    INTENT_CLASSIFIER_COLLISION,
    INTENT_CLASSIFIER_NO_MATCH,
)
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType, DecisionKind
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.scope import ANY, UNKNOWN, is_resolved, is_state_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
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


@dataclass(frozen=True)
class Classification:
    """The result: one intent by its first row, several intents, or nothing."""

    hits: tuple[rows.Classifier, ...]
    winner: rows.Classifier | None
    #: The comparison of the examples, if it was made.
    comparison: SemanticComparison | None = None

    @property
    def intents(self) -> tuple[str, ...]:
        """The distinct matching intents, in row order."""
        return tuple(dict.fromkeys(code(row.intent_code) for row in self.hits))

    @property
    def collided(self) -> bool:
        """True when rows of several intents match."""
        return self.winner is None and len(self.intents) > 1


def order_classifiers(snapshot: Snapshot) -> tuple[rows.Classifier, ...]:
    """Enabled rows of enabled intents, by priority, then id. ANY and UNKNOWN are no results."""
    return snapshot.memo.get(
        "classifiers",
        lambda: tuple(
            sorted(
                (
                    row
                    for row in snapshot.enabled_rows(rows.Classifier)
                    if snapshot.is_active(row.intent_code) and code(row.intent_code) not in (ANY, UNKNOWN, "")
                ),
                key=lambda row: (row.priority, row.classifier_id),
            )
        ),
    )


def _index_by_id(snapshot: Snapshot) -> Mapping[Hashable, int]:
    """The index of each row in that order, by id, to sort matches without visiting other rows."""
    return snapshot.memo.get(
        "classifier places",
        lambda: {row.classifier_id: position for position, row in enumerate(order_classifiers(snapshot))},
    )


def _find_invalid(snapshot: Snapshot) -> Mapping[rows.Classifier, Fault]:
    """The unusable rows of that order, with the reason; computed once per snapshot."""
    invalid = get_classifier_bank(snapshot).invalid
    return snapshot.memo.get(
        "invalid classifiers",
        lambda: {r: invalid[r.classifier_id] for r in order_classifiers(snapshot) if r.classifier_id in invalid},
    )


def get_classifier_bank(snapshot: Snapshot) -> TextBank:
    """All patterns at once. Intents are compared afterwards, so one table makes one bank."""
    return snapshot.table(rows.Classifier).memo.get(
        "bank",
        lambda: TextBank(
            (r.classifier_id, r.rule_type, r.pattern)
            for r in snapshot.enabled_rows(rows.Classifier)
            if not r.is_semantic
        ),
    )


def _list_example_rows(snapshot: Snapshot) -> tuple[rows.Classifier, ...]:
    """The rows of that order with examples; normally none."""
    return snapshot.memo.get(
        "classifier examples", lambda: tuple(row for row in order_classifiers(snapshot) if row.is_semantic)
    )


def classify(session: Session, turn: Turn, text: str | None) -> Classification:
    """Test all rows on the text and record the matches in one DECISION event, then in the stage of the result."""
    snapshot = turn.snapshot
    ordered, positions = order_classifiers(snapshot), _index_by_id(snapshot)
    keys = get_classifier_bank(snapshot).hits(text)
    hits = tuple(ordered[position] for position in sorted(positions[key] for key in keys if key in positions))
    for row, fault in _find_invalid(snapshot).items():
        turn.audit_invalid_row(session, row, fault)
    comparison = None if hits else _compare_examples(session, turn, text)
    hits = comparison.hits if comparison else hits
    result = Classification(hits, _choose_winner(hits, turn.config(session, COLLISION_BY_PRIORITY)), comparison)
    if snapshot.rows(rows.Classifier):
        turn.decide(
            session,
            DecisionKind.CLASSIFIER,
            key={
                "queryRewritten": text != session.user_text,
                **({"semantic": comparison.reason} if comparison else {}),
            },
            winner=result.winner,
            candidates=[
                *(_build_candidate(row, result) for row in hits),
                *(comparison.candidates() if comparison else ()),
            ],
            cut=_count_excluded(snapshot, result),
        )
    _audit_classification(session, turn, result)
    return result


def choose_state(session: Session, turn: Turn, row: rows.Classifier) -> str | None:
    """The new state after a match, or null: a keyword must not restart a flow."""
    wanted = code(row.state_code) or UNKNOWN
    same_intent = code(session.intent) == code(row.intent_code)
    if wanted == ANY or (same_intent and wanted == UNKNOWN):
        return None
    if not same_intent or not is_state_resolved(session.state):
        return wanted
    return wanted if is_resolved(wanted) and turn.config(session, OVERRIDE_STATE_ON_SAME_INTENT) else None


def _choose_winner(hits: Sequence[rows.Classifier], by_priority: bool) -> rows.Classifier | None:
    if not hits:
        return None
    others = [row for row in hits if code(row.intent_code) != code(hits[0].intent_code)]
    if not others or (by_priority and min(row.priority for row in others) > hits[0].priority):
        return hits[0]
    return None


def _compare_examples(session: Session, turn: Turn, text: str | None) -> SemanticComparison | None:
    """Compare the examples; null if there are none or nothing to compare. Unusable rows are recorded."""
    example_rows = _list_example_rows(turn.snapshot)
    if not example_rows or text is None or blank(text):
        return None
    comparison = compare_examples(session, turn, text, example_rows)
    if comparison.problem:
        for row in example_rows:
            turn.audit_invalid_row(session, row, build_unavailable_fault(comparison.problem))
    return comparison


def _build_candidate(row: rows.Classifier, result: Classification) -> Candidate:
    comparison = result.comparison.operands(row) if result.comparison else None
    operands = (comparison,) if comparison else ()
    if row is result.winner:
        return Candidate(row.classifier_id, True, None, operands)
    same = result.winner is not None and code(row.intent_code) == code(result.winner.intent_code)
    reason = "LOWER_PRIORITY" if result.winner is not None or same else "INTENT_COLLISION"
    return Candidate(row.classifier_id, False, reason, operands)


def _count_excluded(snapshot: Snapshot, result: Classification) -> dict[str, int]:
    """How many rows each reason excluded, besides the listed ones."""
    enabled, ordered = len(snapshot.enabled_rows(rows.Classifier)), len(order_classifiers(snapshot))
    invalid, off = len(_find_invalid(snapshot)), count_switched_off(snapshot, rows.Classifier)
    alike, comparison = len(_list_example_rows(snapshot)), result.comparison
    by_text, near = (0, len(comparison.near)) if comparison else (len(result.hits), 0)
    return {
        **off,
        "INTENT_DISABLED": enabled - ordered,
        ROW_INVALID: off[ROW_INVALID] + invalid,
        "PATTERN": ordered - alike - by_text - invalid,
        comparison.reason if comparison else NOT_ASKED: alike - near,
    }


def _audit_classification(session: Session, turn: Turn, result: Classification) -> None:
    matched = {str(row.classifier_id): row.intent_code for row in result.hits}
    if result.winner is not None:
        turn.audit(
            session,
            INTENT_CLASSIFICATION_MATCHED,
            intent=result.winner.intent_code,
            state=choose_state(session, turn, result.winner) or session.state,
            matchedByRule=matched,
        )
    elif result.collided:
        turn.audit(
            session,
            INTENT_CLASSIFIER_COLLISION,
            userText=session.user_text,
            matchedIntents=list(result.intents),
            matchedByRule=matched,
        )
    else:
        turn.audit(
            session,
            INTENT_CLASSIFIER_NO_MATCH,
            userText=session.user_text,
            intent=session.intent,
            state=session.state,
        )


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
