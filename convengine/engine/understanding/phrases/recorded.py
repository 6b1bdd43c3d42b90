"""What a message means by phrases in a turn, recorded with the turn, so that its replay needs no classifier."""

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.ports import LearnedSubject
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.phrases.book import IntentMatch, Phrase, get_phrase_book
from convengine.engine.understanding.phrases.matching import ComparedMessage, PhraseMatches, match_message
from convengine.engine.understanding.phrases.settings import MARGIN, MIN_CONFIDENCE, MIN_NEAR
from convengine.json_value import Json


def match_in_turn(
    turn: Turn, text: str | None, *, interrupting: bool = False, own: Collection[str] = ()
) -> PhraseMatches:
    """What `match_phrases` says, once in a turn, and recorded with it, so that its replay needs no classifier."""
    request = {"text": text, "interrupting": interrupting, "own": sorted(own), "phrases": _find_digest(turn.snapshot)}

    def compare() -> dict[str, Json]:
        book = get_phrase_book(turn.snapshot)
        message = turn.memo.get(("compared message", text), lambda: ComparedMessage(book, text or ""))
        return _pack(match_message(turn.snapshot, message, interrupting=interrupting, own=own))

    def match() -> PhraseMatches:
        return _unpack(turn.snapshot, turn.ports.learned.decide(LearnedSubject.PHRASES, request, compare))

    return turn.memo.get(("phrases", text, interrupting, frozenset(own)), match)


def match_user_message(session: Session, turn: Turn) -> PhraseMatches:
    """The intents that the message of the turn means by phrases."""
    return match_in_turn(turn, session.user_text)


def _find_digest(snapshot: Snapshot) -> str:
    """The phrases and settings that an answer is of: another configuration has another answer."""

    def find() -> str:
        settings = [live_settings.read(snapshot, setting).value for setting in (MIN_CONFIDENCE, MARGIN, MIN_NEAR)]
        book = get_phrase_book(snapshot)
        phrases = [[str(phrase.key), phrase.intent, phrase.text] for phrase in book.phrases]
        content = [settings, phrases, book.content.words, book.content.synonyms]
        content += [book.content.encoder] if book.content.encoder else []
        content += [book.lines] if book.lines else []
        content += [sorted(snapshot.active_intents)] if snapshot is not snapshot.whole else []
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    return snapshot.memo.get("digest of phrases", find)


def _pack(matches: PhraseMatches) -> dict[str, Json]:
    """The matches as JSON that is recorded with the turn: phrases by their keys."""
    listed: dict[str, Json] = {
        name: [_packmatch_message(match) for match in part]
        for name, part in (("hits", matches.hits), ("near", matches.near), ("elsewhere", matches.elsewhere))
        if part or name != "elsewhere"
    }
    substitution = {"substitution": matches.substitution} if matches.substitution else {}
    return {**listed, "bounds": [matches.min_confidence, matches.min_near], **substitution}


def _packmatch_message(match: IntentMatch) -> list[Json]:
    values: list[Any] = [match.intent, match.phrase.key, match.confidence, match.likeness]
    return [*values, match.basis, *match.cosines] if match.basis else values


def _unpack(snapshot: Snapshot, answer: Mapping[str, Any]) -> PhraseMatches:
    """The matches of a recorded answer. Phrases whose rows are gone are left out."""
    parts: dict[str, list[IntentMatch]] = {"hits": [], "near": [], "elsewhere": []}
    for name, part in parts.items():
        for intent, key, confidence, likeness, *basis in answer.get(name, ()):
            if (row := snapshot.row(rows.Classifier, key)) is not None:
                phrase, cosines = Phrase(key, intent, row.pattern or ""), tuple(basis[1:])
                part.append(IntentMatch(intent, confidence, phrase, likeness, basis[0] if basis else "", cosines))
    hits, near, elsewhere = map(tuple, parts.values())
    needed, min_near = answer["bounds"]
    return PhraseMatches(hits, near, needed, min_near, answer.get("substitution", ""), elsewhere)
