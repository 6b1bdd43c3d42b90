"""The vectors of the sections of documents, stored and shared as those of phrases are."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from convengine.engine.understanding.encoder import Vector
from convengine.engine.understanding.phrases.encoders import Encoder, encode_passages
from convengine.engine.understanding.phrases.models import VECTOR_TYPE, load_ready, name_vector
from convengine.engine.understanding.phrases.store import ModelStore


def load_passages(
    sections: Sequence[Sequence[str]], encoder: str, report: Callable[[int], None] | None = None
) -> tuple[Encoder, list[Vector]] | None:
    """An encoder, and for each section of a document the vectors of its texts, a row for each.

    Returns None as `load_compared` does. `report` is told how many sections are done.
    """
    names = {name_passages(texts, encoder): texts for texts in sections}

    def load(store: ModelStore, compared: Encoder, most_new: int | None) -> dict[str, Vector]:
        return _load_stored_passages(names, store, compared, most_new, report)

    if (ready := load_ready(encoder, [*names], load)) is None:
        return None
    compared, vectors = ready
    by_texts = {tuple(texts): vectors[name] for name, texts in names.items()}
    return compared, [by_texts[tuple(texts)] for texts in sections]


def name_passages(texts: Sequence[str], encoder: str) -> str:
    """The name of the stored vectors of a section."""
    return name_vector("\n".join(["passages", *texts]), encoder)


def _load_stored_passages(
    names: Mapping[str, Sequence[str]],
    store: ModelStore,
    encoder: Encoder,
    most_new: int | None,
    report: Callable[[int], None] | None,
) -> dict[str, Vector]:
    """The vectors of sections; new ones are stored one by one, so that a failure loses little."""
    packed = dict(store.load_vectors([*names]))
    for name in [name for name in names if name not in packed][:most_new]:
        matrix = np.stack(encode_passages(encoder.name, names[name])).astype(VECTOR_TYPE)
        packed[name] = matrix.tobytes()
        store.save_vectors({name: packed[name]})
        if report:
            report(len(packed))
    known = {name: np.frombuffer(packed[name], VECTOR_TYPE) for name in names if name in packed}
    rows: dict[str, Vector] = {
        name: vector.reshape(len(names[name]), -1).astype(np.float32) for name, vector in known.items()
    }
    if encoder.center is None:
        return rows
    return {name: np.stack([encoder.adjust(row) for row in own]) for name, own in rows.items()}
