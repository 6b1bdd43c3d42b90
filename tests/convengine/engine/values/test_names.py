from datetime import UTC, datetime

import pytest

from convengine.engine.values import ReadingSituation, read_value
from convengine.engine.values.field_spec import field_spec
from convengine.engine.values.language import get_language
from convengine.engine.values.names import (
    blank_title_stops,
    cut_behind_name,
    cut_spelling,
    find_introduction,
    find_only_name,
    has_sentence_word,
    is_name_field,
    is_named_like_day,
)
from convengine.engine.values.plain import measure_assent


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("hi, my name is Ann Lee", "en", "Ann Lee"),
        ("a table under the name of Miller", "en", "Miller"),
        ("ich heiße Paul", "de", "Paul"),
        ("auf den Namen Schmidt", "de", "Schmidt"),
        ("Ann Lee", "en", None),
        ("my name is", "en", None),
    ],
)
def test_a_name_stands_behind_its_introduction(text: str, locale: str, name: str | None) -> None:
    start = find_introduction(text, get_language(locale))

    assert (None if start is None else text[start:]) == name


def test_the_words_of_a_field_say_that_it_takes_names() -> None:
    assert is_name_field(field_spec("lastName", {"title": "Surname"}), get_language("en"))
    assert is_name_field(field_spec("x", {"title": "Nachname"}), get_language("de"))
    assert not is_name_field(field_spec("street", {}), get_language("en"))
    assert not is_name_field(field_spec("customerId", {"title": "Customer number"}), get_language("en"))


def test_a_sentence_has_words_that_names_have_not() -> None:
    assert has_sentence_word("I need a table", get_language("en"))
    assert has_sentence_word("ich brauche einen Tisch", get_language("de"))
    assert not has_sentence_word("Ann van Dyke", get_language("en"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("it's for my son Tom", "Tom"),
        ("My daughter Ann Lee", "Ann Lee"),
        ("put it under Lee", "Lee"),
        ("book it under ann lee", "ann lee"),
        ("the names Ann Lee", "Ann Lee"),
        ("Surname Lee", "Lee"),
        ("Ann Lee here", "Ann Lee"),
        ("Ann Lee xx", "Ann Lee"),
        ("Norman Love", "Norman Love"),
        ("Malcolm X", "Malcolm X"),
        ("it's for my son", None),
    ],
)
def test_a_name_is_read_without_the_words_around_it(text: str, name: str | None) -> None:
    situation = ReadingSituation(datetime(2026, 11, 24, tzinfo=UTC), locale="en-GB")

    assert read_value(field_spec("name", {"title": "Your name"}), text, situation).value == name


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("on behalf of Ann Lee", "en-GB", "Ann Lee"),
        ("for my nephew Sam", "en-GB", "Sam"),
        ("our son's called Max", "en-GB", "Max"),
        ("Sam, my nephew", "en-GB", "Sam"),
        ("me, Ann Lee", "en-GB", "Ann Lee"),
        ("me", "en-GB", None),
        ("same as before", "en-GB", None),
        ("my nephew", "en-GB", None),
        ("für meinen Neffen Sam", "de-DE", None),
        ("für meinen Bruder Sam", "de-DE", "Sam"),
        ("im Auftrag von Anna Lau", "de-DE", "Anna Lau"),
        ("meine Oma heißt Inge Lau", "de-DE", "Inge Lau"),
        ("für mich selbst. Anna Lau", "de-DE", "Anna Lau"),
        ("Frau Lau", "de-DE", "Frau Lau"),
        ("wie vorhin", "de-DE", None),
    ],
)
def test_a_name_is_said_with_whom_it_is_for(text: str, locale: str, name: str | None) -> None:
    spec = field_spec("name", {"title": "Name", "type": "string"})
    situation = ReadingSituation(datetime(2026, 11, 24, tzinfo=UTC), locale=locale)

    assert read_value(spec, text, situation).value == name


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("Petra Vogt, mit v", "de-DE", "Petra Vogt"),
        ("Roth mit th", "de-DE", "Roth"),
        ("Prof. Dr. Nina Haas, ein n", "de-DE", "Prof. Dr. Nina Haas"),
        ("Otto Braun heißt mein Vater", "de-DE", "Otto Braun"),
        ("Eva Kern ist meine Frau", "de-DE", "Eva Kern"),
        ("Graham Reed, with two e's", "en-GB", "Graham Reed"),
        ("Mrs. K. Lowe", "en-GB", "Mrs. K. Lowe"),
        ("Sara Lowe, no h", "en-GB", "Sara Lowe"),
        ("Shaun Lowe, S-H-A-U-N", "en-GB", "Shaun Lowe"),
        ("Peter St. John", "en-GB", "Peter St. John"),
        ("Ian Reed is my husband", "en-GB", "Ian Reed"),
    ],
)
def test_how_a_name_is_spelled_and_who_has_it_is_no_part_of_it(text: str, locale: str, name: str) -> None:
    spec = field_spec("name", {"type": "string", "title": "Name"})

    assert read_value(spec, text, ReadingSituation(datetime(2026, 5, 12, tzinfo=UTC), locale=locale)).value == name


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("I am Dr. Lee. Call me", "I am Dr  Lee. Call me"),
        ("Mrs. K. Lowe", "Mrs  K  Lowe"),
        ("Tom St. John", "Tom St  John"),
        ("in the High st. at 5", "in the High st. at 5"),
        ("Prof. Dr. Haas", "Prof  Dr  Haas"),
    ],
)
def test_the_full_stop_of_a_title_ends_no_sentence(text: str, plain: str) -> None:
    assert blank_title_stops(text) == plain


