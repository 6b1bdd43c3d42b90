"""The phrase index of a snapshot, and the intents that a message means by it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.engine.phrases.form_words import get_form_words
from convengine.engine.phrases.index import IntentMatch, Phrase, PhraseIndex
from convengine.engine.phrases.settings import MARGIN, MIN_SCORE, SYNONYMS
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot

#: Maximum intents that are reported besides those that count.
MAX_REPORTED = 5
#: Longest text whose clauses are read one by one.
_LONGEST_IN_CLAUSES = 300
_CLAUSE_SIGN = re.compile(r"[.,;:!?\n]+|\s+[-–—]+\s+|\b(?:and|und|but|aber|because|weil|denn)\b", re.IGNORECASE)


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
    """The index of all enabled phrases of enabled intents; built once per table."""
    synonyms = _read_synonyms(live_settings.read(snapshot, SYNONYMS).value)
    phrases = [row for row in snapshot.enabled_rows(rows.Classifier) if row.is_phrase and not blank(row.pattern)]
    inactive = frozenset(code(row.intent_code) for row in phrases if not _is_in_use(snapshot, row))
    return snapshot.table(rows.Classifier).memo.get(
        ("phrase index", inactive, synonyms),
        lambda: PhraseIndex(
            (
                Phrase(row.classifier_id, code(row.intent_code), row.pattern or "")
                for row in phrases
                if code(row.intent_code) not in inactive
            ),
            synonyms,
        ),
    )


def match_phrases(snapshot: Snapshot, text: str | None, *, interrupting: bool = False) -> PhraseMatches:
    """The intents that the text means by phrases. Several, if they are within the margin.

    Where the whole text means none, its clauses are read one by one: "my name is Ann Bell, I need to see a dentist".
    `interrupting`: only phrases that are tried while a form is open count.
    """
    whole = _match_text(snapshot, text, interrupting=interrupting)
    if whole.hits or not text or len(text) > _LONGEST_IN_CLAUSES:
        return whole
    clauses = [clause for clause in _CLAUSE_SIGN.split(text) if clause.strip()]
    if len(clauses) < 2:
        return whole
    return _match_clauses(snapshot, clauses, interrupting=interrupting) or whole


def _match_clauses(snapshot: Snapshot, clauses: Sequence[str], *, interrupting: bool) -> PhraseMatches | None:
    """The intents of the clauses, each with its best one; null if there are none."""
    matches = [match for clause in clauses for match in _match_text(snapshot, clause, interrupting=interrupting).hits]
    best: dict[str, IntentMatch] = {}
    for match in sorted(matches, key=lambda match: (-match.score, match.intent)):
        best.setdefault(match.intent, match)
    if not best:
        return None
    ranked = tuple(best.values())
    enough = round(ranked[0].score - live_settings.read(snapshot, MARGIN).value, 4)
    hits = tuple(match for match in ranked if match.score >= enough)
    return PhraseMatches(hits, ranked[len(hits) : len(hits) + MAX_REPORTED], enough)


def _match_text(snapshot: Snapshot, text: str | None, *, interrupting: bool) -> PhraseMatches:
    matches = snapshot.memo.get("phrases", lambda: get_phrase_index(snapshot)).match(text, get_form_words(snapshot))
    if interrupting:
        allowed = snapshot.interrupting_classifiers
        matches = tuple(match for match in matches if match.phrase.key in allowed)
    if not matches:
        return PhraseMatches(min_score=live_settings.read(snapshot, MIN_SCORE).value)
    margin = live_settings.read(snapshot, MARGIN).value
    enough = max(live_settings.read(snapshot, MIN_SCORE).value, round(matches[0].score - margin, 4))
    hits = _prefer_tasks(snapshot, tuple(match for match in matches if match.score >= enough), text)
    near = tuple(match for match in matches if match not in hits)
    return PhraseMatches(hits, near[:MAX_REPORTED], enough)


def _prefer_tasks(snapshot: Snapshot, hits: tuple[IntentMatch, ...], text: str | None) -> tuple[IntentMatch, ...]:
    """Of several intents, those that do not only answer a question, if the message asks none and is no phrase."""
    tasks = tuple(match for match in hits if match.intent not in snapshot.returning_intents)
    return hits if not tasks or "?" in (text or "") or hits[0].score == 1 else tasks


def _is_in_use(snapshot: Snapshot, row: rows.Classifier) -> bool:
    return snapshot.is_active(row.intent_code) and code(row.intent_code) not in (ANY, UNKNOWN, "")


def _read_synonyms(value: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    """The lists of words in the setting; other values are ignored."""
    return tuple(
        tuple(word for word in group if isinstance(word, str)) for group in value if isinstance(group, (list, tuple))
    )


def describe_matches(matches: PhraseMatches) -> Mapping[str, Any]:
    """What an event says of the best intent: its score, the words that counted, and the runner-up."""
    best, *others = (*matches.hits, *matches.near)
    runner_up = {"runnerUp": others[0].intent, "runnerUpScore": others[0].score} if others else {}
    return {"score": best.score, "words": [word.text for word in best.words], **runner_up}
