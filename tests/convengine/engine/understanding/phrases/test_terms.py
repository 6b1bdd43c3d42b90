import pytest

from convengine.engine.understanding.language import get_tables, list_languages, read_table
from convengine.engine.understanding.phrases.terms import (
    PhraseLanguage,
    detect_languages,
    find_main_languages,
    get_phrase_language,
    read_text,
)
from convengine.engine.understanding.words import fold

ENGLISH, GERMAN = get_phrase_language("en"), get_phrase_language("de")
EVERY_LANGUAGE = ["en", *sorted({*list_languages()} - {"en"})]


def terms(text: str, language: PhraseLanguage = ENGLISH) -> list[str]:
    return [word.term for word in language.read(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I'd like to cancel my order, please!", "cancelled orders"),
        ("I lost my card", "cards that were lost"),
        ("somebody STOLE my cards", "card stolen"),
    ],
)
def test_forms_and_spellings_of_a_word_are_one_term(one: str, other: str) -> None:
    assert sorted(terms(one)) == sorted(terms(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ich möchte meinen Termin absagen", "termin abgesagt"),
        ("ich moechte Geld überweisen", "Geld ueberwiesen"),
    ],
)
def test_german_words_are_read_with_and_without_umlauts(one: str, other: str) -> None:
    assert terms(one, GERMAN) == terms(other, GERMAN)


def test_a_word_that_says_when_or_how_many_is_light() -> None:
    assert [*map(tuple, ENGLISH.read("3 tickets for Monday"))] == [
        ("3", True),
        ("ticket", False),
        ("monday", True),
    ]


def test_a_term_is_read_once() -> None:
    assert terms("card, card and cards") == ["card"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [("where is my order", ["en"]), ("wo ist meine Bestellung", ["de"]), ("Taxi", EVERY_LANGUAGE)],
)
def test_the_language_is_that_of_most_function_words(text: str, codes: list[str]) -> None:
    assert [language.tables.name for language in detect_languages(text, list_languages())] == codes


@pytest.mark.parametrize("text", ["", None, "I would like to", "ich möchte bitte", "?!"])
def test_a_text_of_function_words_has_no_telling_word(text: str | None) -> None:
    assert not any(read_text(text))


@pytest.mark.parametrize("name", list_languages())
def test_a_small_word_stands_once_in_the_tables(name: str) -> None:
    fillers = {word for word, _ in get_tables(name).grammar.list_words("filler")}

    listed = [fold(word) for word in read_table(name, "phrases")["small"]]

    assert fillers.isdisjoint(listed)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["where is my parcel?", "I want my money back", "ok"], ["en"]),
        (["wo ist mein Paket?", "ich möchte mein Geld zurück"], ["de"]),
        (["where is my parcel?", "wo ist mein Paket?"], ["en", "de"]),
        (["oh la la", "chcę stolik", "gdzie jesteście?", "dziękuję bardzo", "dobry wieczór", "proszę"], EVERY_LANGUAGE),
        (["refund"], EVERY_LANGUAGE),
    ],
)
def test_texts_that_tell_their_language_tell_that_of_all_others_where_they_are_a_fifth(
    texts: list[str], names: list[str]
) -> None:
    assert [language.tables.name for language in find_main_languages(texts, list_languages())] == names
