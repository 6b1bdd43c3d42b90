"""Words without their endings."""

from functools import lru_cache

from convengine.engine.understanding.grammar import Grammar


def stem(word: str, grammar: Grammar) -> str:
    """The stem of a word, by the stemmer of a language; any other text than a word as it is."""
    return stem_word(word, _get_stemmer_name(grammar)) if word.isalpha() else word


@lru_cache(maxsize=32768)
def stem_word(word: str, stemmer: str) -> str:
    """The stem of a word by the stemmer of this name; the word itself for a blank one."""
    import snowballstemmer

    # A stemmer keeps the word that it works on, so threads do not share one.
    return str(snowballstemmer.stemmer(stemmer).stemWord(word)) if stemmer else word


@lru_cache(maxsize=16)
def _get_stemmer_name(grammar: Grammar) -> str:
    return next((str(name) for _, name in grammar.list_words("stemmer")), "")
