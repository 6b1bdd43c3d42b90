"""The phrase index of a snapshot, and the intents that a message means by it."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from convengine.engine.text.compare import blank, code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.phrases.force import find_force, find_phrase_force
from convengine.engine.understanding.phrases.form_words import FormWords, read_form_words
from convengine.engine.understanding.phrases.index import (
    IntentMatch,
    Phrase,
    PhraseIndex,
    match_all,
)
from convengine.engine.understanding.phrases.settings import MARGIN, MIN_SCORE, SYNONYMS
from convengine.engine.understanding.phrases.terms import PhraseLanguage, Synonyms, list_phrase_languages

#: Maximum intents that are reported besides those that count.
MAX_REPORTED = 5
#: How much less a match counts beside others if message and phrase do different things: one asks, one states.
_OTHER_FORCE = 0.75
#: How much less must match of a question beside the current flow, and of the only intent that is asked about; and the
#: share of its score that other intents may have then.
_OWN, _ONLY, _RIVAL = 0.75, 0.85, 0.5


@dataclass(frozen=True)
class PhraseMatches:
    """The intents that a message means, best first, and those that came near."""

    hits: tuple[IntentMatch, ...] = ()
    near: tuple[IntentMatch, ...] = ()
    #: What a score must reach here: the minimum score, and the best score without the margin.
    min_score: float = 0.0

    def describe(self, match: IntentMatch) -> dict[str, object]:
        """The match as recorded values: the words that counted, each with its share, and the others."""
        return {
            "phrase": match.phrase.text,
            "score": match.score,
            "minScore": self.min_score,
            "words": {word.text: word.share for word in match.words},
            "otherWords": list(match.unmatched),
        }


def get_phrase_index(snapshot: Snapshot) -> PhraseIndex:
    """The index of all enabled phrases of enabled intents; built once per version of the tables."""
    return snapshot.memo.get("phrase index", lambda: _find_index(snapshot))


def _find_index(snapshot: Snapshot) -> PhraseIndex:
    synonyms = read_synonyms(snapshot)
    languages = list_phrase_languages(synonyms)
    listed = [row for row in snapshot.enabled_rows(rows.Classifier) if row.is_phrase and not blank(row.pattern)]
    in_use = frozenset(intent for intent in {code(row.intent_code) for row in listed} if _is_in_use(snapshot, intent))
    form_words = {intent: words for intent, words in read_form_words(snapshot, languages).items() if intent in in_use}

    def build() -> PhraseIndex:
        phrases = [
            Phrase(row.classifier_id, code(row.intent_code), row.pattern or "")
            for row in listed
            if code(row.intent_code) in in_use
        ]
        return PhraseIndex((*phrases, *_list_options(phrases, form_words)), languages, form_words)

    key = ("phrase index", in_use, synonyms, frozenset(form_words.items()))
    return snapshot.table(rows.Classifier).memo.get(key, build)


def _list_options(phrases: Iterable[Phrase], form_words: Mapping[str, FormWords]) -> Iterator[Phrase]:
    """The options of the form of each intent with phrases, under its first phrase."""
    first: dict[str, Phrase] = {}
    for phrase in phrases:
        first.setdefault(phrase.intent, phrase)
    for intent, phrase in first.items():
        for text in form_words[intent].texts if intent in form_words else ():
            yield Phrase(phrase.key, intent, text, is_option=True)


def match_phrases(
    snapshot: Snapshot, text: str | None, *, interrupting: bool = False, own: Collection[str] = ()
) -> PhraseMatches:
    """The intents that the text means by phrases. Several, if they are within the margin.

    `interrupting`: only phrases that are tried while a form is open count. `own`: the intents of the questions beside
    the current flow, of which less must match in a question.
    """
    readings = get_phrase_index(snapshot).read(text)
    forces = [find_force(understanding, phrases.language) for phrases, understanding in readings]
    choice = _Choice(
        live_settings.read(snapshot, MIN_SCORE).value,
        live_settings.read(snapshot, MARGIN).value,
        [(phrases.language, force) for (phrases, _), force in zip(readings, forces, strict=True)],
        snapshot.interrupting_classifiers if interrupting else None,
        own if Force.ASKS in forces else (),
    )
    return choice.choose(match_all(readings))


class _Choice(NamedTuple):
    """Which of the intents that share words with a message count."""

    min_score: float
    margin: float
    #: What the message does, by the languages that it may have.
    forces: Sequence[tuple[PhraseLanguage, Force]]
    #: The phrases that count; null for all.
    allowed: Collection[Hashable] | None
    #: The questions beside the current flow.
    own: Collection[str]

    def choose(self, candidates: Iterable[IntentMatch]) -> PhraseMatches:
        """The identical phrases, else the best intent and those within the margin."""
        matches = [match for match in candidates if self._may_count(match.phrase)]
        if not matches:
            return PhraseMatches(min_score=self.min_score)
        hits = tuple(match for match in matches if match.is_identical)
        needed = hits[-1].score if hits else max(self.min_score, round(matches[0].score - self.margin, 4))
        hits = hits or tuple(self._rank(match for match in matches if match.score >= self._find_least(match, matches)))
        near = tuple(match for match in matches if match not in hits)
        return PhraseMatches(hits, near[:MAX_REPORTED], needed)

    def _may_count(self, phrase: Phrase) -> bool:
        """False for a phrase that is not tried here, and for an option in a question: it is about what there is."""
        is_allowed = self.allowed is None or phrase.key in self.allowed
        return is_allowed and not (phrase.is_option and self.asks)

    @property
    def asks(self) -> bool:
        """True for a question."""
        return any(force is Force.ASKS for _, force in self.forces)

    def _find_least(self, match: IntentMatch, matches: Sequence[IntentMatch]) -> float:
        """The score that a match needs."""
        rivals = [other for other in matches if other is not match and other.score > _RIVAL * match.score]
        # What a question is about may be any name: "do you deliver to Berlin?"
        is_only = self._fits(match) and not rivals and len(match.unmatched) <= (1 if self.asks else 0)
        share = _OWN if match.intent in self.own else _ONLY if is_only else 1.0
        return self.min_score * share

    def _rank(self, matches: Iterable[IntentMatch]) -> Iterator[IntentMatch]:
        """The best intent, and those within the margin. It counts less if a phrase does not what the message does."""
        weighed = [(match.score * self._find_weight(match), match) for match in matches]
        best = max((score for score, _ in weighed), default=0.0)
        ranked = sorted(weighed, key=lambda entry: (-entry[0], entry[1].intent))
        return (match for score, match in ranked if score >= round(best - self.margin, 4))

    def _find_weight(self, match: IntentMatch) -> float:
        return (1.0 if self._fits(match) else _OTHER_FORCE) / (_OWN if match.intent in self.own else 1.0)

    def _fits(self, match: IntentMatch) -> bool:
        """True when the phrase does what the message does."""
        return any(find_phrase_force(match.phrase.text, language) is force for language, force in self.forces)


def _is_in_use(snapshot: Snapshot, intent: str) -> bool:
    return snapshot.is_active(intent) and intent not in (ANY, UNKNOWN, "")


def read_synonyms(snapshot: Snapshot) -> Synonyms:
    """The lists of words in the setting; other values are ignored."""
    groups = live_settings.read(snapshot, SYNONYMS).value
    return tuple(
        tuple(word for word in group if isinstance(word, str)) for group in groups if isinstance(group, (list, tuple))
    )


def describe_matches(matches: PhraseMatches) -> Mapping[str, Any]:
    """What an event says of the best intent: its score, the words that counted, and the runner-up."""
    best, *others = (*matches.hits, *matches.near)
    runner_up = {"runnerUp": others[0].intent, "runnerUpScore": others[0].score} if others else {}
    return {"score": best.score, "words": [word.text for word in best.words], **runner_up}
