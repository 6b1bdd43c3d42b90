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
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappush, heappushpop
from itertools import islice
from math import log, sqrt
from typing import NamedTuple

from convengine.engine.understanding.phrases.form_words import NO_FORM_WORDS, FormWords
from convengine.engine.understanding.phrases.near_misses import SLIP, PhraseLexicon, Vocabulary
from convengine.engine.understanding.phrases.terms import PhraseLanguage, TellingWord, detect_languages, read_phrase
from convengine.engine.understanding.understand import Understanding, understand

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

    index: "LanguageIndex"
    understanding: Understanding


class _WeighedWord(NamedTuple):
    word: TellingWord
    weight: float
    #: The known terms that it may mean, and how much each counts.
    terms: Mapping[str, float]


class PhraseIndex:
    """All phrases of a configuration, by the words that they have."""

    def __init__(
        self,
        phrases: Iterable[Phrase],
        languages: Sequence[PhraseLanguage],
        form_words: Mapping[str, FormWords] | None = None,
    ) -> None:
        all_phrases = tuple(phrases)
        self._indexes = tuple(
            LanguageIndex(language, group, len(all_phrases), form_words or {})
            for language, group in _group_by_language(all_phrases, languages).items()
        )

    def read(self, text: str | None) -> list[Reading]:
        """The message in each language that it may have."""
        counts = [index.language.count_small_words(text) for index in self._indexes]
        likely = [index for index, count in zip(self._indexes, counts, strict=True) if count or not any(counts)]
        return [Reading(index, index.understand(text or "")) for index in likely]

    def match(self, text: str | None) -> tuple[IntentMatch, ...]:
        """The intents that share a telling word with the text, best first."""
        return match_all(self.read(text))

    def find_same_words(self, text: str | None) -> tuple[Phrase, ...]:
        """The phrases with exactly the telling words of the text; without any, those with the same words."""
        return tuple(dict.fromkeys(phrase for index in self._indexes for phrase in index.find_same_words(text or "")))


def match_all(readings: Iterable[Reading]) -> tuple[IntentMatch, ...]:
    """The intents that a message means as a whole, best first."""
    return join_matches(
        match for index, understood in readings for match in index.match(understood, 0, len(understood.words))
    )


def join_matches(matches: Iterable[IntentMatch]) -> tuple[IntentMatch, ...]:
    """The best match of each intent, best first."""
    best: dict[str, IntentMatch] = {}
    for match in matches:
        if match.intent not in best or match.score > best[match.intent].score:
            best[match.intent] = match
    return tuple(sorted(best.values(), key=lambda match: (-match.score, match.intent)))


def _group_by_language(
    phrases: Sequence[Phrase], languages: Sequence[PhraseLanguage]
) -> Mapping[PhraseLanguage, list[Phrase]]:
    """The phrases by language. One that could be any is in each language that others are surely in."""
    possible = [(phrase, detect_languages(phrase.text, languages)) for phrase in phrases]
    certain = {found[0] for _, found in possible if len(found) == 1} or {languages[-1]}
    groups: dict[PhraseLanguage, list[Phrase]] = {language: [] for language in languages if language in certain}
    for phrase, found in possible:
        for language in groups.keys() & found or groups:
            groups[language].append(phrase)
    return groups


