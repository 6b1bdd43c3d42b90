"""Sentence vectors from a table of word vectors: the `semantic` extra. No service, no network, 0.1 ms a sentence."""

from array import array
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from operator import mul
from pathlib import Path
from threading import Lock
from typing import Any

from convengine.domain.ports import LikenessAnswer
from convengine.domain.text import blank

NOT_INSTALLED = "The extra `semantic` is not installed."
_MODEL = "wordllama 256"
#: Scores are compared with thresholds of two digits; beyond four they are noise of the machine.
_DIGITS = 4
_loading = Lock()


def installed() -> bool:
    """True when the package is there. Nothing is imported."""
    return find_spec("wordllama") is not None


class WordVectors:
    """What stands at the likeness port: static vectors out of the wheel, loaded at the first question."""

    def likeness(self, text: str, others: Sequence[str]) -> LikenessAnswer:
        """The cosine of `text` with each of the others, nothing below 0. Never raises."""
        if not installed():
            return LikenessAnswer(error_message=NOT_INSTALLED)
        if blank(text):
            return LikenessAnswer((0.0,) * len(others), _MODEL)
        try:
            with _loading:
                table = _vectors(tuple(others))
                (one,) = _model().embed([text], norm=True)
        except Exception as error:
            return LikenessAnswer(error_message=f"{type(error).__name__}: {error}")
        return LikenessAnswer(tuple(max(0.0, round(float(score), _DIGITS)) for score in table @ one), _MODEL)


def embedded(texts: Sequence[str]) -> list[bytes]:
    """A vector for each text, to be stored; none at all without the extra."""
    if not installed():
        return []
    with _loading:
        return [vector.astype("float32").tobytes() for vector in _model().embed(list(texts), norm=True)]


def closeness(one: bytes, others: Sequence[bytes]) -> list[float]:
    """The cosine of a vector with each of the others. Only where `embedded` gave something."""
    wanted = array("f", one)
    return [sum(map(mul, wanted, array("f", other))) for other in others]


@lru_cache(maxsize=16)
def _vectors(texts: tuple[str, ...]) -> Any:
    """The vectors of the examples of a release, one a row: embedded once, not in every turn."""
    return _model().embed(list(texts), norm=True)


@lru_cache(maxsize=1)
def _model() -> Any:
    import wordllama

    # It would look for its files elsewhere and then want to fetch them.
    folder = Path(str(wordllama.__file__)).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
