"""Cells come from the clipboard of a spreadsheet, from CSV files and from workbooks."""

import io
from collections.abc import Sequence

import pytest
from openpyxl import Workbook

from config_admin.flows.faq import sheet
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
