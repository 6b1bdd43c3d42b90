"""Compare a message with the sentences of rows: phrases by their words, examples by their meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from convengine.engine.forms.user_answer import says_only
from convengine.engine.rules.verdict import BELOW_MIN_SCORE, PHRASE_NOT_BEST, SEMANTIC_UNAVAILABLE
from convengine.engine.steps.intents.settings import SEMANTIC_GAP_THRESHOLD, SEMANTIC_MIN_SCORE
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Candidate, Turn
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.phrases.matching import PhraseMatches, describe_matches, match_phrases

REMEDY = "Install it with pip install 'convengine[semantic]', or choose another match type."


#: How many rejected rows are recorded with their similarity.
_LISTED = 5


@dataclass(frozen=True)
class ComparedRow:
    """A row that came near, and the compared values."""

    row: rows.Classifier
    operands: Mapping[str, object]


@dataclass(frozen=True)
class Comparison:
    """The result of comparing a text with sentences: the rows that count, and those that came near."""

    hits: tuple[rows.Classifier, ...] = ()
    near: tuple[ComparedRow, ...] = ()
    #: Why the unlisted rows did not decide.
    reason: str = BELOW_MIN_SCORE
    #: Why no comparison was possible, or null.
    problem: str | None = None
    #: What the event of the match says besides the rows.
    details: Mapping[str, Any] = field(default_factory=dict)

    def operands(self, row: rows.Classifier) -> Mapping[str, object] | None:
        """The compared values of a row, or null."""
        return next((compared.operands for compared in self.near if compared.row is row), None)

    def candidates(self) -> list[Candidate]:
        """The rows that came near and do not count."""
        return [
            Candidate(compared.row.classifier_id, False, BELOW_MIN_SCORE, (compared.operands,))
            for compared in self.near
            if compared.row not in self.hits
        ]


def compare_phrases(session: Session, turn: Turn, text: str, *, interrupting: bool) -> Comparison:
    """The best phrase of each intent that counts or came near."""
    own = turn.snapshot.list_questions_beside(session.intent)
    matches = match_phrases(turn.snapshot, text, interrupting=interrupting, own=own)
    return build_comparison(turn.snapshot, _drop_greeting(matches, greets=says_only(session, turn, MoveKind.GREET)))


def build_comparison(snapshot: Snapshot, matches: PhraseMatches) -> Comparison:
    """The rows of the phrases that count or came near."""
    find_row = partial(snapshot.row, rows.Classifier)
    hits = tuple(row for match in matches.hits if (row := find_row(match.phrase.key)))
    near = tuple(
        ComparedRow(row, matches.describe(match))
        for match in (*matches.hits, *matches.near)
        if (row := find_row(match.phrase.key))
    )
    return Comparison(hits, near, PHRASE_NOT_BEST, details=describe_matches(matches) if hits else {})


def _drop_greeting(matches: PhraseMatches, *, greets: bool) -> PhraseMatches:
    """The matches, without those of a greeting that shares a word with a phrase and is none: "can you hear me?"."""
    if not matches.hits or matches.hits[0].score == 1 or not greets:
        return matches
    return replace(matches, hits=(), near=(*matches.hits, *matches.near))


def compare_examples(
    session: Session, turn: Turn, text: str, rows_of_examples: Sequence[rows.Classifier]
) -> Comparison:
    """The rows with similar enough examples that are not far behind the best."""
    lines = [row.examples for row in rows_of_examples]
    answer = turn.ports.likeness.likeness(text, [example for row in lines for example in row])
    if answer.error_message is not None:
        fault = Fault(answer.error_message, "rule_type", ClassifierType.SEMANTIC.value, REMEDY)
        for row in rows_of_examples:
            turn.audit_invalid_row(session, row, fault)
        return Comparison(reason=SEMANTIC_UNAVAILABLE, problem=answer.error_message)
    ends = list(accumulate((len(row) for row in lines), initial=0))
    best = [
        _find_likest_example(row, examples, answer.scores[start:end])
        for row, examples, (start, end) in zip(rows_of_examples, lines, pairwise(ends), strict=True)
        if examples
    ]
    return _keep_close_rows(session, turn, best)


class _Likeness(NamedTuple):
    """A row, and its most similar example."""

    row: rows.Classifier
    score: float
    example: str


def _find_likest_example(row: rows.Classifier, examples: Sequence[str], scores: Sequence[float]) -> _Likeness:
    score, index = max((score, -index) for index, score in enumerate(scores))
    return _Likeness(row, score, examples[-index])


def _keep_close_rows(session: Session, turn: Turn, best: Sequence[_Likeness]) -> Comparison:
    least, gap = turn.config(session, SEMANTIC_MIN_SCORE), turn.config(session, SEMANTIC_GAP_THRESHOLD)
    top = max((likeness.score for likeness in best), default=0.0)
    enough = max(least, round(top - gap, 6))
    hits = tuple(likeness.row for likeness in best if likeness.score >= enough)
    ranked = sorted(best, key=lambda likeness: (-likeness.score, likeness.row.classifier_id))
    near = tuple(
        ComparedRow(likeness.row, {"example": likeness.example, "score": likeness.score, "minScore": enough})
        for likeness in ranked[: len(hits) + _LISTED]
    )
    return Comparison(hits, near)
