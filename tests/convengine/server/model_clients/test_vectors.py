import subprocess
import sys

import pytest

from convengine.server.model_clients import vectors
from convengine.server.model_clients.vectors import WordVectors

installed = pytest.mark.extra("semantic")
EXAMPLES = ("I want a copy of my invoice", "cancel my order", "what are your opening hours")


@installed
@pytest.mark.parametrize(
    ("text", "best"), [("could you resend the invoice", 0), ("call off my order", 1), ("when do you open", 2)]
)
def test_a_sentence_is_most_alike_what_means_the_same(text: str, best: int) -> None:
    answer = WordVectors().likeness(text, EXAMPLES)

    assert answer.error_message is None
    assert answer.scores.index(max(answer.scores)) == best
    assert 0 <= min(answer.scores) <= max(answer.scores) <= 1
    assert WordVectors().likeness(text, EXAMPLES) == answer


@installed
@pytest.mark.parametrize("text", ["", "🙂", "\x00", "a" * 20_000, "¿?", "😀" * 500, "\ud800"])
def test_no_text_breaks_the_comparison(text: str) -> None:
    answer = WordVectors().likeness(text, ("hello", "🙂", "."))

    assert len(answer.scores) == 3 or answer.error_message


@installed
def test_the_same_words_are_wholly_alike_and_nothing_is_like_nothing() -> None:
    assert WordVectors().likeness("where is my parcel", ("where is my parcel",)).scores == (1.0,)
    assert WordVectors().likeness("hello", ()).scores == ()


def test_without_the_extra_the_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "is_installed", lambda extra: False)

    assert WordVectors().likeness("a", ("b",)).error_message == "The extra `semantic` is not installed."


def test_vectors_that_cannot_be_loaded_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("no such file")

    monkeypatch.setattr(vectors, "is_installed", lambda extra: True)
    monkeypatch.setattr(vectors, "_model", fail)

    assert WordVectors().likeness("a", ("unheard of",)).error_message == "OSError: no such file"


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, convengine.server.model_clients.vectors; "
        "sys.exit('numpy' in sys.modules or 'wordllama' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
