"""Lines become questions with an answer, or problems with a remedy."""

import pytest

from config_admin.flows.faq import entries
from config_admin.flows.faq.entries import Entry, describe_language, make_code, read_entries


def test_several_questions_of_a_cell_are_separated_by_lines_or_bars() -> None:
    (entry,), problems = read_entries([(1, ["When? | Since when?\nwhen\n\n", " Now "])])

    assert entry == Entry(1, ("When?", "Since when?"), "Now")
    assert problems == []


@pytest.mark.parametrize(
    "heads", [["Language", "Answer", "Intent name", "Questions"], ["Sprache", "ANTWORT", "Intent", "Frage"]]
)
def test_columns_are_found_by_their_heads(heads: list[str]) -> None:
    (entry,), _ = read_entries([(1, heads), (2, ["de-DE", "Jetzt", "Zeit", "Wann?"])])

    assert entry == Entry(2, ("Wann?",), "Jetzt", "Zeit", "de")


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        (["", "Now"], "The question is missing."),
        (["When?", ""], "The answer is missing."),
        (["When?"], "The answer is missing."),
        (["|".join(f"When {n}" for n in range(51)), "Now"], "There are 51 questions"),
        (["x" * 501, "Now"], "has more than 500 characters"),
        (["When?", "x" * 4001], "The answer has 4,001 characters"),
        (["When?", "Now", "x" * 201], "The intent name has more than 200 characters"),
        (["When?", "Now", "", "Esperanto"], "“Esperanto” is not a language."),
        (["When?", "Now", "", "en", "Where?"], "There are 5 cells, but only 4 columns."),
        (["Why? | since WHEN", "Now"], "“since WHEN” is a question of line 1, too."),
    ],
)
def test_a_line_with_a_problem_names_it_and_makes_nothing(cells: list[str], problem: str) -> None:
    usable, (found,) = read_entries([(1, ["Since when?", "Now"]), (7, cells)])

    assert [entry.line for entry in usable] == [1]
    assert str(found).startswith("Line 7: ")
    assert problem in found.text


@pytest.mark.parametrize(
    ("heads", "problem"),
    [
        (["Question", "Answer", "Langage"], "The column “langage” is unknown."),
        (["Question", "Answer", "Answers"], "The column “answer” is there twice."),
    ],
)
def test_wrong_heads_are_the_only_problem(heads: list[str], problem: str) -> None:
    usable, (found,) = read_entries([(1, heads), (2, ["", ""])])

    assert not usable
    assert problem in found.text


def test_too_many_questions_are_a_problem_of_the_line_where_they_become_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entries, "MAX_ALL_QUESTIONS", 2)
    _, (found,) = read_entries([(1, ["a|b", "Now"]), (2, ["c", "Now"]), (3, ["d", "Now"])])

    assert str(found) == "Line 2: From here on there are more than 2 questions. Split the spreadsheet."


def test_the_mark_of_a_text_in_a_spreadsheet_is_no_part_of_it() -> None:
    (entry,), _ = read_entries([(1, ["Sum?", "'=1+1"])])

    assert entry.answer == "=1+1"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Öffnungszeiten (neu)", "OFFNUNGSZEITEN_NEU"),
        ("2 Tage", "FAQ_2_TAGE"),
        ("駐車場", "FAQ_798FA880"),
        ("Straße", "STRASSE"),
        (
            "May I bring my own bicycle into the underground car park?",
            "MAY_I_BRING_MY_OWN_BICYCLE_INTO_THE_UNDERGROUND",
        ),
    ],
)
def test_a_name_gives_a_code(name: str, code: str) -> None:
    assert make_code(name) == code


def test_a_language_without_word_tables_gets_a_hint() -> None:
    assert "no word tables" in describe_language(Entry(1, ("Quand?",), "Maintenant", language="fr"))
    assert not describe_language(Entry(1, ("Wann?",), "Jetzt", language="de"))
