"""Find the intent by phrases and patterns, without a model."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from convengine.engine.forms.life import ClearCause, asks_for_consent, clears_on, is_final_state
from convengine.engine.forms.session_form import find_schema
from convengine.engine.rules.text_bank import TextBank
from convengine.engine.rules.verdict import INTENT_DISABLED, NOT_ASKED, PHRASE_NOT_BEST, ROW_INVALID, count_switched_off
from convengine.engine.steps.intents.compare_sentences import UNLISTED, PhraseResult, build_comparison, compare_phrases
from convengine.engine.steps.intents.settings import (
    COLLISION_BY_PRIORITY,
    DEFAULT_ORDER,
    ORDER,
    OVERRIDE_STATE_ON_SAME_INTENT,
)
from convengine.engine.steps.intents.stages import (
    INTENT_CLASSIFICATION_MATCHED,
    INTENT_CLASSIFIER_COLLISION,
    INTENT_CLASSIFIER_NO_MATCH,
    INTENT_CLASSIFIER_SUBSTITUTED,
)
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import ClassifierType, DecisionKind
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.scope import ANY, UNKNOWN, is_resolved, is_state_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Candidate, Turn
from convengine.engine.understanding.phrases.matching import match_phrases
from convengine.json_value import Json


@dataclass(frozen=True)
class Classification:
    """The result: one intent by its first row, several intents, or nothing."""

    hits: tuple[rows.Classifier, ...]
    winner: rows.Classifier | None
    #: The comparison with phrases, if it was made.
    comparison: PhraseResult | None = None
    #: Types of patterns that were not tried, because an earlier group matched.
    untried: tuple[ClassifierType, ...] = ()
    #: Only the rows that are tried while a form is open took part.
    interrupting: bool = False
    #: Of several answers, of which each leads back to what is open, the best phrase was chosen.
    by_score: bool = False

    @property
    def intents(self) -> tuple[str, ...]:
        """The distinct matching intents, in row order."""
        return tuple(dict.fromkeys(code(row.intent_code) for row in self.hits))

    @property
    def has_collision(self) -> bool:
        """True when rows of several intents match."""
        return self.winner is None and len(self.intents) > 1

    @property
    def details(self) -> Mapping[str, Json]:
        """What the comparison that matched says besides the rows."""
        return self.comparison.details if self.comparison else {}

    @property
    def score(self) -> float:
        """How well the best phrase matches. 0 if no phrase was compared."""
        return float(self.details.get("score", 0))

    @property
    def best_score(self) -> float:
        """The best confidence, also of an intent that is not sure."""
        return self.comparison.best_score if self.comparison else 0.0

    @property
    def askable(self) -> tuple[rows.Classifier, ...]:
        """The rows whose intents the user is asked about, as no row matches."""
        return self.comparison.askable if self.comparison and not self.hits else ()


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
    """The index of each row in `order_classifiers`, by id, to sort matches without visiting other rows."""
    return snapshot.memo.get(
        "classifier places",
        lambda: {row.classifier_id: position for position, row in enumerate(order_classifiers(snapshot))},
    )


def _find_invalid(snapshot: Snapshot) -> Mapping[rows.Classifier, Fault]:
    """The patterns that cannot be used, with the reason; computed once per snapshot."""
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
            (r.classifier_id, r.rule_type, r.pattern) for r in snapshot.enabled_rows(rows.Classifier) if r.is_pattern
        ),
    )


def list_compared_rows(snapshot: Snapshot, *, interrupting: bool = False) -> tuple[rows.Classifier, ...]:
    """The phrases, in the order of `order_classifiers`; if `interrupting`, only those tried beside a form."""
    return snapshot.memo.get(
        ("compared classifiers", interrupting),
        lambda: tuple(row for row in _list_candidates(snapshot, interrupting) if row.is_phrase),
    )


def _list_candidates(snapshot: Snapshot, interrupting: bool) -> tuple[rows.Classifier, ...]:
    """The rows that may match: all in order, or only those that are tried while a form is open."""
    if not interrupting:
        return order_classifiers(snapshot)
    allowed = snapshot.interrupting_classifiers
    return snapshot.memo.get(
        "interrupting classifiers",
        lambda: tuple(row for row in order_classifiers(snapshot) if row.classifier_id in allowed),
    )


@cache
def list_groups(order: tuple[str, ...]) -> tuple[tuple[ClassifierType, ...], ...]:
    """The match types in the order of trying them; each group is tried together. Types that are left out follow."""
    chosen = [[ClassifierType(word) for word in group.split("+")] for group in order]
    known = {match_type for group in chosen for match_type in group}
    default = ([ClassifierType(word) for word in group.split("+")] for group in DEFAULT_ORDER)
    rest = ([match_type for match_type in group if match_type not in known] for group in default)
    return tuple(tuple(group) for group in (*chosen, *rest) if group)


def classify(
    session: Session,
    turn: Turn,
    text: str | None,
    *,
    interrupting: bool = False,
    answers: Collection[str] = (),
) -> Classification:
    """Test the rows on the text and record the matches in one DECISION event, then in the stage of the result.

    `interrupting`: a form keeps the intent, so only the rows that may interrupt it are tried. `answers`: intents that
    answer and lead back to what is open; of several, the best phrase decides, and none if two match equally.
    """
    for row, fault in _find_invalid(turn.snapshot).items():
        turn.audit_invalid_row(session, row, fault)
    compare = partial(_compare, session, turn, text, interrupting=interrupting)
    groups = list_groups(turn.config(session, ORDER))
    tried = _try_groups(turn.snapshot, text, groups, compare, interrupting=interrupting)
    winner = _choose_winner(tried.hits, turn.config(session, COLLISION_BY_PRIORITY))
    result = _choose_answer(session, replace(tried, winner=winner), answers)
    if turn.snapshot.rows(rows.Classifier):
        _audit_decision(session, turn, text, result)
    _audit_classification(session, turn, result)
    return result


def find_intents(snapshot: Snapshot, text: str | None) -> tuple[str, ...]:
    """The intents that a message means outside of forms; several if the user is asked, none if nothing matches."""
    classification = classify_text(snapshot, text)
    return classification.intents if classification.winner is None else (code(classification.winner.intent_code),)


def classify_text(snapshot: Snapshot, text: str | None) -> Classification:
    """What a message means outside of forms, without a session."""

    def compare() -> PhraseResult | None:
        return None if blank(text) else build_comparison(snapshot, match_phrases(snapshot, text))

    tried = _try_groups(snapshot, text, list_groups(live_settings.read(snapshot, ORDER).value), compare)
    winner = _choose_winner(tried.hits, live_settings.read(snapshot, COLLISION_BY_PRIORITY).value)
    return replace(tried, winner=winner)


def _try_groups(
    snapshot: Snapshot,
    text: str | None,
    groups: Sequence[Sequence[ClassifierType]],
    compare: Callable[[], PhraseResult | None],
    *,
    interrupting: bool = False,
) -> Classification:
    """The rows of the first group in which any matches, without a winner. `compare` compares with phrases."""
    hits: tuple[rows.Classifier, ...] = ()
    comparison: PhraseResult | None = None
    untried: list[ClassifierType] = []
    for group in groups:
        if hits:
            untried += [match_type for match_type in group if match_type is not ClassifierType.PHRASE]
            continue
        hits = _find_pattern_hits(snapshot, text, group, interrupting)
        if ClassifierType.PHRASE in group and (comparison := compare()):
            positions = _index_by_id(snapshot)
            hits = tuple(sorted((*hits, *comparison.hits), key=lambda row: positions[row.classifier_id]))
    return Classification(hits, None, comparison, tuple(untried), interrupting)


def _choose_answer(session: Session, result: Classification, answers: Collection[str]) -> Classification:
    """The result with the best answer as winner, if several intents match, and all but the current one are `answers`.

    It is unchanged if two of them match equally.
    """
    scores: dict[rows.Classifier, float] = {
        compared.row: float(str(compared.operands.get("score", 0)))
        for compared in (result.comparison.near if result.comparison else ())
    }
    others = [row for row in result.hits if code(row.intent_code) != code(session.intent)]
    intents = {code(row.intent_code) for row in others}
    if not result.has_collision or not intents or not intents.issubset(answers):
        return result
    ranked = sorted(others, key=lambda row: -scores.get(row, 0))
    best, rivals = ranked[0], [row for row in ranked if code(row.intent_code) != code(ranked[0].intent_code)]
    if rivals and scores.get(rivals[0], 0) >= scores.get(best, 0):
        return result
    return replace(result, winner=best, by_score=True)


def _find_pattern_hits(
    snapshot: Snapshot, text: str | None, group: Sequence[ClassifierType], interrupting: bool
) -> tuple[rows.Classifier, ...]:
    """The rows of a group's types whose pattern matches, in order; none for a group of phrases only."""
    if group == (ClassifierType.PHRASE,):
        return ()
    ordered, positions = order_classifiers(snapshot), _index_by_id(snapshot)
    keys = get_classifier_bank(snapshot).hits(text)
    hits = (ordered[position] for position in sorted(positions[key] for key in keys if key in positions))
    allowed = snapshot.interrupting_classifiers if interrupting else None
    return tuple(
        row for row in hits if code(row.rule_type) in group and (allowed is None or row.classifier_id in allowed)
    )


