"""The telling words of a text: without small words and courtesies, each with the term that all its forms share."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.language import DEFAULT, LEARNED_FROM, Tables, get_tables, read_table
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.stems import stem_word
from convengine.engine.understanding.understand import understand
from convengine.engine.understanding.words import Lexicon, Word, fold, split_text
from convengine.json_value import Json

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
#: How many of many texts tell their languages.
_MOST_TOLD = 200
_BARE_ANSWERS = (MoveKind.AFFIRM, MoveKind.NEGATE, MoveKind.STAY, MoveKind.PRAISE)


class TellingWord(NamedTuple):
    #: What all its forms share.
    term: str
    #: True for a word that says when or how many, and rarely what.
    light: bool = False


class PhraseLanguage:
    """What is to know of the words of a language besides its tables."""

    def __init__(self, tables: Tables, table: Mapping[str, Json]) -> None:
        self.tables = tables
        #: All words of the tables.
        self.lexicon = Lexicon({key for texts in table.values() for key in _list_keys(texts)}, base=tables.lexicon)
        #: By word or stem: the term of its irregular forms, or of a denial.
        self._terms: dict[str, str] = {}
        for forms in (*(group.split() for group in table.get("forms", ())), self._list_class("denial")):
            words = [*_list_keys(forms)]  # They stand for the first of them.
            term = self.find_term(words[0]) if words else ""
            for word in words:
                self._terms |= {word: term, self.find_term(word): term}
        telling, plain = {*_list_keys(table.get("telling", ()))}, self._list_class(*_SMALL)
        light = {*_list_keys(table.get("light", ()))} | ({*self._list_class(*_LIGHT)} - {*plain} - telling)
        self.small = {*plain, *_list_keys(table.get("small", ()))} - telling - light
        self._light = light | {self.find_term(word) for word in light}
        #: The words that a courtesy begins with, or a filler of several words.
        nodes, courtesies = tables.grammar.nodes, tables.grammar.list_beginnings("courtesy")[0]
        longer = {word for word, node in nodes["filler"].words.items() if node.words} if "filler" in nodes else set()
        self._surrounding = courtesies | longer
        #: Beginnings of wishes.
        self.orders = frozenset(map(_split, table.get("order", ())))

    def _list_class(self, *names: str) -> list[str]:
        return [word for name in names for word, _ in self.tables.grammar.list_words(name)]

    def find_term(self, key: str, typed: str = "") -> str:
        """The term of a word; `typed`: as it is written, where that is known."""
        if key in self._terms:
            return self._terms[key]
        term = fold(stem_word(typed or key, self.tables.stemmer))
        return self._terms.get(term, term)

    def read(self, text: str) -> list[TellingWord]:
        """The telling words of a text, each term once, without greetings and courtesies."""
        telling: dict[str, TellingWord] = {}
        for word in self.list_content(text):
            if word.key not in self.small:
                typed = text[word.start : word.end].casefold()
                term = self.find_term(word.key, typed if fold(typed) == word.key else "")
                is_light = word.key in self._light or term in self._light or any(char.isdigit() for char in word.key)
                telling.setdefault(term, TellingWord(term, is_light))
        return list(telling.values())

    def count_small_words(self, words: Iterable[Word]) -> int:
        return sum(_spell(word.key, self.lexicon) in self.small for word in words)

    def list_content(self, text: str) -> list[Word]:
        """The words of a text as the tables spell them, without signs, greetings, courtesies, fillers of several words,
        and endings of numbers.
        """
        spelled = ((word, _spell(word.key, self.lexicon)) for word in split_text(text))
        words = [word if word.key == key else replace(word, key=key) for word, key in spelled]
        chart, at, content = Chart(self.tables.grammar, words, text), 0, list[Word]()
        while at < len(words):
            end = at
            if words[at].key in self._surrounding:
                courtesy, filler = chart.match_longest("courtesy", at), chart.match_longest("filler", at)
                end = max(courtesy.end if courtesy else at, filler.end if filler and filler.end > at + 1 else at)
            is_ending = at > 0 and words[at].is_glued and words[at - 1].is_number  # "3rd", "10kg"
            if end == at and not words[at].is_sign and not is_ending:
                content.append(words[at])
            at = max(end, at + 1)
        return content


def _split(text: str) -> tuple[str, ...]:
    return tuple(word.key for word in split_text(text) if not word.is_sign)


def _list_keys(words: Iterable[str]) -> Iterator[str]:
    return (key for word in words for key in _split(word))


@lru_cache(maxsize=32)
def get_phrase_language(name: str) -> PhraseLanguage:
    return PhraseLanguage(get_tables(name), read_table(name, "phrases"))


def _get_phrase_languages(names: Iterable[str]) -> tuple[PhraseLanguage, ...]:
    """Languages by their names, the default one first."""
    return tuple(map(get_phrase_language, sorted(names or LEARNED_FROM, key=lambda name: name != DEFAULT)))


def detect_languages(text: str, among: Iterable[str] = LEARNED_FROM) -> tuple[PhraseLanguage, ...]:
    """The languages with the most small words in a text; several when it could be any of them."""
    words = split_text(text)
    counts = {language: language.count_small_words(words) for language in _get_phrase_languages(among)}
    return tuple(language for language, count in counts.items() if count == max(counts.values()))


def find_main_languages(texts: Sequence[str], among: Sequence[str]) -> tuple[PhraseLanguage, ...]:
    """The languages of a tenth or more of the texts that tell their language; all, if less than a fifth tell it."""
    sample = texts[:: len(texts) // _MOST_TOLD + 1]
    detected = (detect_languages(text, among) for text in sample)
    counts = Counter(languages[0] for languages in detected if len(languages) == 1)
    if 5 * counts.total() < len(sample):
        return _get_phrase_languages(among)
    return tuple(language for language in _get_phrase_languages(among) if 10 * counts[language] >= counts.total())


def read_text(text: str | None, languages: Iterable[str] = LEARNED_FROM) -> list[list[TellingWord]]:
    return [language.read(text or "") for language in detect_languages(text or "", languages)]


def is_bare_answer(text: str) -> bool:
    """True for a yes, a no or a number alone, which means something beside the question before it only."""
    words = split_text(text)
    for language in detect_languages(text):
        understanding = understand(text, language.tables, {})
        if understanding.is_bare_move and all(move.kind in _BARE_ANSWERS for move in understanding.moves):
            return True
    return bool(words) and all(word.is_sign or word.is_number for word in words)


def has_words(text: str | None) -> bool:
    """False for blanks and signs."""
    return any(not word.is_sign for word in split_text(text or ""))


@lru_cache(maxsize=_CACHED)
def _spell(key: str, lexicon: Lexicon) -> str:
    return key if lexicon.has(key) else lexicon.spell(key) or key
