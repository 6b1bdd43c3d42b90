"""Phrases that an intent gets: their rows, and what of them the configuration has already."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from config_admin.flows.faq.sheet import fold_question
from config_admin.transfer.document import Document, ImportMode, locate_rows
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.snapshot import Snapshot


@dataclass(frozen=True)
class Lesson:
    intent: str
    state: str
    phrases: tuple[str, ...]

    def make_document(self) -> Document:
        """The rows of the phrases."""
        phrase_rows = [
            {
                "intent_code": self.intent,
                "state_code": self.state,
                "rule_type": ClassifierType.PHRASE.value,
                "pattern": phrase,
            }
            for phrase in self.phrases
        ]
        return Document(locate_rows({rows.Classifier.table: phrase_rows}), ImportMode.ADD)


def find_state(snapshot: Snapshot, intent: str) -> str:
    """The state that most phrases of the intent lead to, or led to while they were enabled."""
    for phrases in (snapshot.enabled_rows(rows.Classifier), snapshot.rows(rows.Classifier)):
        states = Counter(code(row.state_code) for row in phrases if code(row.intent_code) == intent)
        if states:
            return states.most_common(1)[0][0]
    return UNKNOWN


def find_disabled_phrase(snapshot: Snapshot, intent: str, phrases: Iterable[str]) -> rows.Classifier | None:
    """A row of the intent that has one of the phrases, and is switched off. Returns None if there is none."""
    wanted = {fold_question(phrase) for phrase in phrases}
    enabled = set(snapshot.enabled_rows(rows.Classifier))
    return next(
        (
            row
            for row in snapshot.rows(rows.Classifier)
            if row not in enabled
            and row.is_phrase
            and code(row.intent_code) == intent
            and fold_question(row.pattern or "") in wanted
        ),
        None,
    )


def drop_known_phrases(snapshot: Snapshot, intent: str, phrases: Iterable[str]) -> list[str]:
    own = (row for row in snapshot.enabled_rows(rows.Classifier) if row.is_phrase and code(row.intent_code) == intent)
    known = {fold_question(row.pattern or "") for row in own}
    new: dict[str, str] = {}
    for phrase in phrases:
        folded = fold_question(phrase)
        if folded and folded not in known:
            new.setdefault(folded, phrase.strip())
    return list(new.values())
