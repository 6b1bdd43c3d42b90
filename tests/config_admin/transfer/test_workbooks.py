"""Workbooks: every value comes back, and a file of bad intent is refused before it does anything."""

import io
import time
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.transfer import workbooks
from config_admin.transfer.document import FileRefused, ImportMode
from config_admin.transfer.files import XLSX, export_configuration, read_bytes
from config_admin.transfer.import_plan import plan_import
from config_admin.transfer.workbooks import LONGEST, read_workbook, write_workbook
from tests.config_admin.builders import make, rules
from tests.pace import allow

HEAD = ["policy_id", "rule_type", "pattern", "response_text", "priority", "enabled", "description"]
ROW = {"policy_id": 1, "rule_type": "EXACT", "pattern": "p", "response_text": "r", "priority": 1, "enabled": True}


def contents(**values: Any) -> dict[str, dict[int, dict[str, Any]]]:
    return {"ce_policy": {1: {**ROW, "description": None, "translations": None, **values}}, "ce_mcp_tool": {}}


def to_bytes(book: Workbook) -> bytes:
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def book_of(*lines: list[Any], title: str = "ce_policy") -> bytes:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for line in lines:
        sheet.append(line)
    return to_bytes(book)


def repack(data: bytes, change: Callable[[str, bytes], bytes] = lambda name, part: part, **more: bytes) -> bytes:
    """A workbook with its parts changed, and further ones."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
        for name, part in more.items():
            new.writestr(name, part)
    return buffer.getvalue()


def in_part(part_name: str, old: str, new: str) -> Callable[[str, bytes], bytes]:
    return lambda name, part: part.replace(old.encode(), new.encode()) if part_name in name else part


def move_main_part(name: str, part: bytes) -> bytes:
    """The workbook's main part gets a name that is for sheets."""
    return part.replace(b"/xl/workbook.xml", b"/xl/worksheets/main.xml") if name == "[Content_Types].xml" else part


def in_sheet(old: str, new: str) -> Callable[[str, bytes], bytes]:
    return lambda name, part: part.replace(old.encode(), new.encode()) if "sheet1" in name else part


@pytest.mark.parametrize(
    "value",
    [
        *(
            "=1+1",
            '=HYPERLINK("http://x")',
            "+49",
            "-x",
            "@SUM(A1)",
            "'quoted'",
            "",
            "#REF!",
            "one\ntwo",
            "é 🙂",
            " x ",
        ),
        *("007", "1e3", "true", "2026-01-31", "\tx", "<b>&amp;", None),
    ],
)
def test_every_text_comes_back_and_none_is_a_formula(value: str | None) -> None:
    data = write_workbook(contents(description=value), ["ce_policy"])
    [row] = read_workbook("x.xlsx", data).tables["ce_policy"]
    sheet = load_workbook(io.BytesIO(data))["ce_policy"]

    assert row.values == {**ROW, "description": value, "translations": None}
    assert {cell.data_type for line in sheet.iter_rows() for cell in line} <= {"s", "n", "b"}


@pytest.mark.parametrize("value", ["a\rb", "a\x01b", "_x0041_", "x" * (LONGEST + 1)])
def test_a_text_that_no_workbook_brings_back_is_named_and_not_spoilt(value: str) -> None:
    with pytest.raises(ValueError, match=r"Policies, line 2, description: .* CSV or YAML"):
        write_workbook(contents(description=value), ["ce_policy"])


@pytest.mark.usefixtures("bank")
def test_all_tables_go_out_in_one_workbook_and_change_nothing_when_they_come_back() -> None:
    plan = plan_import(read_bytes("all.xlsx", export_configuration(form=XLSX)))

    assert plan.document.mode is ImportMode.UPDATE
    assert plan.document.count > 8
    assert plan.differences == {}


