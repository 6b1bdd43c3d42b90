"""The telling words of a text: without small words and courtesies, each with the term that all its forms share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import snowballstemmer

from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.language import DEFAULT, Tables, get_tables, list_languages, read_table
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.understand import understand
from convengine.engine.understanding.words import Lexicon, Word, fold, split_text
from convengine.json_value import Json

Synonyms = tuple[tuple[str, ...], ...]
#: Classes of `words.toml` whose words say nothing of what somebody wants.
_SMALL = (
    "filler", "courtesy", "joint", "alternative", "label_joint", "question", "supposition", "limit", "somebody",
)  # fmt: skip
#: Classes of values, and of denials: they say when, how many and whether, and rarely what.
_LIGHT = (
    "weekday", "month", "relative_day", "ordinal_word", "unit", "time_unit", "part", "time_name", "number_word",
    "currency", "scale_hundred", "scale_thousand", "scale_million", "denial",
)  # fmt: skip
_CACHED = 32768
_BARE_ANSWERS = (MoveKind.AFFIRM, MoveKind.NEGATE, MoveKind.STAY, MoveKind.PRAISE)


class TellingWord(NamedTuple):
    """A word with meaning: as it is typed, as the tables spell it, and the term that all its forms share."""

    text: str
    key: str
    term: str
    #: True for a word that says when or how many, and rarely what.
    light: bool = False
    #: One slip away from what the user typed.
    is_mended: bool = False


class PhraseLanguage:
    """What phrases need to know of a language: its tables, and words that an analyst declared equal."""

    def __init__(self, tables: Tables, table: Mapping[str, Json], synonyms: Synonyms = ()) -> None:
        self.tables = tables
        #: All words of the tables.
        self.lexicon = Lexicon({key for texts in table.values() for key in _list_keys(texts)}, base=tables.lexicon)
        #: By word or stem: the term of its irregular forms, of a denial, or of a synonym.
        self._terms: dict[str, str] = {}
        #: Words that are one term together, "log in", with their term.
        self._expressions: dict[tuple[str, ...], str] = {}
        for forms in (*(group.split() for group in table.get("forms", ())), self._list_class("denial")):
            self._add_forms(forms)
        joined = {"".join(words) for words in self._expressions}
        for group in synonyms:
            self._add_forms(group)
        telling, plain = {*_list_keys(table.get("telling", ()))}, self._list_class(*_SMALL)
        light = {*_list_keys(table.get("light", ()))} | ({*self._list_class(*_LIGHT)} - {*plain} - telling)
        self.small = {*plain, *_list_keys(table.get("small", ()))} - telling - light - joined
        self._light = light | {self.find_term(word) for word in light}
        #: The words that a courtesy begins with, or a filler of several words.
        nodes, courtesies = tables.grammar.nodes, tables.grammar.list_beginnings("courtesy")[0]
        longer = {word for word, node in nodes["filler"].words.items() if node.words} if "filler" in nodes else set()
        self._surrounding = courtesies | longer
        #: The terms that often mean the same as a term.
        self.related: dict[str, frozenset[str]] = {}
        for group in table.get("related", ()):
            terms = frozenset(self.find_term(fold(word), word) for word in group.split())
            self.related |= {term: (self.related.get(term, frozenset()) | terms) - {term} for term in terms}
        #: Beginnings of wishes.
        self.orders = frozenset(map(_split, table.get("order", ())))

    def _list_class(self, *names: str) -> list[str]:
        return [word for name in names for word, _ in self.tables.grammar.list_words(name)]

    def _add_forms(self, forms: Iterable[str]) -> None:
        """Add words that stand for the first of them."""
        groups = [words for words in map(_split, forms) if words]
        term = self.find_term("".join(groups[0])) if groups else ""
        for words in groups:
            if len(words) > 1:
                self._expressions[words] = term
            else:
                self._terms |= {words[0]: term, self.find_term(words[0]): term}

    @cached_property
    def small_lexicon(self) -> Lexicon:
        """The small words alone, as what typing errors are mended to."""
        return Lexicon(self.small)

    def find_term(self, key: str, typed: str = "") -> str:
        """The term of a word; `typed`: as it is written, where that is known."""
        if key in self._terms:
            return self._terms[key]
        stem = fold(_stem(typed or key, self.tables.stemmer))
        return self._terms.get(stem, stem)

    def read(self, text: str, words: Sequence[Word]) -> tuple[list[TellingWord], tuple[str, ...]]:
        """The telling words of a text or a part of it, each term once; and all its words, "what's" as "what".

        Greetings and courtesies are left out, unless nothing else is there.
        """
        content = list(self._list_content(text, words))
        telling: dict[str, TellingWord] = {}
        for joined in self._join_expressions(content):
            keys = tuple(word.key for word in joined)
            key, first = "".join(keys), joined[0]
            if len(joined) > 1:
                word = TellingWord(key, key, self._expressions[keys])
            elif key in self.small:
                continue
            else:
                typed = text[first.start : first.end].casefold()
                term = self.find_term(key, typed if fold(typed) == key else "")
                is_light = key in self._light or term in self._light or any(char.isdigit() for char in key)
                word = TellingWord(typed, key, term, is_light, first.is_mended)
            telling.setdefault(word.term, word)
        all_words = content or [word for word in words if not word.is_sign]
        return list(telling.values()), tuple(word.key.partition("'")[0] for word in all_words)

    def count_small_words(self, words: Iterable[Word]) -> int:
        """How many words are small words of the language."""
        return sum(_spell(word.key, self.lexicon) in self.small for word in words)

    def spell(self, words: Iterable[Word]) -> list[Word]:
        """The words as the tables spell them, and not mended."""
        spelled = ((word, _spell(word.key, self.lexicon)) for word in words)
        return [word if word.key == key else replace(word, key=key) for word, key in spelled]

    def _list_content(self, text: str, words: Sequence[Word]) -> Iterator[Word]:
        chart, at = Chart(self.tables.grammar, words, text), 0
        while at < len(words):
            end = at
            if words[at].key in self._surrounding:
                courtesy, filler = chart.match_longest("courtesy", at), chart.match_longest("filler", at)
                end = max(courtesy.end if courtesy else at, filler.end if filler and filler.end > at + 1 else at)
            is_ending = at > 0 and words[at].is_glued and words[at - 1].is_number  # "3rd", "10kg"
            if end == at and not words[at].is_sign and not is_ending:
                yield words[at]
            at = max(end, at + 1)

    def _join_expressions(self, words: Sequence[Word]) -> Iterator[Sequence[Word]]:
        """The words, those of an expression together; the longest one first."""
        longest, at = max(map(len, self._expressions), default=1), 0
        while at < len(words):
            sizes = range(min(longest, len(words) - at), 1, -1)
            known = (size for size in sizes if tuple(word.key for word in words[at : at + size]) in self._expressions)
            size = next(known, 1)
            yield words[at : at + size]
            at += size


def _split(text: str) -> tuple[str, ...]:
    return tuple(word.key for word in split_text(text.replace("_", " ")) if not word.is_sign)


def _list_keys(words: Iterable[str]) -> Iterator[str]:
    return (key for word in words for key in _split(word))


@lru_cache(maxsize=32)
def get_phrase_language(name: str, synonyms: Synonyms = ()) -> PhraseLanguage:
    """The language of a folder."""
    return PhraseLanguage(get_tables(name), read_table(name, "phrases"), synonyms)


def list_phrase_languages(synonyms: Synonyms = ()) -> tuple[PhraseLanguage, ...]:
    """All languages that have a folder, the default one first."""
    names = sorted(list_languages(), key=lambda name: name != DEFAULT)
    return tuple(get_phrase_language(name, synonyms) for name in names)


def detect_languages(words: Sequence[Word], languages: Iterable[PhraseLanguage]) -> tuple[PhraseLanguage, ...]:
    """The languages with the most small words in a text; several when it could be any of them."""
    counts = {language: language.count_small_words(words) for language in languages}
    return tuple(language for language, count in counts.items() if count == max(counts.values()))


def read_text(text: str | None) -> list[list[TellingWord]]:
    """The telling words of a text, in each language that it may have."""
    words = split_text(text or "")
    likely = detect_languages(words, list_phrase_languages())
    return [language.read(text or "", language.spell(words))[0] for language in likely]


def has_telling_words(text: str | None) -> bool:
    """False for a text of small words alone."""
    return any(read_text(text))


def is_bare_answer(text: str) -> bool:
    """True for a yes, a no or a number alone, which means something beside the question before it only."""
    words = split_text(text)
    for language in detect_languages(words, list_phrase_languages()):
        understanding = understand(text, language.tables, {})
        if understanding.is_bare_move and all(move.kind in _BARE_ANSWERS for move in understanding.moves):
            return True
    return bool(words) and all(word.is_sign or word.is_number for word in words)


def has_words(text: str | None) -> bool:
    """False for blanks and signs."""
    return any(not word.is_sign for word in split_text(text or ""))


@lru_cache(maxsize=_CACHED)
def detect_phrase_languages(phrase: str, languages: tuple[PhraseLanguage, ...]) -> tuple[PhraseLanguage, ...]:
    """The languages of a phrase."""
    return detect_languages(split_text(phrase), languages)


@lru_cache(maxsize=_CACHED)
def read_phrase(phrase: str, language: PhraseLanguage) -> tuple[list[TellingWord], tuple[str, ...]]:
    """The telling words of a phrase, and all its words."""
    return language.read(phrase, language.spell(split_text(phrase)))


@lru_cache(maxsize=_CACHED)
def _spell(key: str, lexicon: Lexicon) -> str:
    return key if lexicon.has(key) else lexicon.spell(key) or key


@lru_cache(maxsize=_CACHED)
def _stem(word: str, algorithm: str) -> str:
    # A stemmer keeps the word that it works on, so threads do not share one.
    return str(snowballstemmer.stemmer(algorithm).stemWord(word)) if algorithm else word
