"""Compare a message with the phrases of rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from convengine.engine.forms.user_answer import says_only
from convengine.engine.rules.verdict import BELOW_MIN_SCORE, INTENT_NOT_IN_CHANNEL, PHRASE_NOT_BEST
from convengine.engine.turn import rows
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Candidate, Turn
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.phrases.matching import PhraseMatches, describe_matches
from convengine.engine.understanding.phrases.recorded import match_in_turn


@dataclass(frozen=True)
class ComparedRow:
    """A row that came near, and the compared values."""

    row: rows.Classifier
    operands: Mapping[str, object]


@dataclass(frozen=True)
class PhraseResult:
    """The result of comparing a text with phrases: the rows that count, and those that came near."""

    hits: tuple[rows.Classifier, ...] = ()
    near: tuple[ComparedRow, ...] = ()
    #: What the user is asked about, if no row counts.
    askable: tuple[rows.Classifier, ...] = ()
    #: What the event of the match says besides the rows.
    details: Mapping[str, Any] = field(default_factory=dict)
    #: Why another classifier decided than that of the phrases.
    substitution: str = ""
    #: Rows that came near, of intents that the channel does not have.
    elsewhere: tuple[ComparedRow, ...] = ()

    @property
    def best_score(self) -> float:
        """How likely the best row is, which need not count."""
        return max((float(str(compared.operands.get("score", 0))) for compared in self.near), default=0.0)

    def operands(self, row: rows.Classifier) -> Mapping[str, object] | None:
        """The compared values of a row. Returns None if the row did not come near."""
        return next((compared.operands for compared in self.near if compared.row is row), None)

    def candidates(self) -> list[Candidate]:
        """The rows that came near and do not count."""
        near = [(compared, BELOW_MIN_SCORE) for compared in self.near if compared.row not in self.hits]
        return [
            Candidate(compared.row.classifier_id, False, reason, (compared.operands,))
            for compared, reason in (*near, *((compared, INTENT_NOT_IN_CHANNEL) for compared in self.elsewhere))
        ]


#: Why the other phrases of a table did not decide.
UNLISTED = PHRASE_NOT_BEST


def compare_phrases(session: Session, turn: Turn, text: str, *, interrupting: bool) -> PhraseResult:
    """Compare a message with the phrases, in this turn: the phrases that count or came near.

    `interrupting`: only those that are tried while a form is open.
    """
    own = turn.snapshot.list_questions_beside(session.intent)
    matches = match_in_turn(turn, text, interrupting=interrupting, own=own)
    if _means_no_subject(session, turn) and matches.hits and not matches.hits[0].is_identical:
        matches = replace(matches, hits=(), near=(), min_near=1.0)
    return build_comparison(turn.snapshot, matches)


def _means_no_subject(session: Session, turn: Turn) -> bool:
    """True for a message without a subject of its own. It means a phrase only if it has the same words.

    Such messages only greet, or only answer yes or no to a question, and a rule has used the answer.
    """
    is_answered = any(hop.cause == "RULE" for hop in session.transitions)
    return says_only(session, turn, MoveKind.GREET) or (
        is_answered and says_only(session, turn, MoveKind.AFFIRM, MoveKind.NEGATE)
    )


def build_comparison(snapshot: Snapshot, matches: PhraseMatches) -> PhraseResult:
    """The rows of the phrases that count or came near."""
    find_row = partial(snapshot.row, rows.Classifier)
    hits, askable = (
        tuple(row for match in part if (row := find_row(match.phrase.key))) for part in (matches.hits, matches.askable)
    )
    near, elsewhere = (
        tuple(ComparedRow(row, matches.describe(match)) for match in part if (row := find_row(match.phrase.key)))
        for part in ((*matches.hits, *matches.near), matches.elsewhere)
    )
    details = describe_matches(matches) if hits else {}
    return PhraseResult(hits, near, askable, details, matches.substitution, elsewhere)
