"""Cheap deterministic routing: patterns that mean an intent (pipeline-1 14.4, tables 2.2)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from convengine.domain import rows
from convengine.domain.catalogue.intents import COLLISION_BY_PRIORITY, OVERRIDE_STATE_ON_SAME_INTENT
from convengine.domain.enums import DecisionKind
from convengine.domain.fault import Fault
from convengine.domain.scope import ANY, UNKNOWN, resolved, state_resolved
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import Stage
from convengine.domain.text import blank, code
from convengine.domain.turn import Candidate, Turn
from convengine.intents.semantic import Compared, compare, unavailable
from convengine.rules.bank import TextBank
from convengine.rules.cuts import NOT_ASKED, switched_off
from convengine.rules.verdict import ROW_INVALID


@dataclass(frozen=True)
class Classified:
    """What the classifiers say: one intent by its first row, several intents, or nothing."""

    hits: tuple[rows.Classifier, ...]
    winner: rows.Classifier | None
    #: What the rows of examples said, where they were asked.
    compared: Compared | None = None

    @property
    def intents(self) -> tuple[str, ...]:
        """The distinct intents that were hit, in row order."""
        return tuple(dict.fromkeys(code(row.intent_code) for row in self.hits))

    @property
    def collided(self) -> bool:
        """True when rows of several intents hit and none may win."""
        return self.winner is None and len(self.intents) > 1


def ordered_classifiers(snapshot: Snapshot) -> tuple[rows.Classifier, ...]:
    """Enabled rows of enabled intents, by priority, then id. ANY and UNKNOWN are no results."""
    return snapshot.memo.get(
        "classifiers",
        lambda: tuple(
            sorted(
                (
                    row
                    for row in snapshot.enabled(rows.Classifier)
                    if snapshot.is_active(row.intent_code) and code(row.intent_code) not in (ANY, UNKNOWN, "")
                ),
                key=lambda row: (row.priority, row.classifier_id),
            )
        ),
    )


def _places(snapshot: Snapshot) -> Mapping[Hashable, int]:
    """Where each row stands in that order, by its id: hits are put in order without looking at the others."""
    return snapshot.memo.get(
        "classifier places",
        lambda: {row.classifier_id: place for place, row in enumerate(ordered_classifiers(snapshot))},
    )


def _invalid(snapshot: Snapshot) -> Mapping[rows.Classifier, Fault]:
    """The unusable rows of that order, and why; found once a snapshot."""
    invalid = classifier_bank(snapshot).invalid
    return snapshot.memo.get(
        "invalid classifiers",
        lambda: {r: invalid[r.classifier_id] for r in ordered_classifiers(snapshot) if r.classifier_id in invalid},
    )


def classifier_bank(snapshot: Snapshot) -> TextBank:
    """All classifier patterns at once; the rows' intents are looked at afterwards, so one table makes one bank."""
    return snapshot.table(rows.Classifier).memo.get(
        "bank",
        lambda: TextBank(
            (r.classifier_id, r.rule_type, r.pattern) for r in snapshot.enabled(rows.Classifier) if not r.is_semantic
        ),
    )


def _examples(snapshot: Snapshot) -> tuple[rows.Classifier, ...]:
    """The rows of that order that are examples; normally none."""
    return snapshot.memo.get(
        "classifier examples", lambda: tuple(row for row in ordered_classifiers(snapshot) if row.is_semantic)
    )


def classify(session: Session, turn: Turn, text: str | None) -> Classified:
    """Test all rows on the text; tell what hit in one DECISION event, then in the stage of the result."""
    snapshot = turn.snapshot
    ordered, places = ordered_classifiers(snapshot), _places(snapshot)
    found = classifier_bank(snapshot).hits(text)
    hits = tuple(ordered[place] for place in sorted(places[key] for key in found if key in places))
    for row, fault in _invalid(snapshot).items():
        turn.row_invalid(session, row, fault)
    compared = None if hits else _compared(session, turn, text)
    hits = compared.hits if compared else hits
    result = Classified(hits, _winner(hits, turn.config(session, COLLISION_BY_PRIORITY)), compared)
    if snapshot.rows(rows.Classifier):
        turn.decide(
            session,
            DecisionKind.CLASSIFIER,
            key={"queryRewritten": text != session.user_text, **({"semantic": compared.reason} if compared else {})},
            winner=result.winner,
            candidates=[*(_candidate(row, result) for row in hits), *(compared.candidates() if compared else ())],
            cut=_cut(snapshot, result),
        )
    _tell(session, turn, result)
    return result


