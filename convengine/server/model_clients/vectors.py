"""Sentence vectors as they are stored and compared outside of turns."""

from collections.abc import Sequence

import numpy as np

from convengine.engine.understanding.encoder import DIMENSIONS, encode

#: The length of a stored vector.
BYTES = DIMENSIONS * np.dtype(np.float32).itemsize


def embed(texts: Sequence[str]) -> list[bytes]:
    """A vector for each text, to be stored."""
    return [vector.tobytes() for vector in encode(texts)]


def closeness(vector: bytes, others: Sequence[bytes]) -> list[float]:
    """The cosine of a vector with each of the others."""
    wanted, table = (np.frombuffer(stored, np.float32) for stored in (vector, b"".join(others)))
    return [float(score) for score in table.reshape(-1, DIMENSIONS) @ wanted]
