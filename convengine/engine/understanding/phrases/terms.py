"""The telling words of a text: without small words and courtesies, each with the term that all its forms share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import snowballstemmer

from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.language import Tables, get_tables, list_languages, read_table
from convengine.engine.understanding.words import Lexicon, Word, fold, split_text

Json = Any
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


class TellingWord(NamedTuple):
    """A word with meaning: as it is typed, as the tables spell it, and the term that all its forms share."""

    text: str
    key: str
    term: str
    #: True for a word that says when or how many, and rarely what.
    light: bool = False
    #: One slip away from what the user typed.
    is_mended: bool = False


@dataclass(frozen=True, eq=False)
class PhraseLanguage:
    """What phrases need to know of a language."""

    tables: Tables
    small: frozenset[str]
    light: frozenset[str]
    #: By word or stem: the term of its irregular forms, of a denial, or of a synonym.
    terms: Mapping[str, str]
    #: Words that are one term together: "log in".
    expressions: Mapping[tuple[str, ...], str]
    #: The terms that often mean the same as a term.
    related: Mapping[str, frozenset[str]]
    #: Beginnings of wishes.
    orders: frozenset[tuple[str, ...]]
    #: All words of the tables.
    lexicon: Lexicon

    @cached_property
    def small_lexicon(self) -> Lexicon:
        """The small words alone, as what typing errors are mended to."""
        return Lexicon(self.small)

    @property
    def name(self) -> str:
        """Such as `en`."""
        return self.tables.name

    def find_term(self, key: str, typed: str = "") -> str:
        """The term of a word; `typed`: as it is written, where that is known."""
        if key in self.terms:
            return self.terms[key]
        stem = fold(_stem(typed or key, self.tables.stemmer))
        return self.terms.get(stem, stem)

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
                word = TellingWord(key, key, self.expressions[keys])
            elif key in self.small:
                continue
            else:
                typed = text[first.start : first.end].casefold()
                term = self.find_term(key, typed if fold(typed) == key else "")
                is_light = key in self.light or term in self.light or any(char.isdigit() for char in key)
                word = TellingWord(typed, key, term, is_light, first.is_mended)
            telling.setdefault(word.term, word)
        all_words = content or [word for word in words if not word.is_sign]
        return list(telling.values()), tuple(word.key.partition("'")[0] for word in all_words)

    def count_small_words(self, text: str | None) -> int:
        """How many words of a text are small words of the language."""
        return sum(word.key in self.small for word in self.split(text or ""))

    def split(self, text: str) -> list[Word]:
        """The words as the tables spell them, and not mended."""
        return [replace(word, key=_spell(word.key, self.lexicon)) for word in split_text(text)]

    def _list_content(self, text: str, words: Sequence[Word]) -> Iterator[Word]:
        chart, at = Chart(self.tables.grammar, words, text), 0
        while at < len(words):
            courtesy, filler = chart.match_longest("courtesy", at), chart.match_longest("filler", at)
            end = max(courtesy.end if courtesy else at, filler.end if filler and filler.end > at + 1 else at)
            is_ending = at > 0 and words[at].is_glued and words[at - 1].is_number  # "3rd", "10kg"
            if end == at and not words[at].is_sign and not is_ending:
                yield words[at]
            at = max(end, at + 1)

    def _join_expressions(self, words: Sequence[Word]) -> Iterator[Sequence[Word]]:
        """The words, those of an expression together; the longest one first."""
        longest, at = max(map(len, self.expressions), default=1), 0
        while at < len(words):
            sizes = range(min(longest, len(words) - at), 1, -1)
            known = (size for size in sizes if tuple(word.key for word in words[at : at + size]) in self.expressions)
            size = next(known, 1)
            yield words[at : at + size]
            at += size


def make_phrase_language(tables: Tables, table: Mapping[str, Json], synonyms: Synonyms = ()) -> PhraseLanguage:
    """What the tables say of a language, with words that an analyst declared equal: each becomes the first one."""
    listed = {name: set(_list_single(table.get(name, ()))) for name in ("small", "telling", "light")}
    values = {word for name in _LIGHT for word, _ in tables.grammar.list_words(name)}
    plain = {word for name in _SMALL for word, _ in tables.grammar.list_words(name)}
    lexicon = Lexicon({key for texts in table.values() for key in _list_single(texts)}, base=tables.lexicon)
    language = PhraseLanguage(tables, frozenset(), frozenset(), {}, {}, {}, frozenset(), lexicon)
    denials = [word for word, _ in tables.grammar.list_words("denial")]
    groups = [[_split(form) for form in group.split()] for group in table.get("forms", ())]
    terms, expressions = _index_forms(language, [*groups, [(word,) for word in denials]])
    language = replace(language, terms=terms, expressions=expressions)
    own_terms, own_expressions = _index_forms(language, [list(map(_split, group)) for group in synonyms])
    language = replace(language, terms={**terms, **own_terms}, expressions={**expressions, **own_expressions})
    joined = {"".join(words) for words in language.expressions}
    light = listed["light"] | (values - plain - listed["telling"])
    return replace(
        language,
        small=frozenset((listed["small"] | plain) - listed["telling"] - light - joined),
        light=frozenset(light | {language.find_term(word) for word in light}),
        related=_index_related(language, table.get("related", ())),
        orders=frozenset(map(_split, table.get("order", ()))),
    )


def _index_forms(
    language: PhraseLanguage, groups: Iterable[Sequence[tuple[str, ...]]]
) -> tuple[dict[str, str], dict[tuple[str, ...], str]]:
    terms: dict[str, str] = {}
    expressions: dict[tuple[str, ...], str] = {}
    for group in groups:
        first = next(iter(group), ())
        term = language.find_term("".join(first)) if first else ""
        for form in filter(None, group):
            if len(form) > 1:
                expressions[form] = term
            else:
                terms[form[0]] = term
                terms.setdefault(language.find_term(form[0]), term)
    return terms, expressions


def _index_related(language: PhraseLanguage, groups: Iterable[str]) -> dict[str, frozenset[str]]:
    related: dict[str, frozenset[str]] = {}
    for group in groups:
        terms = frozenset(language.find_term(fold(word), word) for word in group.split())
        for term in terms:
            related[term] = (related.get(term, frozenset()) | terms) - {term}
    return related


def _split(text: str) -> tuple[str, ...]:
    return tuple(word.key for word in split_text(text.replace("_", " ")) if not word.is_sign)


def _list_single(words: Iterable[str]) -> Iterator[str]:
    return (key for word in words for key in _split(word))


@lru_cache(maxsize=32)
def get_phrase_language(name: str, synonyms: Synonyms = ()) -> PhraseLanguage:
    """The language of a folder."""
    return make_phrase_language(get_tables(name), read_table(name, "phrases"), synonyms)


def list_phrase_languages(synonyms: Synonyms = ()) -> tuple[PhraseLanguage, ...]:
    """All languages that have a folder."""
    return tuple(get_phrase_language(name, synonyms) for name in list_languages())


def detect_languages(text: str | None, languages: Sequence[PhraseLanguage]) -> tuple[PhraseLanguage, ...]:
    """The languages with the most small words in the text; several when it could be any of them."""
    counts = [language.count_small_words(text) for language in languages]
    return tuple(language for language, count in zip(languages, counts, strict=True) if count == max(counts))


def read_text(text: str | None, language: PhraseLanguage | None = None) -> list[TellingWord]:
    """The telling words of a text, in its own language by default."""
    language = language or detect_languages(text, list_phrase_languages())[-1]
    return language.read(text or "", language.split(text or ""))[0]


def has_telling_words(text: str | None) -> bool:
    """False for a text of small words alone."""
    return any(read_text(text, language) for language in detect_languages(text, list_phrase_languages()))


def has_words(text: str | None) -> bool:
    """False for blanks and signs."""
    return any(not word.is_sign for word in split_text(text or ""))


@lru_cache(maxsize=_CACHED)
def detect_phrase_languages(phrase: str, languages: tuple[PhraseLanguage, ...]) -> tuple[PhraseLanguage, ...]:
    """The languages of a phrase."""
    return detect_languages(phrase, languages)


@lru_cache(maxsize=_CACHED)
def read_phrase(phrase: str, language: PhraseLanguage) -> tuple[list[TellingWord], tuple[str, ...]]:
    """The telling words of a phrase, and all its words."""
    return language.read(phrase, language.split(phrase))


@lru_cache(maxsize=_CACHED)
def _spell(key: str, lexicon: Lexicon) -> str:
    return key if lexicon.has(key) else lexicon.spell(key) or key


@lru_cache(maxsize=_CACHED)
def _stem(word: str, algorithm: str) -> str:
    # A stemmer keeps the word that it works on, so threads do not share one.
    return str(snowballstemmer.stemmer(algorithm).stemWord(word)) if algorithm else word