@pytest.mark.usefixtures("db")
def test_what_people_type_into_spreadsheets_means_what_it_shows() -> None:
    make(m.CePolicy, policy_id=7)
    lines = [[7.0, "exact", "007", datetime(2026, 1, 31), "12", "yes", None], [None] * 9, [None, "EXACT", "=", "r", 3]]
    plan = plan_import(read_bytes("CE_POLICY.xlsx", book_of(HEAD, *lines, title="Sheet1")))
    [changed, new] = plan.differences["ce_policy"]

    assert changed.after is not None
    assert (changed.pk, changed.after["rule_type"], changed.after["priority"]) == (7, "EXACT", 12)
    assert changed.after["response_text"] == "2026-01-31T00:00:00"
    assert new.before is None
    assert plan.placed.origins["ce_policy", new.pk] == "Policies, line 4"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda: book_of(HEAD, [1, "EXACT", "=1+1"]), "line 2, column 3: is a formula. Copy the column"),
        (lambda: book_of(HEAD, [1, "EXACT", "='[other.xlsx]S'!A1"]), "is a formula"),
        (lambda: book_of(HEAD, [1, "EXACT", timedelta(hours=1)]), "line 2, column 3: is a time of day or a duration"),
        (lambda: repack(book_of(HEAD), vbaProject_bin=b"x"), "contains macros"),
        (lambda: repack(book_of(HEAD, [1]), in_sheet("<worksheet", "<!DOCTYPE a><worksheet")), "type"),
        (lambda: repack(book_of(HEAD), bomb=b"0" * (workbooks.UNPACKED + 1)), "unpacks to more than"),
        (lambda: repack(book_of(HEAD), **{f"p{n}": b"" for n in range(workbooks.PARTS)}), "parts. Split it"),
        (lambda: repack(book_of(HEAD, [1]), in_sheet('r="A2"', 'r="XFD2"')), "more than 200 columns"),
        (lambda: repack(book_of(HEAD, [1]), in_sheet('r="2"', 'r="99999999999"')), "more than 50000 rows"),
        (lambda: repack(book_of(HEAD, ["x"]), in_sheet("</worksheet>", "")), "not a readable workbook"),
        (lambda: repack(book_of(HEAD), move_main_part, **{"xl/worksheets/main.xml": b"<x/>"}), "names of others"),
        (lambda: repack(book_of(HEAD), in_part("rels", "ships/work", "ships/chart")), "names of others"),
        (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is not a workbook"),
        (lambda: book_of(HEAD, title="ce_polcy"), "is not a table"),
        (book_of, "has only empty sheets"),
        (lambda: book_of(["policy_id", "patern"]), "has no column 'patern'"),
        (lambda: book_of(HEAD, [1, "EXACT", "p", "r", "soon"]), "Policies, line 2, priority"),
    ],
)  # fmt: skip
def test_what_is_hostile_or_broken_is_refused_with_the_remedy(data: Callable[[], bytes], message: str) -> None:
    given = data()
    begun = time.thread_time()
    with pytest.raises(FileRefused, match=message) as refused:
        read_bytes("some.xlsx", given)

    assert time.thread_time() - begun < 10
    assert refused.value.position


def test_what_is_wrong_in_any_sheet_is_told_at_once() -> None:
    book = Workbook()
    book.remove(book.worksheets[0])
    for title in ("ce_policy", "ce_polcy", "ce_response"):
        sheet = book.create_sheet(title)
        sheet.append(["priority"])
        sheet.append(["soon"])

    with pytest.raises(FileRefused) as refused:
        read_bytes("some.xlsx", to_bytes(book))

    assert [problem.partition(":")[0] for problem in refused.value.describe_problems()] == [
        *("Policies, line 2, priority", "ce_polcy", "Answers, line 2, priority"),
    ]


def test_links_to_other_files_are_not_followed() -> None:
    rels = b'<Relationships><Relationship Id="r1" Target="http://x/evil.xlsx" TargetMode="External"/></Relationships>'
    data = repack(book_of(HEAD, [1]), **{"xl/externalLinks/_rels/externalLink1.xml.rels": rels})

    assert read_workbook("x.xlsx", data).count == 1


@pytest.mark.nightly
@pytest.mark.usefixtures("db")
def test_5000_rows_go_out_and_come_back_in_seconds() -> None:
    with change_set():
        m.CeRule.objects.bulk_create(rules(5000))
    begun = time.process_time()
    document = read_bytes("ce_rule.xlsx", export_configuration(tables=["ce_rule"], form=XLSX))
    took = time.process_time() - begun
    print(f"{took:.1f} s")

    assert document.count == 5000
    assert took < allow(15)