class LanguageIndex:
    """The phrases of one language."""

    def __init__(
        self, language: PhraseLanguage, phrases: Sequence[Phrase], total: int, form_words: Mapping[str, FormWords]
    ) -> None:
        self.language = language
        self._form_words = form_words
        self._total = total
        self._phrases = phrases
        #: The terms of each phrase, the phrases of each term, of the same terms, and of the same words.
        self._terms: list[frozenset[str]] = []
        self._having: dict[str, list[int]] = {}
        self._with_terms: dict[frozenset[str], list[int]] = {}
        self._with_keys: dict[tuple[str, ...], list[int]] = {}
        #: The phrases without telling words, by their words.
        self._wholes: dict[tuple[str, ...], list[int]] = {}
        #: The number of phrases of each intent.
        self._sizes = Counter(phrase.intent for phrase in phrases if not phrase.is_option)
        words: dict[str, TellingWord] = {}
        for index, phrase in enumerate(phrases):
            telling, keys = read_phrase(phrase.text, language)
            terms = frozenset(word.term for word in telling[:MAX_WORDS])
            self._terms.append(terms)
            if not phrase.is_option:
                self._with_keys.setdefault(keys, []).append(index)
                self._with_terms.setdefault(terms, []).append(index)
                if keys and not terms:
                    self._wholes.setdefault(keys, []).append(index)
            for word in telling[:MAX_WORDS]:
                words[word.key] = word
                self._having.setdefault(word.term, []).append(index)
        self._vocabulary = Vocabulary(words.values(), language)
        light = {word.term for word in words.values() if word.light}
        self._weights = {
            term: self._rarity(len(having)) * (LIGHT if term in light else 1.0) for term, having in self._having.items()
        }
        keys_of_all = {key for keys in self._with_keys for key in keys} | words.keys()
        self._lexicon = PhraseLexicon(keys_of_all, language)
        #: How the phrases of a term are shared among intents; counted when a message has the term.
        self._counts: dict[str, _TermCount] = {}

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
        """The intents that share a telling word with a part of the message, the best ones, in no order."""
        part = understood.words[start:end]
        keys = self.language.list_keys(understood.text, part)
        telling = self.language.read_telling_words(understood.text, part)[:MAX_WORDS]
        same = {self._phrases[index].intent for index in self._with_keys.get(keys, ())}
        if not telling:
            return [*self._match_whole(keys)]
        words = [self._make_weighed(word) for word in telling]
        #: The scores of the best intents so far, the lowest one first.
        best: list[tuple[float, str, int]] = []
        for intent, (share, index) in self._rank_by_phrase(words):
            if len(best) == MAX_INTENTS and sqrt(share) <= best[0][0]:
                break
            counted = self._list_counted(words, intent)
            spoken = sum(word.weight * value for word, value, _ in counted) / sum(word.weight for word, *_ in counted)
            add = heappush if len(best) < MAX_INTENTS else heappushpop
            add(best, (1.0 if share == 1 else round(sqrt(spoken * share), 4), intent, index))
        return [self._describe(words, *entry, is_identical=entry[1] in same) for entry in best]

    def _match_whole(self, keys: tuple[str, ...]) -> Iterator[IntentMatch]:
        """The intents with a phrase of small words that has all of these, or nearly all: "how do I get there?"."""
        for own in [keys] if keys in self._wholes else self._wholes:
            likeness = len({*own} & {*keys}) / len({*own} | {*keys})
            if likeness >= _LIKE_WHOLE:
                score = 1.0 if own == keys else round(likeness * _LIKE_WHOLE_SCORE, 4)
                matched = tuple(MatchedWord(word, word, round(1 / len(own), 4)) for word in own if word in keys)
                for phrase in (self._phrases[index] for index in self._wholes[own]):
                    yield IntentMatch(phrase.intent, score, phrase, matched, (), is_identical=own == keys)

    def _list_counted(self, words: Sequence[_WeighedWord], intent: str) -> list[tuple[_WeighedWord, float, str]]:
        """The words that count for an intent: each with how much it speaks for it, and by which term."""
        form, counted = self._form_words.get(intent, NO_FORM_WORDS), []
        for word in words:
            values = ((self._speaks(term, like, intent, form), term) for term, like in word.terms.items())
            value, term = max(values, default=(0.0, ""))
            if value or not form.has(word.word):
                counted.append((word, value, term))
        return counted

    def _describe(
        self, words: Sequence[_WeighedWord], score: float, intent: str, index: int, *, is_identical: bool
    ) -> IntentMatch:
        counted = self._list_counted(words, intent)
        total = sum(word.weight for word, *_ in counted)
        matched = tuple(
            MatchedWord(word.word.text, term, round(word.weight * value / total, 4))
            for word, value, term in counted
            if value
        )
        unmatched = tuple(word.word.text for word, value, _ in counted if not value)
        return IntentMatch(intent, score, self._phrases[index], matched, unmatched, is_identical)

    def _make_weighed(self, word: TellingWord) -> _WeighedWord:
        terms = self._vocabulary.find_terms(word)
        unknown = self._rarity(0) * (LIGHT if word.light else 1.0)
        similarity = max(terms.values(), default=0.0)
        known = max((self._weights[term] for term in terms), default=0.0)
        return _WeighedWord(word, known * similarity + unknown * (1 - similarity), terms)

    def _rarity(self, phrases: int) -> float:
        return sqrt(log(1 + self._total / (max(phrases, 1) + 0.5)))

    def _rank_by_phrase(self, words: Sequence[_WeighedWord]) -> list[tuple[str, tuple[float, int]]]:
        """The best phrase of each intent: its share that the message has, and its index; best first."""
        similarity: dict[str, float] = {}
        for word in words:
            for term, value in word.terms.items():
                similarity[term] = max(value, similarity.get(term, 0.0))
        meant = frozenset(term for word in words for term, value in word.terms.items() if value >= SLIP)
        same = self._with_terms.get(meant, ()) if len(meant) == len(words) else ()
        best = {self._phrases[index].intent: (1.0, index) for index in reversed(same)}
        for index in self._select_phrases(similarity):
            terms = self._terms[index]
            met = sum(self._weights[term] * value for term, value in similarity.items() if term in terms)
            share = met / (sum(self._weights[term] for term in terms) + _PHRASE_BASE)
            if self._phrases[index].is_option:
                share = _OPTION_SHARE * (1.0 if terms <= similarity.keys() else share)
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

    def _speaks(self, term: str, likeness: float, intent: str, form: FormWords) -> float:
        """How much a term speaks for an intent: it is in many of its phrases and in few of others, or an option."""
        counted = self._counts.get(term) or self._count(term)
        count = counted.phrases.get(intent, 0)
        share = sqrt(count / self._sizes[intent] / counted.shares) * count / (count + 1) if count else 0.0
        is_own = term in form.options or (count > 0 and term in form.terms)
        return likeness * (max(share, _OPTION) if is_own else share)

    def _count(self, term: str) -> "_TermCount":
        phrases = Counter(
            phrase.intent for phrase in (self._phrases[index] for index in self._having[term]) if not phrase.is_option
        )
        shares = sum(count / self._sizes[intent] for intent, count in phrases.items())
        self._counts[term] = _TermCount(phrases, shares)
        return self._counts[term]


class _TermCount(NamedTuple):
    #: How many phrases of each intent have the term.
    phrases: Counter[str]
    #: The sum of their shares in the phrases of the intents.
    shares: float