def list_matching_patterns(snapshot: Snapshot, text: str | None) -> tuple[rows.Classifier, ...]:
    """The rows whose pattern matches, of any type, in order."""
    return _find_pattern_hits(snapshot, text, tuple(ClassifierType), interrupting=False)


def _compare(session: Session, turn: Turn, text: str | None, *, interrupting: bool) -> PhraseResult | None:
    """Compare the text with the phrases. Returns None without a text or without phrases."""
    if text is None or blank(text) or not list_compared_rows(turn.snapshot.whole, interrupting=interrupting):
        return None
    return compare_phrases(session, turn, text, interrupting=interrupting)


def _audit_decision(session: Session, turn: Turn, text: str | None, result: Classification) -> None:
    """Record the decision between the rows, with those that lost and how many took no part."""
    key = {"phrases": UNLISTED} if result.comparison else {}
    turn.decide(
        session,
        DecisionKind.CLASSIFIER,
        key={
            "queryRewritten": text != session.user_text and not result.interrupting,
            **key,
            **({"untried": list(result.untried)} if result.untried else {}),
            **({"interrupting": True, "userText": text} if result.interrupting else {}),
        },
        winner=result.winner,
        candidates=[
            *(_build_candidate(row, result) for row in result.hits),
            *(result.comparison.candidates() if result.comparison else ()),
        ],
        cut=_count_excluded(turn.snapshot, result),
    )


