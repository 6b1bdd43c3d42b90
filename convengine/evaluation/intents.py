"""Which intent a message means by a set of phrases: the one place through which evaluations ask it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from convengine.engine.steps.intents.classifiers import Classification, classify_text
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.engine.understanding.phrases.encoders import NO_VECTORS
from convengine.engine.understanding.phrases.models import Making, choose_making
from convengine.evaluation.read import EvaluationError
from convengine.json_value import Json


@dataclass(frozen=True)
class RankedIntent:
    """An intent that a message may mean."""

    intent: str
    confidence: float
    #: The phrase or pattern that speaks for it: its id among the given ones, and its text.
    phrase_id: int
    phrase: str
    is_pattern: bool = False


@dataclass(frozen=True)
class IntentDecision:
    """What a message means: one intent, several if the user is asked which one, or nothing."""

    intents: tuple[str, ...] = ()
    #: The intents that came into question, best first.
    ranked: tuple[RankedIntent, ...] = ()
    #: Nothing is sure, and the user is asked about intents that are near: "Do you mean …?"
    is_near: bool = False

    @property
    def is_question(self) -> bool:
        """True when the user is asked."""
        return self.is_near or len(self.intents) > 1

    @property
    def confidence(self) -> float:
        """That of the best intent; 0 when no intent came into question."""
        return self.ranked[0].confidence if self.ranked else 0.0

    def to_json(self) -> dict[str, Json]:
        """The decision as it is printed; the keys are a stable interface."""
        intents = list(self.intents)
        return {
            "decision": (intents if self.is_question else intents[0]) if intents else None,
            "confidence": self.confidence,
            "ranked": [[ranked.intent, ranked.confidence] for ranked in self.ranked],
        }


#: Decides on a message, as the first of a conversation.
Decider = Callable[[str], IntentDecision]


def build_decider(phrases: Iterable[rows.Classifier], snapshot: Snapshot | None = None) -> Decider:
    """Decide by these phrases; with a snapshot by its patterns and forms, too, but not by its own phrases.

    Intents are named as the phrases spell them.
    """
    given = tuple(phrases)
    if snapshot:
        others = (row for row in snapshot.rows(rows.Classifier) if not row.is_phrase)
        table = Table(rows.Classifier.table, sorted((*others, *given), key=lambda row: row.pk))
        snapshot = Snapshot(snapshot.config_version, {**snapshot.tables, table.name: table}, snapshot.defaults)
    else:
        intents = {code(row.intent_code): rows.Intent(intent_code=row.intent_code) for row in given}
        tables = (Table(rows.Intent.table, intents.values()), Table(rows.Classifier.table, given))
        snapshot = Snapshot(0, {table.name: table for table in tables})
    decide = decide_by(snapshot)

    def decide_alone(text: str) -> IntentDecision:
        # Nobody else needs what these phrases train.
        with choose_making(Making.OWN):
            return decide(text)

    return decide_alone


def decide_by(snapshot: Snapshot) -> Decider:
    """Decide by a whole configuration. The decider raises EvaluationError if the model of its vectors fails."""
    names = name_intents(snapshot.rows(rows.Classifier))

    def decide(text: str) -> IntentDecision:
        classification = classify_text(snapshot, text)
        if classification.comparison and classification.comparison.substitution == NO_VECTORS:
            raise EvaluationError("The embedding model gave no vectors, so nothing is measured. The log says why.")
        return _describe(classification, names)

    return decide


def name_intents(phrases: Iterable[rows.Classifier]) -> Mapping[str, str]:
    """The intents as the first phrase of each spells them, by their codes."""
    names: dict[str, str] = {}
    for row in phrases:
        names.setdefault(code(row.intent_code), row.intent_code)
    return names


def make_phrases(by_intent: Mapping[str, Sequence[str]]) -> tuple[rows.Classifier, ...]:
    """Phrases that are in no configuration, numbered from 1."""
    texts = [(intent, text) for intent, phrases in by_intent.items() for text in phrases]
    return tuple(
        rows.Classifier(classifier_id=number, intent_code=intent, rule_type=ClassifierType.PHRASE, pattern=text)
        for number, (intent, text) in enumerate(texts, 1)
    )


def _describe(classification: Classification, names: Mapping[str, str]) -> IntentDecision:
    compared = {
        entry.row.classifier_id: (entry.row, float(str(entry.operands["score"])))
        for entry in (classification.comparison.near if classification.comparison else ())
    }
    # A pattern either matches or does not.
    patterns = {row.classifier_id: (row, 1.0) for row in classification.hits if row.classifier_id not in compared}
    ranked: dict[str, RankedIntent] = {}
    for key, (row, confidence) in (patterns | compared).items():
        name = names[code(row.intent_code)]
        ranked.setdefault(name, RankedIntent(name, confidence, key, row.pattern or "", row.is_pattern))
    meant = classification.intents if classification.winner is None else (code(classification.winner.intent_code),)
    near = tuple(dict.fromkeys(code(row.intent_code) for row in classification.askable))
    return IntentDecision(
        tuple(names[intent] for intent in meant or near), tuple(ranked.values()), is_near=bool(near and not meant)
    )
