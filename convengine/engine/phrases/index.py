"""The phrases of a configuration as an inverted index, and how well a message matches each intent.

The score of an intent is `sqrt(M * P)`:

- M is the share of the message that speaks for the intent: of the weight of its telling words, those that the intent's
  phrases have. A word counts fully when many phrases of this intent and none of others have it. A value for the
  intent's form is left out where no phrase of the intent has it.
- P is the share of the best phrase that the message has.

It is 1 if the message has exactly the telling words of a phrase. A phrase without telling words, "Was brauchen Sie?",
is matched only as a whole.

The weight of a word is `sqrt(ln(1 + N / (n + 0.5)))` for a word in n of N phrases. Words that no phrase has weigh
most: they are for something else. Everything is counted, so an edit needs no training.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappush, heappushpop
from itertools import groupby, islice
from math import log, sqrt
from typing import NamedTuple

from convengine.engine.phrases.form_words import FormWords
from convengine.engine.phrases.languages import LANGUAGES, Language
from convengine.engine.phrases.near_misses import Vocabulary, is_misspelling
from convengine.engine.phrases.words import (
    Synonyms,
    TellingWord,
    detect_languages,
    has_telling_words,
    read_telling_words,
    split_whole,
)

#: How much a word counts that only says when or how many.
LIGHT = 0.5
#: How much a word speaks at least for an intent that has it in a phrase and in its form.
_OPTION = 0.6
#: How many phrases are compared with a message, so that the cost of a turn does not grow with their number.
MAX_COMPARED = 100
#: How many intents are reported.
MAX_INTENTS = 8
#: Maximum words of a message; what follows is not compared.
MAX_WORDS = 40
#: Which share of the small words of two questions is the same in both, and how much such a question counts.
_LIKE_WHOLE, _LIKE_WHOLE_SCORE = 0.55, 0.9
#: Keeps a phrase of a single light word from being met in full.
_PHRASE_BASE = 1.0
#: How many phrases are read only once, however often their table changes.
_CACHED = 32768


@dataclass(frozen=True)
class Phrase:
    """An example sentence, and the intent that it means. `intent` is a code in capitals."""

    key: Hashable
    intent: str
    text: str


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


class _WeighedWord(NamedTuple):
    word: TellingWord
    weight: float
    #: The known terms that it may mean, and how much each counts.
    terms: Mapping[str, float]


class PhraseIndex:
    """All phrases of a configuration, by the words that they have."""

    def __init__(self, phrases: Iterable[Phrase], synonyms: Sequence[Sequence[str]] = ()) -> None:
        all_phrases = tuple(phrases)
        by_language = _group_by_language(all_phrases)
        groups = tuple(tuple(group) for group in synonyms)
        #: The phrases without telling words, by their words; and these words by their number.
        self._wholes = _list_whole_phrases(all_phrases)
        self._wholes_by_size = {size: [*own] for size, own in groupby(sorted(self._wholes, key=len), key=len)}
        self._indexes = tuple(
            _LanguageIndex(language, group, len(all_phrases), _make_synonyms(groups, language))
            for language, group in by_language.items()
        )

    def match(self, text: str | None, form_words: Mapping[str, FormWords] | None = None) -> tuple[IntentMatch, ...]:
        """The intents that share a telling word with the text, best first. `form_words`: by intent."""
        best = {match.intent: match for match in self._match_whole(text)}
        for index in self._indexes:
            for match in index.match(text, form_words or {}):
                if match.intent not in best or match.score > best[match.intent].score:
                    best[match.intent] = match
        return tuple(sorted(best.values(), key=lambda match: (-match.score, match.intent)))

    def find_same_words(self, text: str | None) -> tuple[Phrase, ...]:
        """The phrases with exactly the telling words of the text; without any, those with the same words."""
        if not has_telling_words(text):
            return tuple(phrase for phrase in self._wholes.get(split_whole(text), ()))
        return tuple(dict.fromkeys(phrase for index in self._indexes for phrase in index.find_same_words(text)))

    def _match_whole(self, text: str | None) -> Iterator[IntentMatch]:
        """The intents with a phrase of small words that is the text, with one typing error per long word.

        Of a question that is none of them, those with nearly the same words: "how do I get there?".
        """
        words = split_whole(text) if self._wholes else ()
        exact = [own for own in self._wholes_by_size.get(len(words), ()) if all(map(is_misspelling, words, own))]
        for own in exact:
            yield from self._describe_whole(own, words, 1.0)
        asks = (text or "").rstrip().endswith("?")
        if asks and not exact and not has_telling_words(text):
            for own in self._wholes:
                common = len({*own} & {*words})
                likeness = common / len({*own} | {*words})
                if own[0] == words[0] and likeness >= _LIKE_WHOLE:
                    yield from self._describe_whole(own, words, round(likeness * _LIKE_WHOLE_SCORE, 4))

    def _describe_whole(self, own: tuple[str, ...], words: Sequence[str], score: float) -> Iterator[IntentMatch]:
        matched = tuple(MatchedWord(word, term, round(1 / len(own), 4)) for word, term in zip(words, own, strict=False))
        return (IntentMatch(phrase.intent, score, phrase, matched, ()) for phrase in self._wholes[own])


def _list_whole_phrases(phrases: Iterable[Phrase]) -> Mapping[tuple[str, ...], list[Phrase]]:
    """The phrases without telling words, by all their words."""
    wholes: dict[tuple[str, ...], list[Phrase]] = {}
    for phrase in phrases:
        if not has_telling_words(phrase.text) and (words := split_whole(phrase.text)):
            wholes.setdefault(words, []).append(phrase)
    return wholes


def _group_by_language(phrases: Sequence[Phrase]) -> Mapping[Language, list[Phrase]]:
    """The phrases by language. One that could be any is in each language that others are surely in."""
    possible = [(phrase, _detect_languages_of_phrase(phrase.text)) for phrase in phrases]
    certain = {languages[0] for _, languages in possible if len(languages) == 1} or {LANGUAGES[0]}
    groups: dict[Language, list[Phrase]] = {language: [] for language in LANGUAGES if language in certain}
    for phrase, languages in possible:
        for language in languages:
            if language in groups:
                groups[language].append(phrase)
    return groups


class _LanguageIndex:
    def __init__(self, language: Language, phrases: Sequence[Phrase], total: int, synonyms: Synonyms | None) -> None:
        self._language = language
        self._synonyms = synonyms
        self._total = total
        self._phrases = phrases
        #: The terms of each phrase, and the phrases of each term.
        self._terms: list[frozenset[str]] = []
        self._having: dict[str, list[int]] = {}
        self._with_terms: dict[frozenset[str], list[int]] = {}
        #: The number of phrases of each intent.
        self._sizes = Counter(phrase.intent for phrase in phrases)
        words: dict[str, TellingWord] = {}
        for index, phrase in enumerate(phrases):
            telling, terms = _read_phrase(phrase.text, language, synonyms)
            self._terms.append(terms)
            self._with_terms.setdefault(terms, []).append(index)
            for word in telling:
                words[word.text] = word
                self._having.setdefault(word.term, []).append(index)
        self._vocabulary = Vocabulary(words.values(), language)
        light = {word.term for word in words.values() if word.light}
        self._weights = {
            term: self._rarity(len(having)) * (LIGHT if term in light else 1.0) for term, having in self._having.items()
        }
        #: How the phrases of a term are shared among intents; counted when a message has the term.
        self._counts: dict[str, _TermCount] = {}

    def read(self, text: str | None) -> list[TellingWord]:
        """The telling words of a text, with the synonyms of the configuration."""
        return read_telling_words(text, self._language, self._synonyms)[:MAX_WORDS]

    def find_same_words(self, text: str | None) -> Iterator[Phrase]:
        """The phrases with exactly the terms of the text."""
        terms = frozenset(word.term for word in self.read(text))
        return (self._phrases[index] for index in self._with_terms.get(terms, ()))

    def match(self, text: str | None, form_words: Mapping[str, FormWords]) -> list[IntentMatch]:
        """The intents that share a telling word with the text, the best ones, in no order."""
        words = [self._make_weighed(word) for word in self.read(text)]
        if not words:
            return []
        #: The scores of the best intents so far, the lowest one first.
        best: list[tuple[float, str, int]] = []
        for intent, (share, index) in self._rank_by_phrase(words):
            if len(best) == MAX_INTENTS and sqrt(share) <= best[0][0]:
                break
            counted = self._list_counted(words, intent, form_words.get(intent))
            spoken = sum(word.weight * value for word, value, _ in counted) / sum(word.weight for word, *_ in counted)
            add = heappush if len(best) < MAX_INTENTS else heappushpop
            add(best, (1.0 if share == 1 else round(sqrt(spoken * share), 4), intent, index))
        return [self._describe(words, form_words, *entry) for entry in best]

    def _list_counted(
        self, words: Sequence[_WeighedWord], intent: str, values: FormWords | None
    ) -> list[tuple[_WeighedWord, float, str]]:
        """The words that count for an intent: each with how much it speaks for it, and by which term."""
        counted = []
        for word in words:
            value, term = self._find_term(word, intent)
            if value and values is not None and term in values.terms:
                value = max(value, _OPTION)
            if value or values is None or not values.has(word.word):
                counted.append((word, value, term))
        return counted

    def _describe(
        self, words: Sequence[_WeighedWord], form_words: Mapping[str, FormWords], score: float, intent: str, index: int
    ) -> IntentMatch:
        matched: list[MatchedWord] = []
        unmatched: list[str] = []
        counted = self._list_counted(words, intent, form_words.get(intent))
        total = sum(word.weight for word, *_ in counted)
        for word, value, term in counted:
            if value:
                matched.append(MatchedWord(word.word.text, term, round(word.weight * value / total, 4)))
            else:
                unmatched.append(word.word.text)
        return IntentMatch(intent, score, self._phrases[index], tuple(matched), tuple(unmatched))

    def _make_weighed(self, word: TellingWord) -> _WeighedWord:
        terms = {word.term: 1.0} if word.term in self._having else self._vocabulary.find_similar(word)
        unknown = self._rarity(0) * (LIGHT if word.light or word.vague else 1.0)
        if not terms:
            return _WeighedWord(word, unknown, terms)
        similarity = max(terms.values())
        known = max(self._weights[term] for term in terms)
        return _WeighedWord(word, known * similarity + unknown * (1 - similarity), terms)

    def _rarity(self, phrases: int) -> float:
        return sqrt(log(1 + self._total / (max(phrases, 1) + 0.5)))

    def _rank_by_phrase(self, words: Sequence[_WeighedWord]) -> list[tuple[str, tuple[float, int]]]:
        """The best phrase of each intent: its share that the message has, and its index; best first."""
        similarity: dict[str, float] = {}
        for word in words:
            for term, value in word.terms.items():
                similarity[term] = max(value, similarity.get(term, 0.0))
        same = self._with_terms.get(frozenset(word.word.term for word in words), ())
        best = {self._phrases[index].intent: (1.0, index) for index in reversed(same)}
        for index in self._select_phrases(similarity):
            terms = self._terms[index]
            met = sum(self._weights[term] * value for term, value in similarity.items() if term in terms)
            share = met / (sum(self._weights[term] for term in terms) + _PHRASE_BASE)
            intent = self._phrases[index].intent
            if intent not in best or share > best[intent][0]:
                best[intent] = (share, index)
        return sorted(best.items(), key=lambda item: (-item[1][0], item[0]))

    def _select_phrases(self, terms: Iterable[str]) -> Iterable[int]:
        """The phrases to compare: those with the most words of the message, then those with its rarest word."""
        met: Counter[int] = Counter()
        rarest = sorted(terms, key=lambda term: (len(self._having[term]), term))
        for term in rarest:
            met.update(self._having[term])
        if len(met) <= MAX_COMPARED:
            return met
        several: list[int] = []
        for least in range(2, len(rarest) + 1):
            several = [index for index, count in met.items() if count >= least]
            if len(several) <= MAX_COMPARED:
                break
        single = (index for term in rarest for index in self._having[term])
        return islice(dict.fromkeys((*several[:MAX_COMPARED], *islice(single, MAX_COMPARED))), MAX_COMPARED)

    def _find_term(self, word: _WeighedWord, intent: str) -> tuple[float, str]:
        """How much a word speaks for an intent, and by which term; 0 if it does not."""
        best = (0.0, "")
        for term, similarity in word.terms.items():
            best = max(best, (similarity * self._belonging(term, intent), term))
        return best

    def _belonging(self, term: str, intent: str) -> float:
        """How much a term speaks for an intent: it is in many of its phrases, and in few of others."""
        counted = self._counts.get(term) or self._count(term)
        count = counted.phrases.get(intent)
        if not count:
            return 0.0
        share = count / self._sizes[intent] / counted.shares
        return sqrt(share) * count / (count + 1)

    def _count(self, term: str) -> "_TermCount":
        phrases = Counter(self._phrases[index].intent for index in self._having[term])
        shares = sum(count / self._sizes[intent] for intent, count in phrases.items())
        self._counts[term] = _TermCount(phrases, shares)
        return self._counts[term]


class _TermCount(NamedTuple):
    #: How many phrases of each intent have the term.
    phrases: Counter[str]
    #: The sum of their shares in the phrases of the intents.
    shares: float


@lru_cache(maxsize=_CACHED)
def _detect_languages_of_phrase(text: str) -> tuple[Language, ...]:
    return detect_languages(text)


@lru_cache(maxsize=_CACHED)
def _read_phrase(
    text: str, language: Language, synonyms: Synonyms | None
) -> tuple[tuple[TellingWord, ...], frozenset[str]]:
    words = tuple(read_telling_words(text, language, synonyms)[:MAX_WORDS])
    return words, frozenset(word.term for word in words)


@lru_cache(maxsize=16)
def _make_synonyms(groups: tuple[tuple[str, ...], ...], language: Language) -> Synonyms | None:
    return Synonyms(groups, language) if groups else None
