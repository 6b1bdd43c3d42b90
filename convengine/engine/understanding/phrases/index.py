"""The phrases of a configuration as an inverted index, and how well a message matches each intent.

The score of an intent is `sqrt(M * P)`:

- M is the share of the message that speaks for the intent: of the weight of its telling words, those that the intent's
  phrases have. A word counts fully when many phrases of this intent and none of others have it. A value for the
  intent's form is left out where no phrase of the intent has it.
- P is the share of the best phrase that the message has. An option of the intent's form is half a phrase.

It is 1 if the message has exactly the telling words of a phrase. A phrase without telling words, "Was brauchen Sie?",
is compared by all its words.

The weight of a word is `sqrt(ln(1 + N / (n + 0.5)))` for a word in n of N phrases. Words that no phrase has weigh
most: they are for something else. Everything is counted, so an edit needs no training.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import log, sqrt
from typing import NamedTuple

from convengine.engine.understanding.phrases.form_words import NO_FORM_WORDS, FormWords
from convengine.engine.understanding.phrases.near_misses import SLIP, PhraseLexicon, Vocabulary
from convengine.engine.understanding.phrases.terms import (
    PhraseLanguage,
    TellingWord,
    detect_phrase_languages,
    read_phrase,
)
from convengine.engine.understanding.understand import Understanding, understand
from convengine.engine.understanding.words import split_text

#: How much a word counts that only says when or how many.
LIGHT = 0.5
#: How much of a phrase an option is, and how much a word speaks at least for an intent whose form has it.
_OPTION_SHARE, _OPTION = 0.5, 0.6
#: How many phrases are compared with a message, so that the cost of a turn does not grow with their number.
MAX_COMPARED = 100
#: How many intents are reported.
MAX_INTENTS = 8
#: Maximum words of a message; what follows is not compared.
MAX_WORDS = 40
#: Which share of their words two texts of small words have in common at least, and how much that counts.
_LIKE_WHOLE, _LIKE_WHOLE_SCORE = 0.7, 0.9
#: How much of its score counts if only a clause of the message matches: "my name is Ann Bell, I need to see a dentist".
_CLAUSE = 0.8
#: Keeps a phrase of a single light word from being met in full.
_PHRASE_BASE = 1.0


@dataclass(frozen=True)
class Phrase:
    """An example sentence, and the intent that it means. `intent` is a code in capitals."""

    key: Hashable
    intent: str
    text: str
    #: An option of the intent's form.
    is_option: bool = False


@dataclass(frozen=True)
class MatchedWord:
    """A word of the message that counts for an intent."""

    text: str
    #: The phrases' term for it.
    term: str
    #: Its part of the share of the message, from 0 to 1.
    share: float


@dataclass(frozen=True)
class IntentMatch:
    """How well a message matches an intent, by its best phrase."""

    intent: str
    score: float
    phrase: Phrase
    words: tuple[MatchedWord, ...]
    #: Telling words of the message that the intent does not have.
    unmatched: tuple[str, ...]
    #: The message is the phrase, but for greetings and courtesies.
    is_identical: bool = False


class Reading(NamedTuple):
    """A message, understood with the words of the phrases of a language."""

    phrases: "LanguageIndex"
    understanding: Understanding


class _WeighedWord(NamedTuple):
    text: str
    weight: float
    #: The known terms that it may mean, and how much each counts.
    terms: Mapping[str, float]
    telling: TellingWord


class PhraseIndex:
    """All phrases of a configuration, by the words that they have."""

    def __init__(
        self,
        phrases: Iterable[Phrase],
        languages: tuple[PhraseLanguage, ...],
        form_words: Mapping[str, FormWords] | None = None,
    ) -> None:
        all_phrases = tuple(phrases)
        self._indexes = [
            LanguageIndex(language, group, sum(not phrase.is_option for phrase in all_phrases), form_words or {})
            for language, group in _group_by_language(all_phrases, languages).items()
        ]

    def read(self, text: str | None) -> list[Reading]:
        """The message in each language that it may have."""
        words = split_text(text or "")
        counts = [index.language.count_small_words(words) for index in self._indexes]
        likely = [index for index, count in zip(self._indexes, counts, strict=True) if count or not any(counts)]
        return [Reading(index, index.understand(text or "")) for index in likely]

    def match(self, text: str | None) -> tuple[IntentMatch, ...]:
        """The intents that share a telling word with the text, best first."""
        return match_all(self.read(text))

    def find_same_words(self, text: str | None) -> tuple[Phrase, ...]:
        """The phrases with exactly the telling words of the text; without any, those with the same words."""
        return tuple(dict.fromkeys(phrase for index in self._indexes for phrase in index.find_same_words(text or "")))


def match_all(readings: Iterable[Reading]) -> tuple[IntentMatch, ...]:
    """The best match of each intent, by the whole message or a clause of it, best first."""
    best: dict[str, IntentMatch] = {}
    for match in sorted(_match_parts(readings), key=lambda match: (-match.score, match.intent)):
        best.setdefault(match.intent, match)
    return tuple(best.values())


def _match_parts(readings: Iterable[Reading]) -> Iterator[IntentMatch]:
    for index, understood in readings:
        yield from index.match(understood, 0, len(understood.words))
        for clause in understood.clauses if len(understood.clauses) > 1 else ():
            for match in index.match(understood, clause.start, clause.end):
                yield replace(match, score=round(match.score * _CLAUSE, 4), is_identical=False)


def _group_by_language(
    phrases: Sequence[Phrase], languages: tuple[PhraseLanguage, ...]
) -> Mapping[PhraseLanguage, list[Phrase]]:
    """The phrases by language. One that could be any is in each language that others are surely in."""
    possible = [(phrase, detect_phrase_languages(phrase.text, languages)) for phrase in phrases]
    certain = {likely[0] for _, likely in possible if len(likely) == 1} or {languages[0]}
    groups: dict[PhraseLanguage, list[Phrase]] = {language: [] for language in languages if language in certain}
    for phrase, likely in possible:
        for language in groups.keys() & likely or groups:
            groups[language].append(phrase)
    return groups


class LanguageIndex:
    """The phrases of one language."""

    def __init__(
        self, language: PhraseLanguage, phrases: Sequence[Phrase], total: int, form_words: Mapping[str, FormWords]
    ) -> None:
        self.language, self._phrases = language, phrases
        self._form_words, self._total = form_words, total
        #: The terms of each phrase; the phrases of each term, of the same terms, and of the same words.
        self._terms: list[frozenset[str]] = []
        self._having: dict[str, list[int]] = {}
        self._with_terms: dict[frozenset[str], list[int]] = {}
        self._with_keys: dict[tuple[str, ...], list[int]] = {}
        #: The number of phrases of each intent, and of those with a term.
        self._sizes = Counter(phrase.intent for phrase in phrases if not phrase.is_option)
        self._counts: dict[str, Counter[str]] = {}
        words: dict[str, TellingWord] = {}
        for index, phrase in enumerate(phrases):
            telling, keys = read_phrase(phrase.text, language)
            terms = frozenset(word.term for word in telling[:MAX_WORDS])
            self._terms.append(terms)
            words |= {word.key: word for word in telling}
            for term in terms:
                self._having.setdefault(term, []).append(index)
                self._counts.setdefault(term, Counter())[phrase.intent] += not phrase.is_option
            if not phrase.is_option:
                self._with_keys.setdefault(keys, []).append(index)
                self._with_terms.setdefault(terms, []).append(index)
        #: For each term the sum of its shares in the phrases of the intents.
        self._shares = {
            term: sum(count / self._sizes[intent] for intent, count in counts.items() if count)
            for term, counts in self._counts.items()
        }
        #: The phrases without telling words, by their words.
        self._wholes = {keys: own for keys, own in self._with_keys.items() if keys and not self._terms[own[0]]}
        self._vocabulary = Vocabulary(words.values(), language)
        light = {word.term for word in words.values() if word.light}
        self._weights = {
            term: self._rarity(len(having)) * (LIGHT if term in light else 1.0) for term, having in self._having.items()
        }
        self._lexicon = PhraseLexicon({*words, *(key for keys in self._with_keys for key in keys)}, language)

    def understand(self, text: str) -> Understanding:
        """The message, with words that are one slip away from a word of the phrases."""
        return understand(text, self.language.tables, {}, lexicon=self._lexicon)

    def find_same_words(self, text: str) -> Iterator[Phrase]:
        """The phrases with exactly the terms of the text; without any, those with its words."""
        telling, keys = read_phrase(text, self.language)
        terms = frozenset(word.term for word in telling)
        same = self._with_terms.get(terms, ()) if terms else self._wholes.get(keys, ())
        return (self._phrases[index] for index in same)

    def match(self, understood: Understanding, start: int, end: int) -> list[IntentMatch]:
        """The intents that share a telling word with a part of the message, the best first."""
        part = understood.words[start:end]
        telling, keys = self.language.read(understood.text, part)
        if not telling:
            return [*self._match_whole(keys)]
        same = {self._phrases[index].intent for index in self._with_keys.get(keys, ())}
        words = [self._make_weighed(word) for word in telling[:MAX_WORDS]]
        ranked = self._rank_by_phrase(words).items()
        matches = [self._score(words, intent, share, index, same) for intent, (share, index) in ranked]
        return sorted(matches, key=lambda match: -match.score)[:MAX_INTENTS]

    def _match_whole(self, keys: tuple[str, ...]) -> Iterator[IntentMatch]:
        """The intents with a phrase of small words that has all of these, or nearly all: "how do I get there?"."""
        for own in [keys] if keys in self._wholes else self._wholes:
            likeness = len({*own} & {*keys}) / len({*own} | {*keys})
            if likeness >= _LIKE_WHOLE:
                score = 1.0 if own == keys else round(likeness * _LIKE_WHOLE_SCORE, 4)
                matched = tuple(MatchedWord(word, word, round(1 / len(own), 4)) for word in own if word in keys)
                for phrase in (self._phrases[index] for index in self._wholes[own]):
                    yield IntentMatch(phrase.intent, score, phrase, matched, (), is_identical=own == keys)

    def _score(
        self, words: Sequence[_WeighedWord], intent: str, share: float, index: int, same: Collection[str]
    ) -> IntentMatch:
        """How well the words match an intent, of whose best phrase the message has this share."""
        form = self._form_words.get(intent, NO_FORM_WORDS)
        spoken = [(word, *self._find_spoken(word, intent, form)) for word in words]
        total = sum(word.weight for word, value, _ in spoken if value or not form.has(word.telling))
        matched = tuple(
            MatchedWord(word.text, term, round(word.weight * value / total, 4)) for word, value, term in spoken if value
        )
        unmatched = tuple(word.text for word, value, _ in spoken if not value and not form.has(word.telling))
        speaking = sum(word.weight * value for word, value, _ in spoken) / total
        score = 1.0 if share == 1 else round(sqrt(speaking * share), 4)
        return IntentMatch(intent, score, self._phrases[index], matched, unmatched, is_identical=intent in same)

    def _find_spoken(self, word: _WeighedWord, intent: str, form: FormWords) -> tuple[float, str]:
        """How much a word speaks for an intent, and by which term."""
        values = ((likeness * self._speaks(term, intent, form), term) for term, likeness in word.terms.items())
        return max(values, default=(0.0, ""))

    def _speaks(self, term: str, intent: str, form: FormWords) -> float:
        """How much a term speaks for an intent: it is in many of its phrases and in few of others, or an option."""
        count, share = self._counts[term][intent], 0.0
        if count:
            share = sqrt(count / self._sizes[intent] / self._shares[term]) * count / (count + 1)
        is_own = term in form.options or (count > 0 and term in form.terms)
        return max(share, _OPTION) if is_own else share

    def _make_weighed(self, word: TellingWord) -> _WeighedWord:
        terms = self._vocabulary.find_terms(word)
        unknown = self._rarity(0) * (LIGHT if word.light else 1.0)
        likeness = max(terms.values(), default=0.0)
        known = max((self._weights[term] for term in terms), default=0.0)
        return _WeighedWord(word.text, known * likeness + unknown * (1 - likeness), terms, word)

    def _rarity(self, phrases: int) -> float:
        return sqrt(log(1 + self._total / (max(phrases, 1) + 0.5)))

    def _rank_by_phrase(self, words: Sequence[_WeighedWord]) -> dict[str, tuple[float, int]]:
        """The best phrase of each intent: its share that the message has, and its index."""
        likeness: dict[str, float] = {}
        for word in words:
            for term, value in word.terms.items():
                likeness[term] = max(value, likeness.get(term, 0.0))
        meant = frozenset(term for term, value in likeness.items() if value >= SLIP)
        same = self._with_terms.get(meant, ()) if len(meant) == len(words) else ()
        best = {self._phrases[index].intent: (1.0, index) for index in reversed(same)}
        for index in self._select_phrases(likeness):
            terms, phrase = self._terms[index], self._phrases[index]
            met = sum(self._weights[term] * value for term, value in likeness.items() if term in terms)
            share = met / (sum(self._weights[term] for term in terms) + _PHRASE_BASE)
            if phrase.is_option:
                share = _OPTION_SHARE * (1.0 if terms <= likeness.keys() else share)
            if phrase.intent not in best or share > best[phrase.intent][0]:
                best[phrase.intent] = (share, index)
        return best

    def _select_phrases(self, terms: Iterable[str]) -> Iterable[int]:
        """The phrases to compare: those with the most words of the message, then those with its rarest word."""
        rarest = sorted(terms, key=lambda term: (len(self._having[term]), term))
        met = Counter(index for term in rarest for index in self._having[term])
        if len(met) <= MAX_COMPARED:
            return met
        several: list[int] = []
        for least in range(2, len(rarest) + 1):
            several = [index for index, count in met.items() if count >= least]
            if len(several) <= MAX_COMPARED:
                break
        return islice(dict.fromkeys((*several[:MAX_COMPARED], *met)), MAX_COMPARED)
