"""Files that would take very long or very much memory, if they were read."""

import io
import zipfile
from collections.abc import Callable, Mapping

from config_admin.transfer.workbooks import write_sheets

_NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_SHEET = "xl/worksheets/sheet1.xml"


def _repack(**parts: bytes) -> bytes:
    """A small workbook with other contents in some of its parts."""
    small, packed = zipfile.ZipFile(io.BytesIO(write_sheets({"ce_intent": [["intent_code"]]}))), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        for name in small.namelist():
            out.writestr(name, parts.pop(name, small.read(name)))
        for name, content in parts.items():
            out.writestr(name, content)
    return packed.getvalue()


def _sheet(rows: str) -> bytes:
    return f"<worksheet {_NS}><sheetData>{rows}</sheetData></worksheet>".encode()


def many_rows() -> bytes:
    """900,000 rows, which unpack to 50 MB."""
    row = '<row r="{0}"><c r="A{0}"><v>1</v></c></row>'
    return _repack(**{_SHEET: _sheet("".join(row.format(number) for number in range(1, 900_001)))})


def many_rows_of_another_prefix() -> bytes:
    """The same with a prefix of the names."""
    rows = "".join(f'<x:row r="{number}"><x:c><x:v>1</x:v></x:c></x:row>' for number in range(1, 900_001))
    ns = _NS.replace("xmlns=", "xmlns:x=")
    return _repack(**{_SHEET: f"<x:worksheet {ns}><x:sheetData>{rows}</x:sheetData></x:worksheet>".encode()})


def a_row_far_below() -> bytes:
    return _repack(**{_SHEET: _sheet('<row r="1048576"><c r="A1048576"><v>1</v></c></row>')})


def wide_rows() -> bytes:
    """40,000 rows with one cell each, far to the right."""
    rows = "".join(f'<row r="{number}"><c r="GR{number}"><v>1</v></c></row>' for number in range(1, 40_001))
    return _repack(**{_SHEET: _sheet(rows)})


def many_styles() -> bytes:
    fonts = "<font><sz val='1'/></font>" * 2_000_000
    return _repack(**{"xl/styles.xml": f"<styleSheet {_NS}><fonts>{fonts}</fonts></styleSheet>".encode()})


def zip_bomb(megabytes: int = 1024) -> bytes:
    """A gigabyte in one megabyte."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out, out.open(_SHEET, "w", force_zip64=True) as part:
        for _ in range(megabytes):
            part.write(bytes(1024 * 1024))
    return packed.getvalue()


def zip_bomb_that_understates(megabytes: int = 1024) -> bytes:
    """The same, declared as 10 bytes."""
    data = bytearray(zip_bomb(megabytes))
    directory = data.rfind(b"PK\x01\x02")
    data[directory + 24 : directory + 28] = (10).to_bytes(4, "little")
    return bytes(data)


_MEGABYTES = 31 * 1024 * 1024
FILES: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "900,000 rows": ("ce_intent.xlsx", many_rows),
    "900,000 rows, prefix": ("ce_intent.xlsx", many_rows_of_another_prefix),
    "row far below": ("ce_intent.xlsx", a_row_far_below),
    "wide rows": ("ce_intent.xlsx", wide_rows),
    "many styles": ("ce_intent.xlsx", many_styles),
    "zip bomb": ("ce_intent.xlsx", zip_bomb),
    "zip bomb that understates": ("ce_intent.xlsx", zip_bomb_that_understates),
    # Twice what a workbook may unpack to, as the one above takes seconds to make.
    "small zip bomb that understates": ("ce_intent.xlsx", lambda: zip_bomb_that_understates(128)),
    "deep JSON": ("x.json", lambda: b'{"tables":' + b"[" * _MEGABYTES),
    "JSON of empty lists": ("x.json", lambda: b'{"tables":{"ce_intent":[' + b"[]," * (_MEGABYTES // 3) + b"[]]}}"),
    "deep YAML": ("x.yaml", lambda: b"tables: " + b"[" * _MEGABYTES),
    "YAML of nothing": ("x.yaml", lambda: b"tables:\n" + b" - \n" * (_MEGABYTES // 4)),
    "YAML aliases": (
        "x.yaml",
        lambda: (
            b"a: &a [x,x,x,x,x,x,x,x,x]\n"
            + b"".join(b"%c: &%c [%s]\n" % (c + 1, c + 1, b",".join([b"*%c" % c] * 9)) for c in range(97, 120))
        ),
    ),
    "CSV of nothing": ("ce_intent.csv", lambda: b"intent_code\n" + b"\n" * _MEGABYTES),
    "CSV of commas": ("ce_intent.csv", lambda: b"intent_code\n" + b"," * _MEGABYTES),
    "SQL of rows": ("x.sql", lambda: b"INSERT INTO ce_intent (intent_code) VALUES " + b"('a')," * (_MEGABYTES // 6)),
}
