"""Cells come from the clipboard of a spreadsheet, from CSV files and from workbooks; lines have entries or problems."""

import io
from collections.abc import Sequence

import pytest
from openpyxl import Workbook

from config_admin.flows.faq import sheet
from config_admin.flows.faq.sheet import FaqEntry, describe_language, make_code, read_entries
from config_admin.transfer.document import FileRefused

LINES = [
    (1, ["Questions", "Answer"]),
    (2, ["When?\nSince when?", 'At "nine", daily; not today']),
    (4, ["Where?", "Here"]),
]


def make_book(*rows: Sequence[object]) -> bytes:
    book, buffer = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        'Questions\tAnswer\r\n"When?\nSince when?"\t"At ""nine"", daily; not today"\r\n\r\nWhere?\tHere',
        'Questions,Answer\n"When?\nSince when?","At ""nine"", daily; not today"\n\nWhere?,Here\n',
        'Questions;Answer\n"When?\nSince when?";"At ""nine"", daily; not today"\n\nWhere?;Here\n',
    ],
    ids=["tabs", "commas", "semicolons"],
)
def test_a_text_gives_its_lines_with_their_numbers(text: str) -> None:
    assert sheet.read_text(text) == LINES


def test_lines_written_as_text_are_read_again_with_the_same_numbers() -> None:
    assert sheet.read_text(sheet.write_text(LINES)) == LINES


def test_a_cell_that_begins_with_a_quote_is_plain_text() -> None:
    assert sheet.read_text('"To be" or not?\tYes\nNext?\t"No') == [
        (1, ['"To be" or not?', "Yes"]),
        (2, ["Next?", '"No']),
    ]


def test_a_workbook_gives_its_first_sheet() -> None:
    book = make_book(
        ["Questions", "Answer"], ["When?\nSince when?", 'At "nine", daily; not today'], [], ["Where?", "Here"]
    )

    assert sheet.read_file("faq.xlsx", book) == LINES


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_read_in_the_encodings_that_spreadsheets_write(encoding: str) -> None:
    assert sheet.read_file("faq.csv", "Wo?;Über uns".encode(encoding)) == [(1, ["Wo?", "Über uns"])]


@pytest.mark.parametrize("name", ["faq.xlsx", "faq.csv"])
def test_the_template_is_a_file_that_can_be_read(name: str) -> None:
    lines = sheet.read_file(name, sheet.write_template(name))

    assert lines[0][1] == ["Questions", "Answer", "Intent name", "Language"]
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("faq.csv", b"Wo?;\xdcber uns", "is not UTF-8 text"),
        ("faq.csv", b'"Wo?;Hier', "quote that is never closed"),
        ("faq.csv", b" \n ", "is empty"),
        ("faq.csv", b"x" * (sheet.MAX_BYTES + 1), "is larger than 2 MB"),
        ("faq.csv", b"x" * (sheet.MAX_CHARS + 1), "has more than 1,000,000 characters"),
        ("faq.csv", b"When?,Now\n" * (sheet.MAX_LINES + 2), "Line 502: is beyond the first 500"),
        ("faq.xlsx", b"PK", "is not a workbook"),
        ("faq.xlsx", make_book(), "has no lines"),
        ("faq.xlsx", make_book(["When?", "=1+1"]), "is a formula"),
        ("faq.xlsx", make_book(*[["When?", "Now"]] * 600), "is beyond the first 500"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_remedy(name: str, data: bytes, problem: str) -> None:
    with pytest.raises(FileRefused) as refused:
        sheet.read_file(name, data)

    assert problem in str(refused.value)


def test_several_questions_of_a_cell_are_separated_by_lines_or_bars() -> None:
    (entry,), problems = read_entries([(1, ["When? | Since when?\nwhen\n\n", " Now "])])

    assert entry == FaqEntry(1, ("When?", "Since when?"), "Now")
    assert problems == []


@pytest.mark.parametrize(
    "heads", [["Language", "Answer", "Intent name", "Questions"], ["Sprache", "ANTWORT", "Intent", "Frage"]]
)
def test_columns_are_found_by_their_heads(heads: list[str]) -> None:
    (entry,), _ = read_entries([(1, heads), (2, ["de-DE", "Jetzt", "Zeit", "Wann?"])])

    assert entry == FaqEntry(2, ("Wann?",), "Jetzt", "Zeit", "de")


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
    monkeypatch.setattr(sheet, "MAX_ALL_QUESTIONS", 2)
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
    assert "no word tables" in describe_language(FaqEntry(1, ("Kiedy?",), "Teraz", language="pl"))
    assert not describe_language(FaqEntry(1, ("Wann?",), "Jetzt", language="de"))
