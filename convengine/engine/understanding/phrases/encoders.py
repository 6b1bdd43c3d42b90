"""What gives the phrases of a configuration their vectors: the encoder of this process, or a service that it names."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from convengine.engine.understanding.encoder import PASSAGE, Vector, encode_text, shorten_text
from convengine.engine.understanding.phrases.features import spell_beginning

#: The name of the encoder whose vectors have no numbers: words and letters decide alone.
NO_VECTORS = "NO_VECTORS"
#: How many texts a service is asked about at once.
BATCH = 64
#: Messages whose vectors of a service are kept.
_MOST_KEPT = 2048


class EncoderUnavailable(Exception):
    """A service gave no vectors; `code` is that of a failed call of a model."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


#: Gives a vector for each text by a model of the deployment. Raises EncoderUnavailable.
EncoderService = Callable[[str, Sequence[str]], Sequence[Vector]]
#: The name of an encoder, and a text.
_Key = tuple[str, str]


@dataclass(frozen=True)
class Encoder:
    """Gives texts vectors of length 1, whose product says how alike they are."""

    #: Blank for the encoder of this process.
    name: str = ""
    #: What the vectors of all texts of a service have in common; None if they are compared as they are.
    center: Vector | None = None

    def encode(self, text: str) -> Vector:
        """The vector of a text. Raises EncoderUnavailable."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text. Raises EncoderUnavailable."""
        return [self.adjust(vector) for vector in encode_texts(self.name, texts)]

    def adjust(self, vector: Vector) -> Vector:
        """A vector without what all have in common. Raises EncoderUnavailable."""
        if self.center is None:
            return vector
        if vector.shape != self.center.shape:
            raise EncoderUnavailable("LLM_INVALID_RESPONSE", describe_sizes(self.name, vector.size, self.center.size))
        return _scale(vector - self.center)


def describe_sizes(name: str, size: int, other: int) -> str:
    """What is wrong with vectors of two lengths, and what to do."""
    return (
        f"{name} gives vectors of {size} and of {other} numbers. If it is another model now, or has another "
        "configuration, give it another name."
    )


BUILT_IN = Encoder()


def is_service(name: str) -> bool:
    """True for an encoder outside of this process."""
    return name not in ("", NO_VECTORS)


def encode_passages(name: str, texts: Sequence[str]) -> list[Vector]:
    """A vector for each text of up to PASSAGE characters. Raises EncoderUnavailable."""
    if name == NO_VECTORS:
        raise EncoderUnavailable("LLM_NOT_CONFIGURED", "Without vectors, no passages are compared.")
    if is_service(name):
        return [
            vector
            for start in range(0, len(texts), BATCH)
            for vector in _service.encode(name, texts[start : start + BATCH], PASSAGE)
        ]
    return [encode_text(text, PASSAGE) for text in texts]


def encode_texts(name: str, texts: Sequence[str]) -> list[Vector]:
    """A vector for each text as the encoder gives it, however the first letter is written. Raises EncoderUnavailable.

    A service is asked once for what it was not asked lately.
    """
    plain = [spell_beginning(text) for text in texts]
    if name == NO_VECTORS:
        return [np.empty(0, np.float32)] * len(plain)
    return _service.encode(name, plain) if name else [*map(encode_text, plain)]


def keep_vectors(name: str, vectors: Mapping[str, Vector]) -> None:
    """Do not ask a service for the vectors of these texts, as it gave them, for some time."""
    _service.keep({(name, shorten_text(spell_beginning(text))): vector for text, vector in vectors.items()})


def use_service(embed: EncoderService) -> None:
    """Ask the models of the deployment through this function."""
    _service.embed = embed


class _Service:
    def __init__(self) -> None:
        self.embed: EncoderService | None = None
        self._vectors: OrderedDict[_Key, Vector] = OrderedDict()
        self._lock = Lock()

    def encode(self, name: str, texts: Sequence[str], most: int | None = None) -> list[Vector]:
        """A vector of length 1 for each text; the service is asked for those that are not kept.

        Raises EncoderUnavailable.
        """
        keys = [(name, shorten_text(text, most) if most else shorten_text(text)) for text in texts]
        with self._lock:
            known = {key: self._vectors[key] for key in keys if key in self._vectors}
        new = [key for key in dict.fromkeys(keys) if key not in known]
        for start in range(0, len(new), BATCH):
            if self.embed is None:
                raise EncoderUnavailable("LLM_NOT_CONFIGURED", f"No connection to the model {name} is configured.")
            part = new[start : start + BATCH]
            vectors = self.embed(name, [text for _, text in part])
            known |= {key: _scale(vector) for key, vector in zip(part, vectors, strict=True)}
        self.keep(known)
        return [known[key] for key in keys]

    def keep(self, vectors: Mapping[_Key, Vector]) -> None:
        """Keep vectors, and forget those that were not used for the longest time."""
        with self._lock:
            for key, vector in vectors.items():
                self._vectors[key] = vector
                self._vectors.move_to_end(key)
            while len(self._vectors) > _MOST_KEPT:
                self._vectors.popitem(last=False)


_service = _Service()


def _scale(vector: Vector) -> Vector:
    """A vector of length 1."""
    return vector / np.float32(np.linalg.norm(vector) or 1)
