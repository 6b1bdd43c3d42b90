"""Why a message means an intent by phrases, in words: each intent, each word, and what to do."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.rules.row_names import quote_name
from convengine.engine.text.compare import shorten, shorten_line
from convengine.engine.text.wording import join_alternatives
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.labels import format_confidence
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.book import IntentMatch, Phrase
from convengine.engine.understanding.phrases.explain import MatchAccount, WordShare, explain_match
from convengine.engine.understanding.phrases.models import Making, choose_making
from convengine.engine.understanding.phrases.settings import MARGIN, MIN_CONFIDENCE
from convengine.engine.understanding.phrases.wording import list_keys
from convengine.server.admin_site.record_columns import row_url
from convengine.server.resilience.time_left import limit_waits

#: How many intents are listed, and how many are named in what to do.
_LISTED, _NAMED = 5, 3
#: A word that changes the confidence by less is not listed.
_LEAST_CHANGE = 0.01
_LONGEST = 80
#: How long a page waits for the model that gives vectors, if there is one.
_MOST_SECONDS = 10


def describe_match(name: str, match: Mapping[str, Any]) -> str:
    """How sure the classifier is, and the nearest phrase. `match` is as events record it."""
    phrase = shorten(match["phrase"], 60)
    if match["score"] == 1:
        return f"{name}: the message has the telling words of the phrase “{phrase}”."
    return f"{name}: confidence {format_confidence(match['score'])}. The nearest phrase is “{phrase}”."


def describe_needed_score(snapshot: Snapshot, needed: float, scores: Sequence[float]) -> str:
    """How much confidence is needed, and why. `scores`: those of the intents that count."""
    minimum, margin = live_settings.read(snapshot, MIN_CONFIDENCE).value, live_settings.read(snapshot, MARGIN).value
    if scores and needed > minimum:
        points = format_confidence(margin).removesuffix("\N{NO-BREAK SPACE}%")
        best = f"The best intent has a confidence of {format_confidence(max(scores))}"
        return f"{best}. Others count from {format_confidence(needed)} on, which is {points} points below."
    return f"A confidence of {format_confidence(needed)} is needed, the minimum for all intents."


@dataclass(frozen=True)
class IntentLine:
    """An intent that came into question."""

    name: str
    confidence: str
    phrase: str
    #: The page of the phrase; blank for one that is not saved.
    phrase_url: str
    is_meant: bool
    #: How near the message is to the question, to it with the answer and to the answer; blank if phrases decide.
    cosines: str = ""


@dataclass(frozen=True)
class WordLine:
    """A word, and the confidence in the best intent without it."""

    word: str
    without: str
    change: str


@dataclass(frozen=True)
class PhraseAccount:
    """Why a message means an intent, as pages show it."""

    intents: Sequence[IntentLine]
    #: The words that change most come first.
    words: Sequence[WordLine]
    #: Words that hardly change anything, and words that were not left out in turn.
    small_words: int
    further_words: int
    needed: str
    advice: Sequence[str]
    #: How the turn's own figures differ; blank if they do not.
    difference: str = ""
    #: Only phrases that may interrupt a form were compared.
    is_interrupting: bool = False

    @property
    def best(self) -> IntentLine | None:
        return self.intents[0] if self.intents else None


def build_phrase_account(
    snapshot: Snapshot,
    text: str,
    *,
    interrupting: bool = False,
    own: Collection[str] = (),
    recorded: Mapping[Any, float] | None = None,
    taken_for: Collection[str] | None = None,
) -> PhraseAccount:
    """Explain what a message means on a configuration. `recorded`: the confidences of a turn, by phrase.

    `taken_for`: the intents for which a turn took the message; there is advice only on them. None if the turn did not
    understand it, or asked which intent is meant.
    """
    with choose_making(Making.PREVIEW), limit_waits(_MOST_SECONDS):
        account = explain_match(snapshot, text, interrupting=interrupting, own=own)
    ranked, matches = account.ranked, account.matches
    confidence = ranked[0].confidence if ranked else 0.0
    is_open = taken_for is None or any(match.intent in taken_for for match in matches.hits)
    changing = [share for share in account.words if abs(_find_change(share, confidence)) >= _LEAST_CHANGE]
    return PhraseAccount(
        [_describe_intent(snapshot, match, is_meant=match in matches.hits) for match in ranked[:_LISTED]],
        [_describe_word(share, confidence) for share in sorted(changing, key=lambda s: _find_change(s, confidence))],
        len(account.words) - len(changing),
        account.further_words,
        describe_needed_score(snapshot, matches.min_confidence, [match.confidence for match in matches.hits]),
        list(_advise(snapshot, account, text)) if is_open else [],
        "" if recorded is None else _describe_difference(snapshot, ranked, recorded),
        interrupting,
    )


def _find_change(share: WordShare, confidence: float) -> float:
    """How much the confidence changes without a word."""
    return round((share.without or 0.0) - confidence, 3)


def _describe_word(share: WordShare, confidence: float) -> WordLine:
    if share.without is None:
        return WordLine(share.word, "not in question", "")
    points = f"{100 * _find_change(share, confidence):+.1f}".removesuffix(".0").replace("-", "−")
    return WordLine(share.word, format_confidence(share.without), f"{points} points")


def _describe_intent(snapshot: Snapshot, match: IntentMatch, *, is_meant: bool) -> IntentLine:
    phrase = match.phrase
    url = row_url(rows.Classifier.table, phrase.key) if isinstance(phrase.key, int) else ""
    name = get_intent_name(snapshot, match.intent)
    text = shorten_line(phrase.text, _LONGEST)
    parts = zip(("question", "question with answer", "answer"), match.cosines, strict=False)
    cosines = ", ".join(f"{part} {cosine:.2f}" for part, cosine in parts)
    return IntentLine(name, format_confidence(match.confidence), text, url, is_meant, cosines)


def _describe_difference(snapshot: Snapshot, ranked: Sequence[IntentMatch], recorded: Mapping[Any, float]) -> str:
    """The best intent of the turn with its confidence, if it is not what was computed now."""
    if not recorded:
        return "These figures were computed now. In the turn, no intent came into question." if ranked else ""
    key = max(recorded, key=lambda each: recorded[each])
    best = ranked[0] if ranked else None
    if best and recorded.get(best.phrase.key) == recorded[key] and best.confidence == recorded[key]:
        return ""
    row = snapshot.row(rows.Classifier, key)
    name = _quote_intent(snapshot, row.intent_code) if row else f"phrase {key}"
    before = format_confidence(recorded[key])
    return f"These figures were computed now. In the turn, {name} was the likeliest, with {before}."


def _advise(snapshot: Snapshot, account: MatchAccount, text: str) -> Iterator[str]:
    """A phrase to add, and phrases to move."""
    near, hits = account.near, account.matches.hits
    names = [_quote_intent(snapshot, match.intent) for match in near[:_NAMED]]
    if not names:
        yield "No intent is near. If the message means one, add it as a phrase of that intent."
    elif len(hits) == 1 and list_keys(hits[0].phrase.text) == list_keys(text):
        yield f"The message is {_quote(hits[0].phrase)}. If it means another intent, move the phrase there."
    elif len(hits) == 1:
        yield f"If the message does not mean {names[0]}, add it as a phrase of the intent that it means."
    elif near[0].is_identical:
        # An identical phrase is always meant, so it is one of the hits; here others are within the margin.
        first, second = (f"{_quote(match.phrase)} of {_quote_intent(snapshot, match.intent)}" for match in hits[:2])
        yield f"The message has the telling words of {first} and of {second}. Delete one of them, or reword it."
    elif len(names) == 1:
        yield f"If the message means {names[0]}, add it as a phrase of {names[0]}."
    else:
        yield f"If the message means one of {join_alternatives(names)}, add it as a phrase of that intent."
    if account.stray:
        stray, nearer = account.stray
        own, other = (_quote_intent(snapshot, each.intent) for each in account.stray)
        yield (
            f"{_quote(stray, 'The phrase')} of {own} is more like “{shorten_line(nearer.text, _LONGEST)}” of {other} "
            f"than like the other phrases of {own}. If it means {other}, move it there."
        )


def _quote_intent(snapshot: Snapshot, intent: str) -> str:
    return quote_name(get_intent_name(snapshot, intent))


def _quote(phrase: Phrase, noun: str = "the phrase") -> str:
    return f"{noun} {quote_name(shorten_line(phrase.text, _LONGEST))}"
