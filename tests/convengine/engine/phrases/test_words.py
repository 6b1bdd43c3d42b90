import pytest

from convengine.engine.phrases.languages import ENGLISH, GERMAN, Language
from convengine.engine.phrases.words import Synonyms, detect_languages, has_telling_words, read_telling_words


def terms(text: str, language: Language = ENGLISH, synonyms: Synonyms | None = None) -> list[str]:
    return [word.term for word in read_telling_words(text, language, synonyms)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I'd like to cancel my order, please!", "cancelled orders"),
        ("I can’t log in", "cannot login"),
        ("somebody STOLE my cards", "card stolen"),
        ("Do you recognise it?", "recognize"),
    ],
)
def test_forms_and_spellings_of_a_word_are_one_term(one: str, other: str) -> None:
    assert sorted(terms(one)) == sorted(terms(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ich möchte meinen Termin absagen", "termin abgesagt"),
        ("ich moechte Geld überweisen", "Geld ueberwiesen"),
        ("Wie viel kostet das?", "wieviel kosten"),
    ],
)
def test_german_words_are_read_with_and_without_umlauts(one: str, other: str) -> None:
    assert terms(one, GERMAN) == terms(other, GERMAN)


def test_a_word_that_says_when_or_how_many_is_light() -> None:
    assert [(word.text, word.light) for word in read_telling_words("3 tickets for Monday", ENGLISH)] == [
        ("3", True),
        ("tickets", False),
        ("monday", True),
    ]


def test_a_term_is_read_once() -> None:
    assert terms("card, card and cards") == ["card"]


@pytest.mark.parametrize(
    ("text", "codes"), [("where is my order", ["en"]), ("wo ist meine Bestellung", ["de"]), ("Taxi", ["en", "de"])]
)
def test_the_language_is_that_of_most_function_words(text: str, codes: list[str]) -> None:
    assert [language.code for language in detect_languages(text)] == codes


@pytest.mark.parametrize("text", ["", None, "I would like to", "ich möchte bitte", "?!"])
def test_a_text_of_function_words_has_no_telling_word(text: str | None) -> None:
    assert not has_telling_words(text)


def test_synonyms_are_words_or_expressions() -> None:
    synonyms = Synonyms([["flat", "apartment"], ["tv", "television set", "telly"]], ENGLISH)

    assert terms("two apartments", synonyms=synonyms) == terms("two flats", synonyms=synonyms)
    assert terms("television set", synonyms=synonyms) == terms("telly", synonyms=synonyms) == ["tv"]
