"""What somebody may say in a moment: texts that rules want, and that bring the turn to the phase."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from config_admin.health.rules import dry
from config_admin.health.rules.claims import FactClaim
from config_admin.health.rules.scene import Stage
from config_admin.health.texts.wish import FITS, FITS_CASE, Text, Wish, text_for
from config_admin.validation import relations
from convengine.domain import rows
from convengine.domain.catalogue.dialogue import REGEX_AFFIRM, REGEX_EDIT, REGEX_GREETING, REGEX_NEGATE
from convengine.domain.enums import DialogueAct, RulePhase
from convengine.domain.session import Session
from convengine.domain.settings import Setting
from convengine.domain.text import code
from convengine.intents.classifiers import classifier_bank
from convengine.intents.policies import policy_bank
from convengine.rules.bank import REGEX, RULE_EXACT
from convengine.rules.json_path.nodes import Compare, Literal, Matches

#: What is wanted of the text, and what is not wanted.
Wished = tuple[list[Wish], list[Wish]]
_BY_ACT: Mapping[str, Setting[str]] = {
    DialogueAct.AFFIRM: REGEX_AFFIRM,
    DialogueAct.NEGATE: REGEX_NEGATE,
    DialogueAct.EDIT: REGEX_EDIT,
    DialogueAct.GREETING: REGEX_GREETING,
}
_QUESTION = Wish(REGEX, r"\w\?\s*\z")
#: Words that mean nothing in particular, where any text will do.
_PLAIN = "what do you mean?"
#: Classifiers of an intent that are tried, and texts that are put right once more.
_CLASSIFIERS, _TRIES = 4, 3


def add(wished: Wished, claim: FactClaim) -> None:
    """Take in what a path claims of the text; what no pattern says is left to the engine to judge."""
    match claim.condition:
        case Matches(_, pattern):
            kind = FITS if pattern.ignore_case else FITS_CASE
            wished[not claim.holds].append(Wish(kind, pattern.text))
        case Compare(_, "==" | "!=" as op, Literal(str() as text)):
            wished[(op == "==") is not claim.holds].append(Wish(FITS_CASE, rf"\Q{text}\E"))
        case Compare(_, "contains", Literal(str() as text)):
            wished[not claim.holds].append(Wish(FITS_CASE, rf"(?s).*\Q{text}\E.*"))


def texts(stage: Stage, phase: RulePhase, intent: str, wished: Wished, act: str | None) -> Iterator[Text]:
    """Texts that fulfil what is wished, mean the act, and let the turn come to the phase."""
    wanted, unwanted = wished
    for more in _brought_by(stage, phase, intent):
        meaning = _meaning(stage, act) if act is not None else None
        # The words that mean the act first; a model may take any others for it.
        for said in ([meaning], []) if meaning else ([],):
            found = _put_right(stage, phase, intent, [*said, *wanted, *more], unwanted)
            if found is not None:
                yield found


def _brought_by(stage: Stage, phase: RulePhase, intent: str) -> list[list[Wish]]:
    """What brings a turn to the phase: after a classifier's decision, a text that one of the intent's hits."""
    if phase != RulePhase.POST_CLASSIFIER_INTENT:
        return [[]]
    own = relations.of_intent(stage.snapshot, rows.Classifier, intent)
    found = [[Wish(code(row.rule_type), row.pattern or "")] for row in own if not row.is_semantic]
    return [*found[:_CLASSIFIERS], *([[]] if len(found) < len(own) else [])]


def _put_right(stage: Stage, phase: RulePhase, intent: str, wanted: list[Wish], unwanted: list[Wish]) -> Text | None:
    """A text, found anew without whatever keeps its turn from coming so far."""
    if not wanted and not unwanted:
        wanted = [Wish(RULE_EXACT, _PLAIN)]
    for _ in range(_TRIES):
        found = _text_for(tuple(wanted), tuple(unwanted))
        if found is None:
            return None
        in_the_way = _in_the_way(stage, phase, intent, found.text)
        if not in_the_way:
            return found
        unwanted = [*unwanted, *in_the_way]
    return None


def _in_the_way(stage: Stage, phase: RulePhase, intent: str, text: str) -> list[Wish]:
    """The policies that would end the turn, and the classifiers of other intents that would undecide it."""
    snapshot = stage.snapshot
    policies = snapshot.table(rows.Policy).by_pk
    found = [policies[pk] for pk in policy_bank(snapshot).hits(text)]
    wishes = [Wish(code(row.rule_type), row.pattern or "") for row in found if isinstance(row, rows.Policy)]
    if phase == RulePhase.POST_CLASSIFIER_INTENT:
        by_pk = snapshot.table(rows.Classifier).by_pk
        rivals = [by_pk[pk] for pk in classifier_bank(snapshot).hits(text)]
        wishes += [
            Wish(code(row.rule_type), row.pattern or "")
            for row in rivals
            if isinstance(row, rows.Classifier) and code(row.intent_code) != code(intent)
        ]
    return wishes


def _meaning(stage: Stage, act: str) -> Wish | None:
    """What makes the engine's patterns take a text for the act."""
    if act == DialogueAct.QUESTION:
        return _QUESTION
    setting = _BY_ACT.get(act)
    if setting is None:
        return None
    return Wish(FITS, dry.turn(stage.snapshot).config(Session("health"), setting))


@lru_cache(maxsize=16384)
def _text_for(wanted: tuple[Wish, ...], unwanted: tuple[Wish, ...]) -> Text | None:
    return text_for(wanted, unwanted)
