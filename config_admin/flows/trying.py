"""Try sentences on the unsaved phrases of a flow: which intent understands each, and why."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from config_admin.editing.phrase_reasons import describe_match, describe_needed_score
from config_admin.flows.flows import number_question
from config_admin.flows.reading import FlowReading
from config_admin.validation.phrase_overlaps import PhraseOverlap, find_phrase_overlap
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.steps.intents.classifiers import get_classifier_bank, order_classifiers
from convengine.engine.text.compare import code, shorten
from convengine.engine.text.wording import join_names
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.engine.understanding.phrases.index import IntentMatch
from convengine.engine.understanding.phrases.matching import PhraseMatches, match_phrases

#: How many sentences are tried at once, and how many stored messages are suggested.
MAX_SENTENCES, MAX_SUGGESTIONS = 10, 10
#: How many phrases are compared with those of other intents.
MAX_COMPARED = 100
#: The code of a flow without a valid code.
_NO_CODE = "THIS_FLOW"


@dataclass(frozen=True)
class TriedSentence:
    """What a sentence would lead to."""

    text: str
    #: own, other, several or nobody.
    outcome: str
    headline: str
    reasons: Sequence[str]


@dataclass(frozen=True)
class SuggestedMessage:
    """A stored message that no intent understood, and that shares words with the flow."""

    text: str
    reason: str


class PhraseTrial:
    """A configuration with the phrases of a flow as they are on the page."""

    def __init__(
        self,
        snapshot: Snapshot,
        reading: FlowReading | None,
        flow_code: str,
        title: str,
        phrases: Sequence[str],
        questions: Sequence[Sequence[str]] = (),
    ) -> None:
        self._code = code(flow_code) or _NO_CODE
        self._questions = {
            number_question(self._code, number): phrasings for number, phrasings in enumerate(questions, 1)
        }
        named = {
            self._code: title or "This flow",
            **{name: lines[0] for name, lines in self._questions.items() if lines},
        }
        self._phrases = frozenset(phrases)
        self._snapshot = _overlay_phrases(snapshot, reading, named, {self._code: phrases, **self._questions})

    def try_sentences(self, sentences: Iterable[str]) -> list[TriedSentence]:
        """What each sentence would lead to, as a first message."""
        return [self._try_sentence(text) for text in list(sentences)[:MAX_SENTENCES]]

    def suggest_messages(self, messages: Iterable[str]) -> list[SuggestedMessage]:
        """The messages that come nearest to the flow without being understood by it, best first."""
        near: list[tuple[float, str, str]] = []
        for text in dict.fromkeys(messages):
            matches = match_phrases(self._snapshot, text)
            own = next((match for match in (*matches.hits, *matches.near) if match.intent == self._code), None)
            if own and text not in self._phrases and not self._is_understood(matches):
                near.append((-own.score, text, self._describe_match(own, text)))
        return [SuggestedMessage(text, reason) for _, text, reason in sorted(near)[:MAX_SUGGESTIONS]]

    def find_overlaps(self, intent_code: str = "") -> list[tuple[str, PhraseOverlap]]:
        """The phrases of the flow, or of a question beside it, that other intents match, too."""
        own = intent_code or self._code
        listed = [row for row in self._snapshot.enabled_rows(rows.Classifier) if row.is_phrase]
        mine = [row for row in listed if code(row.intent_code) == own][:MAX_COMPARED]
        overlaps = ((row.pattern or "", find_phrase_overlap(self._snapshot, row)) for row in mine)
        return [(phrase, overlap) for phrase, overlap in overlaps if overlap]

    @property
    def question_codes(self) -> list[str]:
        """The intents of the questions beside the flow, in the order of the page."""
        return list(self._questions)

    def _is_understood(self, matches: PhraseMatches) -> bool:
        return [match.intent for match in matches.hits] == [self._code]

    def _try_sentence(self, text: str) -> TriedSentence:
        matches = match_phrases(self._snapshot, text)
        reasons = [self._describe_match(match, text) for match in (*matches.hits, *matches.near)[:3]]
        reasons.append(describe_needed_score(self._snapshot, matches))
        if patterns := self._find_patterns(text):
            intents = list(dict.fromkeys(code(row.intent_code) for row in patterns))
            described = [
                f"{get_intent_name(self._snapshot, code(row.intent_code))}: its pattern {row.pk} matches"
                f" ({shorten(row.description or row.pattern or '', 60)})."
                for row in patterns[:3]
            ]
            reasons = [*described, "Patterns are tried before phrases.", *reasons]
        else:
            intents = [match.intent for match in matches.hits]
        if not reasons[:-1]:
            reasons = ["No intent has a phrase with one of its words."]
        return TriedSentence(text, *self._describe_outcome(intents), reasons)

    def _find_patterns(self, text: str) -> list[rows.Classifier]:
        hits = get_classifier_bank(self._snapshot).hits(text)
        return [row for row in order_classifiers(self._snapshot) if row.pk in hits]

    def _describe_outcome(self, intents: Sequence[str]) -> tuple[str, str]:
        if not intents:
            return "nobody", "Not understood"
        if len(intents) > 1:
            return (
                "several",
                f"The user is asked: {join_names([get_intent_name(self._snapshot, intent) for intent in intents])}",
            )
        if intents[0] == self._code:
            return "own", "This flow"
        if intents[0] in self._questions:
            return "own", f"Answered beside the flow: “{self._questions[intents[0]][0]}”"
        return "other", f"Another intent: {get_intent_name(self._snapshot, intents[0])}"

    def _describe_match(self, match: IntentMatch, text: str) -> str:
        return describe_match(
            "This flow" if match.intent == self._code else get_intent_name(self._snapshot, match.intent), match, text
        )


def _overlay_phrases(
    snapshot: Snapshot, reading: FlowReading | None, named: Mapping[str, str], phrases: Mapping[str, Sequence[str]]
) -> Snapshot:
    """The configuration as if the phrases of the page were stored."""
    replaced = {row.pk for row in reading.stored.values() if isinstance(row, rows.Classifier)} if reading else set()
    stored = snapshot.rows(rows.Classifier)
    first = max((row.classifier_id for row in stored), default=0) + 1
    classifiers: list[rows.Row] = [row for row in stored if row.pk not in replaced]
    classifiers += _make_classifiers(phrases, first)
    intents: dict[str, Any] = {row.pk: row for row in snapshot.rows(rows.Intent)}
    for intent_code, name in named.items():
        known = intents.get(intent_code)
        intents[intent_code] = (
            replace(known, enabled=True) if known else rows.Intent(intent_code=intent_code, display_name=name)
        )
    tables = {
        **snapshot.tables,
        rows.Classifier.table: Table(rows.Classifier.table, classifiers),
        rows.Intent.table: Table(rows.Intent.table, [intents[pk] for pk in sorted(intents)]),
    }
    return Snapshot(snapshot.config_version, tables, snapshot.defaults)


def _make_classifiers(phrases: Mapping[str, Sequence[str]], first: int) -> Iterator[rows.Classifier]:
    pairs = [(intent, phrase) for intent, lines in phrases.items() for phrase in lines]
    for number, (intent, phrase) in enumerate(pairs, first):
        yield rows.Classifier(classifier_id=number, intent_code=intent, rule_type="PHRASE", pattern=phrase)
