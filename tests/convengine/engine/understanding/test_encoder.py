"""Sentences as vectors."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from convengine.engine.understanding.encoder import DIMENSIONS, encode, encode_text


def test_sentences_of_one_meaning_are_nearer_than_others_in_any_language() -> None:
    rain, regen, invoice = encode(["Will it rain tomorrow?", "Regnet es morgen?", "Where is my invoice?"])
    assert float(rain @ regen) > float(rain @ invoice) + 0.3


def test_a_text_has_the_same_vector_alone_in_a_list_and_in_many_threads() -> None:
    texts = [f"I would like to book {number} rooms" for number in range(20)]
    alone = [encode_text(text).tobytes() for text in texts]
    encode_text.__globals__["_encode"].cache_clear()
    with ThreadPoolExecutor(8) as threads:
        beside = list(threads.map(lambda text: encode([text])[0].tobytes(), texts * 3))
    assert beside == alone * 3


def test_vectors_have_length_1_and_cannot_be_changed() -> None:
    vector = encode_text("  hello \n there ")
    assert abs(float(vector @ vector) - 1) < 1e-5
    assert not vector.flags.writeable
    assert np.array_equal(vector, encode_text("hello there"))


def test_halves_of_characters_long_and_empty_texts_have_vectors() -> None:
    assert encode(["\ud800 hello", "a " * 50_000, ""]).shape == (3, DIMENSIONS)
    assert encode([]).shape == (0, DIMENSIONS)
