"""Cross-validation: each phrase is decided on as a message, by the other phrases alone."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from convengine.engine.text.compare import code, fold
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.evaluation.intents import build_decider, name_intents
from convengine.evaluation.measures import IntentOutcome

#: Each phrase is left out once, with a fifth of the others.
FOLDS = 5
#: Gets how many phrases are done, and of how many.
Progress = Callable[[int, int], None]


@dataclass
class CrossValidation:
    """What the phrases lead to without themselves."""

    outcomes: list[IntentOutcome] = field(default_factory=list)
    #: Intents with a single phrase: without it they have none.
    single: list[str] = field(default_factory=list)


def cross_validate(
    phrases: Sequence[rows.Classifier],
    snapshot: Snapshot | None = None,
    *,
    folds: int = FOLDS,
    report: Progress = lambda done, total: None,
) -> CrossValidation:
    """Decide on each phrase by those of the other parts; the parts are the same for the same phrases.

    `snapshot`: its patterns and forms take part.
    """
    names, (parts, single) = name_intents(phrases), _split(phrases, folds)
    result, total = CrossValidation(single=single), sum(map(len, parts))
    for part in parts:
        left_out = {row.classifier_id for row in part}
        decide = build_decider([row for row in phrases if row.classifier_id not in left_out], snapshot)
        for row in part:
            decision = decide(row.pattern or "")
            intent = names[code(row.intent_code)]
            result.outcomes.append(IntentOutcome(row.pattern or "", intent, decision, row.classifier_id))
            report(len(result.outcomes), total)
    return result


def _split(phrases: Sequence[rows.Classifier], folds: int) -> tuple[list[list[rows.Classifier]], list[str]]:
    """The parts, each with phrases of all intents, and the intents with a single phrase.

    The same text, also in two intents, is in one part: otherwise it would be decided on by itself.
    """
    by_intent: defaultdict[str, dict[str, list[rows.Classifier]]] = defaultdict(dict)
    for row in phrases:
        by_intent[code(row.intent_code)].setdefault(" ".join(fold(row.pattern or "").split()), []).append(row)
    part_of: dict[str, int] = {}
    parts: list[list[rows.Classifier]] = [[] for _ in range(folds)]
    for texts in by_intent.values():
        for number, (text, same) in enumerate(texts.items() if len(texts) > 1 else ()):
            parts[part_of.setdefault(text, number % folds)] += same
    single = [
        row.intent_code for texts in by_intent.values() if len(texts) == 1 for row in next(iter(texts.values()))[:1]
    ]
    return [part for part in parts if part], single
