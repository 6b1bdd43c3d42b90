"""The phrase index of a snapshot, and the intents that a message means by it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.engine.text.compare import blank, code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.force import find_force, find_phrase_force
from convengine.engine.understanding.phrases.form_words import FormWords, read_form_words
from convengine.engine.understanding.phrases.index import (
    IntentMatch,
    Phrase,
    PhraseIndex,
    Reading,
    join_matches,
    match_all,
)
from convengine.engine.understanding.phrases.settings import MARGIN, MIN_SCORE, SYNONYMS
from convengine.engine.understanding.phrases.terms import Synonyms, list_phrase_languages

#: Maximum intents that are reported besides those that count.
MAX_REPORTED = 5
#: How much less a match counts beside others if message and phrase do different things: one asks, one states.
_OTHER_FORCE = 0.75
#: How much less of a question beside the current flow must match than of another one.
_OWN = 0.75
#: How much of its score counts if only a clause of the message matches.
_CLAUSE = 0.85


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

    Where the whole text means none, its clauses are read one by one: "my name is Ann Bell, I need to see a dentist".
    `interrupting`: only phrases that are tried while a form is open count. `own`: the intents of the questions beside
    the current flow, of which less must match.
    """
    readings = get_phrase_index(snapshot).read(text)
    whole = _choose(snapshot, readings, match_all(readings), interrupting, own)
    if whole.hits:
        return whole
    by_clause = _choose(snapshot, readings, join_matches(_match_clauses(readings)), interrupting, own, _CLAUSE)
    return by_clause if by_clause.hits else whole


def _match_clauses(readings: Iterable[Reading]) -> Iterator[IntentMatch]:
    for index, understanding in readings:
        for clause in understanding.clauses if len(understanding.clauses) > 1 else ():
            yield from index.match(understanding, clause.start, clause.end)


def _choose(
    snapshot: Snapshot,
    readings: Sequence[Reading],
    matches: tuple[IntentMatch, ...],
    interrupting: bool,
    own: Collection[str],
    part: float = 1.0,
) -> PhraseMatches:
    """The matches that count: identical ones, else the best, and those within the margin."""
    least, margin = live_settings.read(snapshot, MIN_SCORE).value, live_settings.read(snapshot, MARGIN).value
    allowed = snapshot.interrupting_classifiers
    matches = tuple(match for match in matches if not interrupting or match.phrase.key in allowed)
    if identical := tuple(match for match in matches if match.is_identical):
        others = tuple(match for match in matches if not match.is_identical)
        return PhraseMatches(identical, others[:MAX_REPORTED], identical[-1].score)
    weighed = [(match.score * _fit(readings, match, own), match) for match in matches]
    enough = [(rank, match) for rank, match in weighed if match.score * part >= least * (_OWN if match.intent in own else 1)]
    needed = max((rank for rank, _ in enough), default=0.0) - margin
    ranked = sorted(enough, key=lambda entry: (-entry[0], entry[1].intent))
    hits = tuple(match for rank, match in ranked if rank >= round(needed, 4))
    near = tuple(match for match in matches if match not in hits)
    return PhraseMatches(hits, near[:MAX_REPORTED], max(least, round(matches[0].score - margin, 4)) if matches else least)


def _fit(readings: Sequence[Reading], match: IntentMatch, own: Collection[str]) -> float:
    """How much of its score a match keeps beside others: less if the phrase does not do what the message does."""
    fits = any(
        find_force(understanding, index.language) is find_phrase_force(match.phrase.text, index.language)
        for index, understanding in readings
    )
    return (1.0 if fits else _OTHER_FORCE) / (_OWN if match.intent in own else 1.0)


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
