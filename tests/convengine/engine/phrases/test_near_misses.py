import pytest

from convengine.engine.phrases.languages import ENGLISH, GERMAN, Language
from convengine.engine.phrases.near_misses import COMPOUND, ONE_LETTER, RELATED, TWO_LETTERS, Vocabulary
from convengine.engine.phrases.words import read_telling_words


def find(text: str, phrases: str, language: Language = ENGLISH) -> dict[str, float]:
    (word,) = read_telling_words(text, language)
    return dict(Vocabulary(read_telling_words(phrases, language), language).find_similar(word))


@pytest.mark.parametrize(
    ("text", "similar"),
    [
        ("balence", {"balanc": ONE_LETTER}),
        ("limt", {"limit": ONE_LETTER}),
        ("recieving", {}),
        ("appointmant", {"appoint": ONE_LETTER}),
        ("apointmant", {"appoint": TWO_LETTERS}),
    ],
)
def test_a_typing_error_of_a_longer_word_is_read(text: str, similar: dict[str, float]) -> None:
    assert find(text, "balance limit appointment") == similar


@pytest.mark.parametrize(
    ("text", "phrases"), [("apple", "apply"), ("crd", "card"), ("12346", "12345"), ("boot", "book")]
)
def test_a_short_word_or_a_number_is_no_typing_error(text: str, phrases: str) -> None:
    assert find(text, phrases) == {}


def test_a_part_of_a_compound_counts() -> None:
    assert find("Zahnarzttermin", "Termin", GERMAN) == {"termin": COMPOUND}
    assert find("Termin", "Zahnarzttermin", GERMAN) == {"zahnarzttermin": COMPOUND}


def test_a_related_word_counts_where_no_phrase_has_the_word() -> None:
    assert find("purse", "wallet") == {"wallet": RELATED}


def test_a_word_that_is_cut_short_counts_where_it_begins_one_word() -> None:
    assert find("temp", "water temperature") == {"temperatur": COMPOUND}
    assert find("repa", "Reparaturen", GERMAN) == {"reparatur": COMPOUND}
    assert find("temp", "temperature temperament") == {}
    assert find("tem", "temperature") == {}