def state_after(session: Session, turn: Turn, row: rows.Classifier) -> str | None:
    """The state that a hit leads to, null to leave it: a keyword must not throw a flow back (14.4, fix W-38)."""
    wanted = code(row.state_code) or UNKNOWN
    same_intent = code(session.intent) == code(row.intent_code)
    if wanted == ANY or (same_intent and wanted == UNKNOWN):
        return None
    if not same_intent or not state_resolved(session.state):
        return wanted
    return wanted if resolved(wanted) and turn.config(session, OVERRIDE_STATE_ON_SAME_INTENT) else None


def _winner(hits: Sequence[rows.Classifier], by_priority: bool) -> rows.Classifier | None:
    if not hits:
        return None
    others = [row for row in hits if code(row.intent_code) != code(hits[0].intent_code)]
    if not others or (by_priority and min(row.priority for row in others) > hits[0].priority):
        return hits[0]
    return None


def _compared(session: Session, turn: Turn, text: str | None) -> Compared | None:
    """What the rows of examples say; null where there are none, or nothing to compare. Unusable ones are told."""
    found = _examples(turn.snapshot)
    if not found or text is None or blank(text):
        return None
    compared = compare(session, turn, text, found)
    if compared.problem:
        for row in found:
            turn.row_invalid(session, row, unavailable(compared.problem))
    return compared


def _candidate(row: rows.Classifier, result: Classified) -> Candidate:
    compared = result.compared.operands(row) if result.compared else None
    operands = (compared,) if compared else ()
    if row is result.winner:
        return Candidate(row.classifier_id, True, None, operands)
    same = result.winner is not None and code(row.intent_code) == code(result.winner.intent_code)
    reason = "LOWER_PRIORITY" if result.winner is not None or same else "INTENT_COLLISION"
    return Candidate(row.classifier_id, False, reason, operands)


def _cut(snapshot: Snapshot, result: Classified) -> dict[str, int]:
    """How many rows each reason kept out, beside those that are told."""
    enabled, ordered = len(snapshot.enabled(rows.Classifier)), len(ordered_classifiers(snapshot))
    invalid, off = len(_invalid(snapshot)), switched_off(snapshot, rows.Classifier)
    alike, compared = len(_examples(snapshot)), result.compared
    by_text, near = (0, len(compared.near)) if compared else (len(result.hits), 0)
    return {
        **off,
        "INTENT_DISABLED": enabled - ordered,
        ROW_INVALID: off[ROW_INVALID] + invalid,
        "PATTERN": ordered - alike - by_text - invalid,
        compared.reason if compared else NOT_ASKED: alike - near,
    }


def _tell(session: Session, turn: Turn, result: Classified) -> None:
    matched = {str(row.classifier_id): row.intent_code for row in result.hits}
    if result.winner is not None:
        turn.audit(
            session,
            Stage.INTENT_CLASSIFICATION_MATCHED,
            intent=result.winner.intent_code,
            state=state_after(session, turn, result.winner) or session.state,
            matchedByRule=matched,
        )
    elif result.collided:
        turn.audit(
            session,
            Stage.INTENT_CLASSIFIER_COLLISION,
            userText=session.user_text,
            matchedIntents=list(result.intents),
            matchedByRule=matched,
        )
    else:
        turn.audit(
            session,
            Stage.INTENT_CLASSIFIER_NO_MATCH,
            userText=session.user_text,
            intent=session.intent,
            state=session.state,
        )