@pytest.mark.parametrize(
    ("text", "locale", "is_name"),
    [
        ("Sally Monday", "en", True),
        ("theo may", "en", True),
        ("Anna Lisa August", "en", True),
        ("jonas sonntag", "de", True),
        ("Vera März.", "de", True),
        ("Sally, Monday", "en", False),
        ("next Monday", "en", False),
        ("on Monday", "en", False),
        ("rather monday", "en", False),
        ("any Monday", "en", False),
        ("Monday", "en", False),
        ("Sally tomorrow", "en", False),
        ("Vera am Montag", "de", False),
        ("jeden Montag", "de", False),
        ("doch Montag", "de", False),
        ("Jonas morgen", "de", False),
    ],
)
def test_a_surname_may_be_a_weekday_or_a_month(text: str, locale: str, is_name: bool) -> None:
    assert is_named_like_day(text, get_language(locale)) is is_name


@pytest.mark.parametrize(
    ("text", "locale", "rest"),
    [
        ("oh very well, Nora Pitt", "en", "Nora Pitt"),
        ("fine nora pitt", "en", "fine nora pitt"),
        ("fine Nora Pitt", "en", "Nora Pitt"),
        ("all right then nora pitt", "en", "nora pitt"),
        ("ok, if you insist: 4 Elm Row", "en", "4 Elm Row"),
        ("Great Elm Row 4", "en", "Great Elm Row 4"),
        ("fair enough", "en", "fair enough"),
        ("right, Thank you Mum", "en", "Thank you Mum"),
        ("OK. Fine. Nora Pitt", "en", "Nora Pitt"),
        ("na schön, Emil Rau", "de", "Emil Rau"),
        ("von mir aus emil rau", "de", "emil rau"),
        ("ungern, aber Emil Rau", "de", "Emil Rau"),
        ("Gut Emil", "de", "Gut Emil"),
    ],
)
def test_words_of_assent_are_no_part_of_an_answer(text: str, locale: str, rest: str) -> None:
    assert text[measure_assent(text, get_language(locale)) :] == rest


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("Ines Roth, danke schonmal :)", "de", "Ines Roth"),
        ("Sabine Krüger heißt die dame", "de", "Sabine Krüger"),
        ("Sam Okafor btw", "en", "Sam Okafor"),
        ("Jo Marsh thanks a mil", "en", "Jo Marsh"),
        ("Maria de la Cruz", "en", "Maria de la Cruz"),
        ("Maria Lopez de la cruz", "en", "Maria Lopez de la cruz"),
        ("Anna Maria schmidt", "de", "Anna Maria schmidt"),
        ("Roth, Ines", "de", "Roth, Ines"),
        ("Tom please", "en", "Tom please"),
        ("Oxford Street is closed", "en", "Oxford Street is closed"),
        ("Ann Lee and Bob Ray", "en", "Ann Lee and Bob Ray"),
    ],
)
def test_small_words_behind_a_full_name_are_none_of_it(text: str, locale: str, name: str) -> None:
    assert cut_behind_name(text, get_language(locale)) == name


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("Lena Ortiz. thats O R T I Z", "en", "Lena Ortiz"),
        ("Lena Ortiz thats O-R-T-I-Z", "en", "Lena Ortiz"),
        ("jo blake (mrs)", "en", "jo blake"),
        ("Lena Ortiz, also O R T I Z", "de", "Lena Ortiz"),
        ("Ines Kahle (Mutter)", "de", "Ines Kahle"),
        ("J. R. R. Tolkien", "en", "J. R. R. Tolkien"),
    ],
)
def test_a_name_is_cut_before_its_letters_and_brackets(text: str, locale: str, name: str) -> None:
    assert cut_spelling(text, get_language(locale)) == name


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("the seats are for Lena Ortiz", "en", "Lena Ortiz"),
        ("it's a treat for my nan, Lena Ortiz", "en", "Lena Ortiz"),
        ("Lena Ortiz, she will fetch them", "en", "Lena Ortiz"),
        ("Lena Ortiz as always", "en", "Lena Ortiz"),
        ("jo blake, same as last time", "en", "jo blake"),
        ("Lena Ortiz, das ist meine Frau", "de", "Lena Ortiz"),
        ("Lena van der Berg wie immer", "de", "Lena van der Berg"),
        ("Lena Ortiz", "en", None),
        ("Mr and Mrs Blake please", "en", None),
        ("Lena Ortiz and Tim Blake", "en", None),
        ("Lena Ortiz, no wait, Tim", "en", None),
        ("is that Lena Ortiz?", "en", None),
        ("hang on, let me look", "en", None),
        ("see you Monday Evening then", "en", None),
        ("it's not for me, it's for Lena Ortiz", "en", "Lena Ortiz"),
        ("not Lena Ortiz", "en", None),
        ("nicht Lena Ortiz", "de", None),
        ("we are from South Wales", "en", None),
        ("ich wohne in Bad Homburg", "de", None),
        ("Oxford Street is closed by the way", "en", None),
        ("Anna Maria schmidt", "de", None),
        ("Maria Lopez de la cruz", "en", None),
    ],
)
def test_the_only_name_stands_beside_other_words(text: str, locale: str, name: str | None) -> None:
    assert find_only_name(text, get_language(locale)) == name
