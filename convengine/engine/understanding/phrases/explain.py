"""Why a message means an intent by phrases: what each word does, and which phrases speak for another intent."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.book import IntentMatch, Phrase, PhraseBook, get_phrase_book
from convengine.engine.understanding.phrases.matching import PhraseMatches, match_phrases, prepare_messages
from convengine.engine.understanding.words import split_text

#: An intent of less confidence is not near: what a word does to it tells nothing.
LEAST_NEAR = 0.02
#: How many words of a message are left out in turn: each takes an encoding or two.
MOST_WORDS = 25


class WordShare(NamedTuple):
    """A word of a message, and how sure the intent would be without it."""

    word: str
    #: None if the message without the word does not bring the intent into question.
    without: float | None


class StrayPhrase(NamedTuple):
    """A phrase that is more like a phrase of another intent than like the others of its own.

    Without it, the other phrases of both intents say that it means the other intent.
    """

    phrase: Phrase
    nearer: Phrase


@dataclass(frozen=True)
class MatchAccount:
    """What a message means by phrases, and why."""

    matches: PhraseMatches
    #: The first words of the message, in its order.
    words: tuple[WordShare, ...] = ()
    #: Words beyond those.
    further_words: int = 0
    stray: StrayPhrase | None = None

    @property
    def ranked(self) -> tuple[IntentMatch, ...]:
        """The intents that came into question, best first."""
        return (*self.matches.hits, *self.matches.near)

    @property
    def near(self) -> tuple[IntentMatch, ...]:
        """The intents that the message means, or else those that it may mean."""
        return self.matches.hits or tuple(match for match in self.ranked if match.confidence >= LEAST_NEAR)


def explain_match(
    snapshot: Snapshot, text: str, *, interrupting: bool = False, own: Collection[str] = ()
) -> MatchAccount:
    """What `match_phrases` says of a message with the same arguments, and why."""
    matches = match_phrases(snapshot, text, interrupting=interrupting, own=own)
    best = next(iter((*matches.hits, *matches.near)), None)
    if best is None or best.confidence < LEAST_NEAR:
        return MatchAccount(matches)
    words = [word for word in split_text(text) if not word.is_sign]
    rests = [f"{text[: word.start].rstrip()} {text[word.end :].lstrip()}".strip() for word in words[:MOST_WORDS]]
    prepare_messages(snapshot, rests)
    shares = []
    for word, rest in zip(words, rests, strict=False):
        shorter = match_phrases(snapshot, rest, interrupting=interrupting, own=own)
        matching = (match for match in (*shorter.hits, *shorter.near) if match.intent == best.intent)
        without = next((match.confidence for match in matching), None)
        shares.append(WordShare(text[word.start : word.end], without))
    stray = _find_stray(get_phrase_book(snapshot), matches)
    return MatchAccount(matches, tuple(shares), len(words[MOST_WORDS:]), stray)


def _find_stray(book: PhraseBook, matches: PhraseMatches) -> StrayPhrase | None:
    """The nearest phrase of one of the best two intents that is rather one of the other. Returns None if there is none.

    If one intent is meant, only its own phrase can be in the wrong place.
    """
    best, *others = (*matches.hits, *matches.near)[:2]
    pairs = [(best, other) for other in others] + [(other, best) for other in others if len(matches.hits) != 1]
    nearer = {match.phrase: book.find_nearer(match.phrase, other.intent) for match, other in pairs}
    leads = [(each[1], StrayPhrase(phrase, each[0])) for phrase, each in nearer.items() if each]
    stray = max(leads, key=lambda each: each[0])[1] if leads else None
    return stray if stray and _means_other_intent(book, stray) else None


def _means_other_intent(book: PhraseBook, stray: StrayPhrase) -> bool:
    """True if a classifier of the other phrases of the two intents takes the phrase for one of the other intent."""
    intents, text = {each.intent for each in stray}, stray.phrase.text
    others = [phrase for phrase in book.phrases if phrase.intent in intents and phrase.text != text]
    ranked = PhraseBook(others, (), book.content.synonyms, book.content.encoder).rank(text)
    return bool(ranked) and ranked[0].intent == stray.nearer.intent
