import pytest

from convengine.engine.understanding.phrases.near_misses import COMPOUND, RELATED, SLIP, PhraseLexicon, Vocabulary
from convengine.engine.understanding.phrases.terms import PhraseLanguage, get_phrase_language, read_phrase

ENGLISH, GERMAN = get_phrase_language("en"), get_phrase_language("de")


def find(text: str, phrases: str, language: PhraseLanguage = ENGLISH) -> dict[str, float]:
    (word,) = read_phrase(text, language)[0]
    return dict(Vocabulary(read_phrase(phrases, language)[0], language).find_terms(word))


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("balence", "balance"),
        ("limt", "limit"),
        ("recieving", None),
        ("apointmant", None),
        ("plese", "please"),
        ("tenth", "teeth"),
    ],
)
def test_a_word_is_mended_to_a_word_of_the_phrases_or_a_small_one(text: str, mended: str | None) -> None:
    assert PhraseLexicon({"balance", "limit", "appointment", "teeth"}, ENGLISH).mend(text) == mended


def test_a_mended_word_counts_a_little_less() -> None:
    (word,) = read_phrase("balance", ENGLISH)[0]

    assert Vocabulary([word], ENGLISH).find_terms(word._replace(is_mended=True)) == {"balanc": SLIP}


def test_a_number_is_nothing_similar() -> None:
    assert find("12346", "12345") == {}


def test_a_part_of_a_compound_counts() -> None:
    assert find("Zahnarzttermin", "Termin", GERMAN) == {"termin": COMPOUND}
    assert find("Termin", "Zahnarzttermin", GERMAN) == {"zahnarzttermin": COMPOUND}


def test_a_related_word_counts_where_no_phrase_has_the_word() -> None:
    assert find("purse", "wallet") == {"wallet": RELATED}
