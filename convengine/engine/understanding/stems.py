"""Words without their endings."""

from functools import lru_cache
from typing import Protocol

from convengine.engine.understanding.grammar import Grammar


class Stemmer(Protocol):
    """What is used of a stemmer of the library."""

    def stemWord(self, word: str) -> str:
        """The stem of one word."""


@lru_cache(maxsize=16)
def get_stemmer_name(grammar: Grammar) -> str:
    return next((word for word, _ in grammar.list_words("stemmer")), "")


@lru_cache(maxsize=8192)
def stem(word: str, stemmer: str) -> str:
    """The stem of a word, by the language's stemmer."""
    return _get_stemmer(stemmer).stemWord(word) if stemmer and word.isalpha() else word


@lru_cache(maxsize=8)
def _get_stemmer(name: str) -> Stemmer:
    import snowballstemmer

    stemmer: Stemmer = snowballstemmer.stemmer(name)
    return stemmer
