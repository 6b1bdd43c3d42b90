"""The classifiers of this process, each made once from its phrases, and the store that other processes share."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from enum import Enum, auto
from functools import cache, partial
from importlib.metadata import version
from threading import Lock
from typing import Protocol

import numpy as np

from convengine.engine.understanding.encoder import Vector, describe_encoder, unload_encoder
from convengine.engine.understanding.language import LEARNED_FROM
from convengine.engine.understanding.phrases.classifier import (
    Content,
    Example,
    IntentRanker,
    Ranked,
    TrainingFailed,
    TrainingTexts,
    Weights,
    list_general_sentences,
    train,
)
from convengine.engine.understanding.phrases.encoders import (
    BATCH,
    BUILT_IN,
    NO_VECTORS,
    Encoder,
    EncoderUnavailable,
    describe_sizes,
    encode_texts,
    is_service,
    keep_vectors,
)
from convengine.engine.understanding.phrases.features import spell_beginning
from convengine.engine.understanding.phrases.interim import InterimClassifier
from convengine.engine.understanding.phrases.store import ModelStore, NoStore

#: To be raised when the same phrases give other weights.
_VERSION = 4
_LIBRARIES = ("numpy", "scikit-learn", "scipy")
#: How many classifiers a process keeps: of live, gradual and edited configurations. And of those that are being made.
_MOST_KEPT, _MOST_INTERIM = 8, 2
#: More phrases take longer to learn than a user waits for an answer.
_MOST_AT_ONCE = 1500
#: While a classifier is made, at most this number of new phrases is encoded.
_MOST_ENCODED = 50
VECTOR_TYPE = np.float16


class Making(Enum):
    """What happens when a classifier is needed that this process does not have."""

    #: It is taken from the store, or made now and stored.
    SHARED = auto()
    #: As SHARED, but one of many phrases is made in the background; an `InterimClassifier` answers meanwhile.
    BACKGROUND = auto()
    #: It is made now, and not stored: nobody else needs it.
    OWN = auto()
    #: What is stored is read; else it is made now, and not stored: the configuration is not saved. One of many phrases
    #: is not made at all, and an `InterimClassifier` answers.
    PREVIEW = auto()


class Ranker(Protocol):
    """Ranks the intents that a message may mean."""

    @property
    def substitution(self) -> str:
        """Why it decides in the place of the classifier of these phrases; blank for that one."""

    def rank(self, text: str, most: int) -> tuple[Ranked, ...]:
        """The intents that a message may mean, the likeliest first, at most `most`."""

    def list_likenesses(self, text: str) -> Iterator[tuple[Example, float]]:
        """How like a text each phrase is, from 0 to 1."""


class _Models:
    def __init__(self) -> None:
        self.store: ModelStore = NoStore()
        self.kept: OrderedDict[str, IntentRanker] = OrderedDict()
        self.interims: OrderedDict[str, InterimClassifier] = OrderedDict()
        #: By name.
        self.encoders: dict[str, Encoder] = {}
        #: The names of those that are being made in the background, or could not be trained.
        self.started: set[str] = set()
        self.lock = Lock()

    def find(self, name: str) -> IntentRanker | None:
        """A classifier of this process. Returns None if the process does not have it."""
        with self.lock:
            classifier = self.kept.get(name)
            if classifier:
                self.kept.move_to_end(name)
            return classifier

    def keep(self, name: str, classifier: IntentRanker) -> None:
        """Keep a classifier, and forget the one that was not used for the longest time."""
        with self.lock:
            self.interims.pop(name, None)
            self.kept[name] = classifier
            while len(self.kept) > _MOST_KEPT:
                self.kept.popitem(last=False)

    def list_kept(self) -> list[IntentRanker]:
        """All classifiers, the one that was used last first."""
        with self.lock:
            return [*reversed(self.kept.values())]


class _VectorStore(NoStore):
    def load_vectors(self, names: Sequence[str]) -> Mapping[str, bytes]:
        return _models.store.load_vectors(names)


class _ReadOnlyStore(_VectorStore):
    def load(self, name: str) -> bytes | None:
        return _models.store.load(name)


_models = _Models()
_making: ContextVar[Making] = ContextVar("making", default=Making.SHARED)


def use_store(store: ModelStore) -> None:
    """Share classifiers with other processes through a store."""
    _models.store = store


@contextmanager
def choose_making(how: Making) -> Iterator[None]:
    """Inside, classifiers are made in this way."""
    token = _making.set(how)
    try:
        yield
    finally:
        _making.reset(token)


def get_classifier(content: Content, name: str, messages: Sequence[str] = ()) -> Ranker:
    """The classifier that phrases train, by its name (`name_model`); or what answers while that is made.

    A service is asked at once for the vectors of all messages. If it fails, a classifier without vectors answers.
    """
    try:
        ranker = _get_classifier(content, name)
        if messages and is_service(content.encoder):
            store = _get_store(content)
            encoder = load_encoder(content.encoder, store)
            if _making.get() is Making.OWN:
                # A phrase that is left out of a cross-validation is a message then, and its vector is known.
                keep_vectors(encoder.name, _load_stored_vectors(messages, store, encoder.name, 0))
            encoder.encode_all(messages)
        return ranker
    except EncoderUnavailable:
        without = content._replace(encoder=NO_VECTORS)
        return _get_classifier(without, name_model(without))


def load_classifier(content: Content, name: str) -> None:
    """Have a classifier ready, and the one that answers when its service fails. Raises EncoderUnavailable."""
    if is_service(content.encoder):
        without = content._replace(encoder=NO_VECTORS)
        _get_classifier(without, name_model(without))
    _get_classifier(content, name)


def may_wait(count: int) -> bool:
    """True if the caller may wait while this number of texts is made ready. False if that is left to the background."""
    return count <= _MOST_AT_ONCE or _making.get() not in (Making.BACKGROUND, Making.PREVIEW)


def load_compared(texts: Sequence[str], encoder: str) -> tuple[Encoder, dict[str, Vector]] | None:
    """An encoder, and the vectors of texts that messages are compared with.

    Returns None while there are too many new ones to wait for, which are made in the background, and for a service that
    fails.
    """
    unique = [*dict.fromkeys(texts)]

    def load(store: ModelStore, compared: Encoder, most_new: int | None) -> dict[str, Vector]:
        return load_vectors(unique, store, compared, most_new=most_new)

    return load_ready(encoder, unique, load)


def load_ready(
    encoder: str, names: Sequence[str], load: Callable[[ModelStore, Encoder, int | None], dict[str, Vector]]
) -> tuple[Encoder, dict[str, Vector]] | None:
    """What `load` gives for all names. None where a turn should not wait for it: it is made in the background."""
    how, store, waits = _making.get(), _get_store(Content((), encoder=encoder)), may_wait(len(names))
    try:
        compared = load_encoder(encoder, store)
        vectors = load(store, compared, None if waits else _MOST_ENCODED)
    except EncoderUnavailable:
        return None
    if len(vectors) == len(names):
        return compared, vectors
    if how is Making.BACKGROUND:
        task = hashlib.sha256(json.dumps([*names, encoder]).encode()).hexdigest()
        _start(task, lambda: load(_models.store, compared, None))
    return None


def _get_classifier(content: Content, name: str) -> Ranker:
    """The classifier, kept or made as `Making` says, or its interim. Raises EncoderUnavailable."""
    classifier = _models.find(name)
    if classifier:
        return classifier
    how = _making.get()
    if how is Making.BACKGROUND and (
        is_large(content)
        # Its service may not have been asked yet.
        or (is_service(content.encoder) and _models.store.load(name) is None)
    ):
        _start(name, partial(_make, content, name, _models.store))
        return _models.find(name) or _get_interim(content, name)
    if how is Making.PREVIEW and is_large(content):
        return _get_interim(content, name)
    return _make(content, name, _get_store(content))


def is_large(content: Content) -> bool:
    """True for a classifier that takes longer to make than a user waits."""
    return len(content.examples) + len(content.words) > _MOST_AT_ONCE


def is_made(name: str) -> bool:
    """True for a classifier that this process has."""
    return name in _models.kept


def name_model(content: Content) -> str:
    """The name of a classifier: the hash of all that it is made from."""
    libraries = [describe_encoder(), *(f"{name} {version(name)}" for name in _LIBRARIES)]
    own = [sorted(set(content.examples)), sorted(set(content.words)), content.synonyms]
    languages = content.languages if content.languages != LEARNED_FROM else ()
    made_from = [_VERSION, libraries, own, list_general_sentences(), *filter(None, [content.encoder, languages])]
    return hashlib.sha256(json.dumps(made_from).encode()).hexdigest()


def name_vector(text: str, encoder: str = "") -> str:
    """The name of the vector of a text."""
    content = f"{_VERSION} {encoder or describe_encoder()}\n{spell_beginning(text)}"
    return hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()


def load_vectors(
    texts: Sequence[str], store: ModelStore, encoder: Encoder = BUILT_IN, *, most_new: int | None = None
) -> dict[str, Vector]:
    """The vectors of texts, with the digits that are stored. This encodes new texts only, at most `most_new` of them.

    Vectors of classifiers that this process has are not read again. Raises EncoderUnavailable.
    """
    missing, known = dict.fromkeys(texts), dict[str, Vector]()
    for classifier in _models.list_kept():
        if missing and classifier.encoder.name == encoder.name:
            known |= {text: vector for text, vector in classifier.vectors.items() if text in missing}
            missing = {text: None for text in missing if text not in known}
    stored = _load_stored_vectors([*missing], store, encoder.name, most_new)
    return known | {text: encoder.adjust(vector) for text, vector in stored.items()}


def read_vectors(texts: Sequence[str]) -> dict[str, Vector]:
    """The vectors of texts that may never be saved: what is known is read, and nothing is stored."""
    return {text: vector.astype(np.float32) for text, vector in load_vectors(texts, _ReadOnlyStore()).items()}


def load_encoder(name: str, store: ModelStore) -> Encoder:
    """An encoder by its name. Raises EncoderUnavailable.

    To a service, general sentences are often alike: what all have in common says nothing.
    """
    encoder = _models.encoders.get(name, Encoder(name))
    if is_service(name) and encoder.center is None:
        vectors = _load_stored_vectors(list_general_sentences(), store, name)
        sizes = {vector.size for vector in vectors.values()}
        if len(sizes) > 1:
            raise EncoderUnavailable("LLM_INVALID_RESPONSE", describe_sizes(name, *sorted(sizes)[:2]))
        encoder = _models.encoders[name] = Encoder(name, np.mean([*vectors.values()], axis=0, dtype=np.float32))
    return encoder


def _load_stored_vectors(
    texts: Sequence[str], store: ModelStore, encoder: str, most_new: int | None = None
) -> dict[str, Vector]:
    """Vectors as the encoder gave them; new ones are stored in parts, so that a failure loses little."""
    if encoder == NO_VECTORS:
        return dict(zip(texts, encode_texts(encoder, texts), strict=True))
    names = {text: name_vector(text, encoder) for text in texts}
    packed = dict(store.load_vectors([*names.values()])) if names else {}
    new = [text for text, name in names.items() if name not in packed][:most_new]
    for start in range(0, len(new), BATCH):
        part = new[start : start + BATCH]
        encoded = zip(part, encode_texts(encoder, part), strict=True)
        vectors = {names[text]: vector.astype(VECTOR_TYPE).tobytes() for text, vector in encoded}
        store.save_vectors(vectors)
        packed |= vectors
    return {text: np.frombuffer(packed[name], VECTOR_TYPE) for text, name in names.items() if name in packed}


def _start(name: str, make: Callable[[], object]) -> None:
    """Have something made in the background, once in this process."""
    with _models.lock:
        if name in _models.started:
            return
        _models.started.add(name)
    if not _models.store.start(partial(_make_later, name, make)):
        _models.started.discard(name)


def _make_later(name: str, make: Callable[[], object]) -> None:
    """Make it in the background. If the service fails, the next turn that needs it tries again; if it cannot be
    trained, the next process.
    """
    is_given_up = False
    try:
        with suppress(EncoderUnavailable):
            make()
    except TrainingFailed:
        is_given_up = True
        raise
    finally:
        if not is_given_up:
            _models.started.discard(name)


def _make(content: Content, name: str, store: ModelStore) -> IntentRanker:
    """Load or train a classifier, and keep it in this process. Raises EncoderUnavailable."""
    encoder = load_encoder(content.encoder, store)
    read_texts = cache(lambda: TrainingTexts(content, load_vectors(content.list_texts(), store, encoder), encoder))

    def make() -> bytes:
        # What is only for this process is learned in it.
        is_shared = _making.get() in (Making.SHARED, Making.BACKGROUND)
        return store.train(content) if is_shared and is_large(content) else train(read_texts()).pack()

    weights = store.load_or_make(name, make, takes_long=is_large(content))
    classifier = IntentRanker(read_texts(), Weights.unpack(weights))
    _models.keep(name, classifier)
    return classifier


def train_content(content: Content, store: ModelStore) -> bytes:
    """What phrases teach, learned in this process, with little memory. Raises EncoderUnavailable."""
    encoder = load_encoder(content.encoder, store)
    vectors = load_vectors(content.list_texts(), store, encoder)
    unload_encoder()
    return train(TrainingTexts(content, vectors, encoder)).pack()


def _get_store(content: Content) -> ModelStore:
    """The store that the way of making allows: all of it, only to read, only its vectors, or none."""
    match _making.get():
        case Making.OWN:
            return _VectorStore() if is_service(content.encoder) else NoStore()
        case Making.PREVIEW:
            return _ReadOnlyStore()
    return _models.store


def _get_interim(content: Content, name: str) -> InterimClassifier:
    """What answers while the classifier is made. Raises EncoderUnavailable."""
    interim = _models.interims.get(name)
    if interim is None:
        phrases, store = frozenset(content.examples), _get_store(content)
        earlier = [each for each in _models.list_kept() if each.encoder.name == content.encoder]
        last = max(earlier, key=lambda classifier: len(classifier.phrases & phrases), default=None)
        if last is None and is_service(content.encoder):
            raise EncoderUnavailable("LLM_CALL_FAILED", f"{content.encoder} was not asked for all phrases yet.")
        encoder, texts = load_encoder(content.encoder, store), [example.text for example in content.examples]
        interim = InterimClassifier(phrases, last, load_vectors(texts, store, encoder, most_new=_MOST_ENCODED), encoder)
        with _models.lock:
            _models.interims[name] = interim
            while len(_models.interims) > _MOST_INTERIM:
                _models.interims.popitem(last=False)
    return interim
