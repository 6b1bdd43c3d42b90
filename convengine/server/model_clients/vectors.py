"""Sentence vectors from a table of word vectors: the `semantic` extra. No service, no network, 0.1 ms per sentence."""

from array import array
from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from pathlib import Path
from threading import Lock
from typing import Any

from convengine.engine.extras import is_installed
from convengine.engine.text.compare import blank
from convengine.engine.turn.ports import LikenessAnswer

NOT_INSTALLED = "The extra `semantic` is not installed."
_MODEL = "wordllama 256"
#: Scores are compared with thresholds of two digits; digits beyond four are noise.
_DIGITS = 4
_loading = Lock()


class WordVectors:
    """The likeness port: static vectors out of the wheel, loaded at first use."""

    def likeness(self, text: str, others: Sequence[str]) -> LikenessAnswer:
        """The cosine of `text` with each of the others, nothing below 0. Never raises."""
        if not is_installed("semantic"):
            return LikenessAnswer(error_message=NOT_INSTALLED)
        if blank(text):
            return LikenessAnswer((0.0,) * len(others), _MODEL)
        try:
            with _loading:
                table = _vectors(tuple(others))
                (vector,) = _model().embed([text], norm=True)
        except Exception as error:
            return LikenessAnswer(error_message=f"{type(error).__name__}: {error}")
        return LikenessAnswer(tuple(max(0.0, round(float(score), _DIGITS)) for score in table @ vector), _MODEL)


def embed(texts: Sequence[str]) -> list[bytes]:
    """A vector for each text, to be stored; none without the extra."""
    if not is_installed("semantic"):
        return []
    with _loading:
        return [vector.astype("float32").tobytes() for vector in _model().embed(list(texts), norm=True)]


def closeness(vector: bytes, others: Sequence[bytes]) -> list[float]:
    """The cosine of a vector with each of the others. Only if `embedded` returned vectors."""
    wanted = array("f", vector)
    return [sum(map(mul, wanted, array("f", other))) for other in others]


def find_similar_earlier(texts: Sequence[str], least: float) -> list[int | None]:
    """For each text the most similar earlier one, if their cosine is at least `least`. None without the extra."""
    if not is_installed("semantic") or len(texts) < 2:
        return [None] * len(texts)
    with _loading:
        table = _model().embed(list(texts), norm=True)
    scores = table @ table.T
    nearest: list[int | None] = [None]
    for index in range(1, len(texts)):
        earlier = int(scores[index][:index].argmax())
        nearest.append(earlier if float(scores[index][earlier]) >= least else None)
    return nearest


@lru_cache(maxsize=16)
def _vectors(texts: tuple[str, ...]) -> Any:
    """The vectors of a release's examples, one per row, computed once."""
    return _model().embed(list(texts), norm=True)


@lru_cache(maxsize=1)
def _model() -> Any:
    import wordllama

    # Otherwise it looks for its files elsewhere and tries to download them.
    folder = Path(str(wordllama.__file__)).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
