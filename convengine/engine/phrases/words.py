"""The telling words of a text: folded, without function words, by stem."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import snowballstemmer

from convengine.engine.phrases.languages import LANGUAGES, Language
from convengine.engine.text.words import fold, split_words

#: Letters and digits, with the vowel signs of Indic, Thai and Lao letters.
_WORD = re.compile(r"(?:[^\W_]|[\u0900-\u0dff\u0e00-\u0eff])+")
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")
#: Longer texts are read up to this length, so that no text makes a turn slow.
MAX_CHARS = 2000
#: Maximum words of a synonym, and of cached words.
_MAX_SYNONYM, _CACHED = 4, 32768


class TellingWord(NamedTuple):
    """A word with meaning, and the term that all its forms share."""

    text: str
    term: str
    #: True for a word that says when or how many, and rarely what.
    light: bool = False
    #: True for a word that says little where no phrase has it.
    vague: bool = False


class Synonyms:
    """Words and expressions that an analyst declared equal. Each becomes the first one of its list."""

    def __init__(self, groups: Sequence[Sequence[str]], language: Language) -> None:
        self._language = language
        #: Expressions of several words, and terms of single words.
        self._expressions: dict[tuple[str, ...], str] = {}
        self._terms: dict[str, str] = {}
        for group in groups:
            split = [words for entry in group if (words := _normalise(entry, language))]
            for words in split:
                first = "".join(split[0])
                if len(words) > 1:
                    self._expressions[words] = first
                else:
                    self._terms[find_term(words[0], language)] = find_term(first, language)

    def join_expressions(self, words: Sequence[str]) -> Iterator[str]:
        """The words with each expression of several words replaced; the longest one first."""
        index = 0
        while index < len(words):
            size = next(
                (
                    size
                    for size in range(_MAX_SYNONYM, 1, -1)
                    if tuple(words[index : index + size]) in self._expressions and index + size <= len(words)
                ),
                1,
            )
            yield self._expressions[tuple(words[index : index + size])] if size > 1 else words[index]
            index += size

    def replace_term(self, term: str) -> str:
        """The term that stands for all its synonyms."""
        return self._terms.get(term, term)


def detect_languages(text: str | None) -> tuple[Language, ...]:
    """The languages with the most function words in the text; several when it could be any of them."""
    words = _split(text)
    counts = [sum(language.normalise(word) in language.functions for word in words) for language in LANGUAGES]
    return tuple(language for language, count in zip(LANGUAGES, counts, strict=True) if count == max(counts))


def read_telling_words(text: str | None, language: Language, synonyms: Synonyms | None = None) -> list[TellingWord]:
    """The telling words in their order, each term once."""
    words: Sequence[str] = _normalise(text, language)
    if synonyms:
        words = tuple(synonyms.join_expressions(words))
    by_term: dict[str, TellingWord] = {}
    for word in _join_pairs(words, language):
        if word not in language.functions:
            telling = _make_word(word, language)
            if synonyms and (term := synonyms.replace_term(telling.term)) != telling.term:
                telling = telling._replace(term=term)
            by_term.setdefault(telling.term, telling)
    return list(by_term.values())


def has_telling_words(text: str | None) -> bool:
    """False for a text of function words alone."""
    return any(read_telling_words(text, language) for language in detect_languages(text))


def begins_with_question_word(text: str | None) -> bool:
    """True for "where do I go", in any language."""
    first = next(iter(_split(text)), "")
    return any(first in fold(language.question_words).split() for language in LANGUAGES)


def denies(text: str | None) -> bool:
    """True for a text with a word that denies what follows: "we can't come", "bitte keine Kisten"."""
    words = split_words(re.sub(r"['’]", "", text or ""))
    return any(not language.denial_words.isdisjoint(words) for language in LANGUAGES)


def split_whole(text: str | None) -> tuple[str, ...]:
    """All folded words of a text, small ones too, without greetings and courtesies around them."""
    words = [expanded for word in _split(text) for expanded in _expand(_normalise_in_all(word))]
    courtesies = _list_courtesies()
    first = next((index for index, word in enumerate(words) if word not in courtesies), len(words))
    last = next((index for index in range(len(words), first, -1) if words[index - 1] not in courtesies), first)
    return tuple(word for word in words[first:last] if word not in _list_particles()) or tuple(words)


def _normalise_in_all(word: str) -> str:
    for language in LANGUAGES:
        word = language.normalise(word)
    return word


@cache
def _expand(word: str) -> tuple[str, ...]:
    """The words that a short form stands for: "what is" for "what's"."""
    longer = (language.expansions[word] for language in LANGUAGES if word in language.expansions)
    return next((tuple(map(_normalise_in_all, words)) for words in longer), (word,))


@cache
def _list_courtesies() -> frozenset[str]:
    return frozenset(_normalise_in_all(word) for language in LANGUAGES for word in fold(language.courtesies).split())


@cache
def _list_particles() -> frozenset[str]:
    return frozenset(_normalise_in_all(word) for language in LANGUAGES for word in fold(language.particles).split())


def find_term(word: str, language: Language) -> str:
    """The term of a word: the stem of its base form."""
    return _stem(language.base_forms.get(word, word), language.stemmer)


def map_related_terms(language: Language) -> Mapping[str, frozenset[str]]:
    """The terms that often mean the same as a term."""
    return _map_related_terms(language.code)


def _split(text: str | None) -> list[str]:
    """The folded words; an apostrophe does not split a word."""
    return _WORD.findall(_APOSTROPHE.sub("", fold((text or "")[:MAX_CHARS])))


def _normalise(text: str | None, language: Language) -> tuple[str, ...]:
    return tuple(language.normalise(word) for word in _split(text))


def _join_pairs(words: Sequence[str], language: Language) -> Iterator[str]:
    index = 0
    while index < len(words):
        pair = tuple(words[index : index + 2])
        joined = pair in language.pairs
        yield "".join(pair) if joined else words[index]
        index += 2 if joined else 1


@lru_cache(maxsize=len(LANGUAGES))
def _map_related_terms(code: str) -> Mapping[str, frozenset[str]]:
    language = next(language for language in LANGUAGES if language.code == code)
    related: dict[str, frozenset[str]] = {}
    for group in language.related:
        terms = frozenset(find_term(word, language) for word in group)
        for term in terms:
            related[term] = (related.get(term, frozenset()) | terms) - {term}
    return related


@lru_cache(maxsize=len(LANGUAGES))
def _list_light_terms(language: Language) -> frozenset[str]:
    return frozenset(find_term(word, language) for word in language.light)


@lru_cache(maxsize=_CACHED)
def _make_word(word: str, language: Language) -> TellingWord:
    term = find_term(word, language)
    light = term in _list_light_terms(language) or any(char.isdigit() for char in word)
    return TellingWord(word, term, light, word in language.vague)


@lru_cache(maxsize=_CACHED)
def _stem(word: str, algorithm: str) -> str:
    # A stemmer keeps the word that it works on, so threads do not share one.
    return str(snowballstemmer.stemmer(algorithm).stemWord(word))
