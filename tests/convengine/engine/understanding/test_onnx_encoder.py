"""An encoder that a deployment brings as an ONNX file: here one that knows three words."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from convengine.engine.understanding.onnx_encoder import OnnxEncoder, load_onnx_encoder
from convengine.engine.understanding.phrases.encoders import EncoderUnavailable
from convengine.server import wiring
from convengine.server.model_clients.connections import ModelConnectionInvalid, read_connections

FOLDER = Path(__file__).with_name("tiny_encoder")
pytestmark = pytest.mark.extra("onnx")


def test_a_text_has_the_mean_of_the_vectors_of_its_words() -> None:
    shut, both = OnnxEncoder(FOLDER).encode(["Shut", "shut bread"])
    assert np.allclose(shut, [1, 0, 0])
    assert np.allclose(both, [0.5, 0, 0.5])


def test_a_connection_names_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = {"near": {"provider": "onnx", "models": ["tiny"], "folder": str(FOLDER)}}
    monkeypatch.setattr(wiring, "models", lambda: read_connections(declared))
    for name in ("tiny", "near:tiny"):
        [vector] = wiring.embed(name, ["bread"])
        assert np.allclose(vector, [0, 0, 1])


@pytest.mark.parametrize("folder", [None, 5, "/nowhere", str(FOLDER.parent)])
def test_a_folder_without_an_encoder_is_refused(folder: object) -> None:
    declared = {"near": {"provider": "onnx", "models": ["tiny"], "folder": folder}}
    with pytest.raises(ModelConnectionInvalid, match="a folder with one"):
        read_connections(declared)  # type: ignore[arg-type]


def test_a_file_that_is_no_encoder_says_so(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "tokenizer.json", tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EncoderUnavailable, match="No encoder can be read in"):
        load_onnx_encoder(str(tmp_path))