def choose_state(session: Session, turn: Turn, row: rows.Classifier) -> str | None:
    """The new state after a match. Returns None to keep the state: a keyword must not restart a flow."""
    wanted = code(row.state_code) or UNKNOWN
    if wanted == ANY or (wanted == UNKNOWN and code(session.intent) == code(row.intent_code)):
        return None
    return choose_first_state(session, turn, code(row.intent_code), wanted, OVERRIDE_STATE_ON_SAME_INTENT)


def choose_first_state(session: Session, turn: Turn, intent: str, first: str, resets: Setting[bool]) -> str | None:
    """The state after the intent was recognised, which begins in `first`. Returns None to keep the state.

    `resets`: the setting by which an intent that is recognised again begins again.
    """
    if code(session.intent) != intent or begins_again(session, turn, first) or not is_state_resolved(session.state):
        return first
    return first if is_resolved(first) and turn.config(session, resets) else None


def begins_again(session: Session, turn: Turn, state: str) -> bool:
    """True when the intent is done and begins again: its form (`x-clear`: RESTART), or its question without a form."""
    snapshot = turn.snapshot
    if not is_final_state(snapshot, session.intent, session.state):
        return False
    schema = find_schema(snapshot, session.intent, state)
    return clears_on(schema, ClearCause.RESTART) if schema else asks_for_consent(snapshot, session.intent, state)


