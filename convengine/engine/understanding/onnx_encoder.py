"""Sentences as vectors by an encoder that the deployment brings as an ONNX file: in this process, without a network."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from convengine.engine.extras import describe_missing
from convengine.engine.understanding.encoder import Vector
from convengine.engine.understanding.phrases.encoders import EncoderUnavailable

#: More tokens of a text are not encoded.
_MOST_TOKENS = 256
TOKENIZER = "tokenizer.json"


def list_models(folder: Path) -> list[Path]:
    """The encoders in a folder; one that can be used has one, and TOKENIZER."""
    return sorted(folder.glob("*.onnx")) if (folder / TOKENIZER).is_file() else []


class OnnxEncoder:
    """Gives a text the mean of the vectors of its tokens, as most encoders of sentences want it: their first output."""

    def __init__(self, folder: Path) -> None:
        """Raises EncoderUnavailable."""
        if missing := describe_missing("onnx"):
            raise EncoderUnavailable("LLM_NOT_CONFIGURED", missing)
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer

        options = SessionOptions()
        # As the encoder of the product: more threads make a message slower where other work keeps the processors busy.
        options.intra_op_num_threads = 1
        models = list_models(folder)
        if len(models) != 1:
            raise EncoderUnavailable("LLM_NOT_CONFIGURED", f"{folder} must have one .onnx file and {TOKENIZER}.")
        try:
            self._session = InferenceSession(models[0], options, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(_MOST_TOKENS)
            self._inputs = [entry.name for entry in self._session.get_inputs()]
            self._encode("Hello")
        except Exception as error:
            # The libraries raise errors of many kinds.
            raise EncoderUnavailable("LLM_CALL_FAILED", f"No encoder can be read in {folder}: {error}") from error

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text. One by one: a text in a batch differs slightly."""
        return [self._encode(text) for text in texts]

    def _encode(self, text: str) -> Vector:
        encoding = self._tokenizer.encode(text)
        tokens = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        given: dict[str, Any] = {name: np.array([tokens[name]], np.int64) for name in self._inputs}
        vectors: Vector = np.asarray(self._session.run(None, given)[0], np.float32)[0]
        # Some give the vector of the text itself.
        return vectors if vectors.ndim == 1 else vectors.mean(axis=0)


@lru_cache(4)
def load_onnx_encoder(folder: str) -> OnnxEncoder:
    """The encoder of a folder, read once in a process. Raises EncoderUnavailable."""
    return OnnxEncoder(Path(folder))
