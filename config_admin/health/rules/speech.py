"""Possible messages: texts that rules need, and that bring the turn to the phase."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from config_admin.health.rules.claims import FactClaim
from config_admin.health.rules.simulator import TurnSimulator, make_turn
from config_admin.health.texts.predicate import FITS, FITS_CASE, Text, TextPredicate, find_text
from config_admin.validation import relations
from convengine.engine.dialogue.settings import REGEX_AFFIRM, REGEX_EDIT, REGEX_GREETING, REGEX_NEGATE
from convengine.engine.rules.json_path.nodes import Compare, Literal, Matches
from convengine.engine.rules.text_bank import REGEX, RULE_EXACT
from convengine.engine.steps.intents.classifiers import get_classifier_bank
from convengine.engine.steps.policy.step import get_policy_bank
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, RulePhase
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.session import Session

#: Predicates that a text must fulfil, and those that it must not.
TextPredicates = tuple[list[TextPredicate], list[TextPredicate]]
_BY_ACT: Mapping[str, Setting[str]] = {
    DialogueAct.AFFIRM: REGEX_AFFIRM,
    DialogueAct.NEGATE: REGEX_NEGATE,
    DialogueAct.EDIT: REGEX_EDIT,
    DialogueAct.GREETING: REGEX_GREETING,
}
_QUESTION = TextPredicate(REGEX, r"\w\?\s*\z")
#: A meaningless text, if any text will do.
_PLAIN = "what do you mean?"
#: Maximum phrases of an intent to try, and attempts to correct a text.
_CLASSIFIERS, _TRIES = 4, 3


def add_text_predicate(predicates: TextPredicates, claim: FactClaim) -> None:
    """Add the claims of a path about the text; the engine decides about others."""
    match claim.condition:
        case Matches(_, pattern):
            kind = FITS if pattern.ignore_case else FITS_CASE
            predicates[not claim.holds].append(TextPredicate(kind, pattern.text))
        case Compare(_, "==" | "!=" as op, Literal(str() as text)):
            predicates[(op == "==") is not claim.holds].append(TextPredicate(FITS_CASE, rf"\Q{text}\E"))
        case Compare(_, "contains", Literal(str() as text)):
            predicates[not claim.holds].append(TextPredicate(FITS_CASE, rf"(?s).*\Q{text}\E.*"))


def sample_texts(
    simulator: TurnSimulator, phase: RulePhase, intent: str, predicates: TextPredicates, act: str | None
) -> Iterator[Text]:
    """Texts that fulfil the predicates, have the act, and let the turn reach the phase."""
    wanted, unwanted = predicates
    for more in _classifier_predicates(simulator, phase, intent):
        meaning = _act_predicate(simulator, act) if act is not None else None
        # First with words for the act; a model may find it in any others.
        for act_predicates in ([meaning], []) if meaning else ([],):
            text = _find_unblocked_text(simulator, phase, intent, [*act_predicates, *wanted, *more], unwanted)
            if text is not None:
                yield text


def _classifier_predicates(simulator: TurnSimulator, phase: RulePhase, intent: str) -> list[list[TextPredicate]]:
    """What brings a turn to the phase: after a phrase decided, a text that matches one of the intent's."""
    if phase != RulePhase.POST_CLASSIFIER_INTENT:
        return [[]]
    own = relations.find_rows_of_intent(simulator.snapshot, rows.Classifier, intent)
    predicates = [
        [TextPredicate(RULE_EXACT if row.is_phrase else code(row.rule_type), row.pattern or "")]
        for row in own
        if not row.is_semantic
    ]
    return [*predicates[:_CLASSIFIERS], *([[]] if len(predicates) < len(own) else [])]


def _find_unblocked_text(
    simulator: TurnSimulator, phase: RulePhase, intent: str, wanted: list[TextPredicate], unwanted: list[TextPredicate]
) -> Text | None:
    """A text, searched again without what prevents its turn from reaching the phase."""
    if not wanted and not unwanted:
        wanted = [TextPredicate(RULE_EXACT, _PLAIN)]
    for _ in range(_TRIES):
        text = _find_text(tuple(wanted), tuple(unwanted))
        if text is None:
            return None
        blocking = _blocking_predicates(simulator, phase, intent, text.text)
        if not blocking:
            return text
        unwanted = [*unwanted, *blocking]
    return None


def _blocking_predicates(simulator: TurnSimulator, phase: RulePhase, intent: str, text: str) -> list[TextPredicate]:
    """The policies that would end the turn, and the phrases of other intents that would collide."""
    snapshot = simulator.snapshot
    policies = snapshot.table(rows.Policy).by_pk
    policy_rows = [policies[pk] for pk in get_policy_bank(snapshot).hits(text)]
    predicates = [
        TextPredicate(code(row.rule_type), row.pattern or "") for row in policy_rows if isinstance(row, rows.Policy)
    ]
    if phase == RulePhase.POST_CLASSIFIER_INTENT:
        by_pk = snapshot.table(rows.Classifier).by_pk
        rivals = [by_pk[pk] for pk in get_classifier_bank(snapshot).hits(text)]
        predicates += [
            TextPredicate(code(row.rule_type), row.pattern or "")
            for row in rivals
            if isinstance(row, rows.Classifier) and code(row.intent_code) != code(intent)
        ]
    return predicates


def _act_predicate(simulator: TurnSimulator, act: str) -> TextPredicate | None:
    """A text that the engine's patterns take for the act."""
    if act == DialogueAct.QUESTION:
        return _QUESTION
    setting = _BY_ACT.get(act)
    if setting is None:
        return None
    return TextPredicate(FITS, make_turn(simulator.snapshot).config(Session("health"), setting))


@lru_cache(maxsize=16384)
def _find_text(wanted: tuple[TextPredicate, ...], unwanted: tuple[TextPredicate, ...]) -> Text | None:
    return find_text(wanted, unwanted)