def _choose_winner(hits: Sequence[rows.Classifier], by_priority: bool) -> rows.Classifier | None:
    """The first row, if all are of one intent, or if `by_priority` it alone has the lowest number. Else None."""
    if not hits:
        return None
    others = [row for row in hits if code(row.intent_code) != code(hits[0].intent_code)]
    if not others or (by_priority and min(row.priority for row in others) > hits[0].priority):
        return hits[0]
    return None


def _build_candidate(row: rows.Classifier, result: Classification) -> Candidate:
    """A matching row for the record of the decision, with the reason why it lost."""
    compared = result.comparison.operands(row) if result.comparison else None
    operands = (compared,) if compared else ()
    if row is result.winner:
        return Candidate(row.classifier_id, True, None, operands)
    reason = "LOWER_PRIORITY" if result.winner is not None else "INTENT_COLLISION"
    reason = PHRASE_NOT_BEST if result.by_score else reason
    return Candidate(row.classifier_id, False, reason, operands)


def _count_excluded(snapshot: Snapshot, result: Classification) -> dict[str, int]:
    """How many rows each reason excluded, besides the listed ones."""
    enabled, in_use = len(snapshot.enabled_rows(rows.Classifier)), len(order_classifiers(snapshot))
    candidates = _list_candidates(snapshot, result.interrupting)
    ordered, off = len(candidates), count_switched_off(snapshot, rows.Classifier)
    allowed = snapshot.interrupting_classifiers if result.interrupting else None
    invalid = sum(allowed is None or row.classifier_id in allowed for row in _find_invalid(snapshot))
    listed = {row.classifier_id for row in result.hits}
    compared = len(list_compared_rows(snapshot, interrupting=result.interrupting))
    near = {each.row.classifier_id for each in result.comparison.near} if result.comparison else set()
    by_reason = Counter({UNLISTED if result.comparison else NOT_ASKED: compared - len(near)})
    listed -= near
    untried = sum(_count_by_type(snapshot, result.interrupting)[match_type] for match_type in result.untried)
    by_reason[NOT_ASKED] += untried + in_use - ordered
    return {
        **off,
        INTENT_DISABLED: enabled - in_use - len(result.comparison.elsewhere if result.comparison else ()),
        ROW_INVALID: off[ROW_INVALID] + invalid,
        "PATTERN": ordered - compared - len(listed) - invalid - untried,
        **by_reason,
    }


def _count_by_type(snapshot: Snapshot, interrupting: bool) -> Mapping[str, int]:
    """How many usable rows that may match have each match type."""
    invalid = _find_invalid(snapshot)
    return snapshot.memo.get(
        ("classifiers by type", interrupting),
        lambda: Counter(code(row.rule_type) for row in _list_candidates(snapshot, interrupting) if row not in invalid),
    )


def _audit_classification(session: Session, turn: Turn, result: Classification) -> None:
    """Record the result in its stage. Beside a form, no match is not recorded."""
    if result.comparison and result.comparison.substitution:
        turn.audit(session, INTENT_CLASSIFIER_SUBSTITUTED, reason=result.comparison.substitution)
    matched = {str(row.classifier_id): row.intent_code for row in result.hits}
    if result.winner is not None:
        turn.audit(
            session,
            INTENT_CLASSIFICATION_MATCHED,
            intent=result.winner.intent_code,
            state=choose_state(session, turn, result.winner) or session.state,
            matchedByRule=matched,
            **result.details,
        )
    elif result.has_collision:
        turn.audit(
            session,
            INTENT_CLASSIFIER_COLLISION,
            userText=session.user_text,
            matchedIntents=list(result.intents),
            matchedByRule=matched,
        )
    elif not result.interrupting:
        turn.audit(
            session,
            INTENT_CLASSIFIER_NO_MATCH,
            userText=session.user_text,
            intent=session.intent,
            state=session.state,
        )
