"""Texts for translators, in files: CSV, and XLIFF 1.2 as translation tools read it."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from config_admin.flows.translations.catalogue import SpokenText, TextState, Translation
from config_admin.transfer.document import FileRefused
from convengine.files import Unreadable
from convengine.files.table_text import decode, read_table

#: Limits of a file: bytes, and texts.
MAX_BYTES, MAX_TEXTS = 2 * 1024 * 1024, 10_000
KINDS = {"csv": "text/csv; charset=utf-8", "xlf": "application/xliff+xml"}
_NAMESPACE = "urn:oasis:names:tc:xliff:document:1.2"
#: The column of the translations has the code of the language.
_KEY, _TEXT = "key", "text"
#: The states of XLIFF.
_STATES = {
    TextState.MISSING: "new",
    TextState.CHANGED: "needs-translation",
    TextState.DRAFT: "needs-review-translation",
    TextState.DONE: "translated",
}
#: No spreadsheet takes what follows for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "'")


def write_file(texts: Sequence[SpokenText], first: str, language: str, kind: str) -> bytes:
    """The texts and their translations; what needs work comes first."""
    return _write_csv(texts, language) if kind == "csv" else _write_xliff(texts, first, language)


def _write_csv(texts: Sequence[SpokenText], language: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([_KEY, "row", "part", "state", _TEXT, language])
    for each in texts:
        cells = each.key, each.name, each.location, each.state.value, each.source, each.text
        writer.writerow([_quote(cell) for cell in cells])
    return text.getvalue().encode("utf-8-sig")


def _quote(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _write_xliff(texts: Sequence[SpokenText], first: str, language: str) -> bytes:
    root = Xml.Element("xliff", {"version": "1.2", "xmlns": _NAMESPACE})
    languages = {"source-language": first, "target-language": language}
    file = Xml.SubElement(root, "file", {"original": "convengine", "datatype": "plaintext", **languages})
    body = Xml.SubElement(file, "body")
    for each in texts:
        unit = Xml.SubElement(body, "trans-unit", {"id": each.key, "xml:space": "preserve"})
        Xml.SubElement(unit, "source").text = _make_writable(each.source)
        Xml.SubElement(unit, "target", {"state": _STATES[each.state]}).text = _make_writable(each.text)
        Xml.SubElement(unit, "note").text = _make_writable(f"{each.name}, {each.location}")
    Xml.indent(root)
    document: bytes = Xml.tostring(root, "utf-8", xml_declaration=True)
    return document + b"\n"


def _make_writable(text: str) -> str:
    """The text without the control characters that XML does not have."""
    return "".join(each for each in text if each >= " " or each in "\t\n\r")


def read_file(name: str, data: bytes, language: str) -> dict[str, Translation]:
    """The translations into a language by key, without blank ones: a translator leaves what is not done.

    Raises FileRefused.
    """
    if len(data) > MAX_BYTES:
        raise FileRefused(name, f"is larger than {MAX_BYTES // 1024 // 1024} MB. Split it into several files.")
    is_xliff = Path(name).suffix.lower() in (".xlf", ".xliff", ".xml")
    texts = (_read_xliff if is_xliff else _read_csv)(name, data, language)
    if len(texts) > MAX_TEXTS:
        raise FileRefused(name, f"has more than {MAX_TEXTS:,} texts. Split it into several files.")
    return {key: translation for key, translation in texts.items() if translation.text.strip()}


def _read_csv(name: str, data: bytes, language: str) -> dict[str, Translation]:
    try:
        lines = [cells for _, cells in read_table(decode(data), (",", ";", "\t")) if any(cells)]
    except Unreadable as error:
        raise FileRefused(f"{name}:", error.problem) from None
    head = [cell.strip().lower() for cell in lines[0]] if lines else []
    if not {_KEY, _TEXT, language} <= {*head}:
        raise FileRefused(name, f"has no columns {_KEY}, {_TEXT} and {language}. Export a file here and fill it in.")
    columns = [head.index(column) for column in (_KEY, language, _TEXT)]
    full = ([_unquote(cells[at]) for at in columns] for cells in lines[1:] if len(cells) > max(columns))
    return {key.strip(): Translation(text, of) for key, text, of in full}


def _unquote(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def _read_xliff(name: str, data: bytes, language: str) -> dict[str, Translation]:
    # Entities could grow without limit, and translations need none.
    if any("<!DOCTYPE".encode(form) in data for form in ("utf-8", "utf-16-le", "utf-16-be")):
        raise FileRefused(name, "has a document type. Save it as plain XLIFF 1.2.")
    try:
        root = Xml.fromstring(data)  # noqa: S314
    except (Xml.ParseError, ValueError, LookupError) as error:
        raise FileRefused(name, f"is not XML: {error}.") from None
    if root.tag != f"{{{_NAMESPACE}}}xliff":
        raise FileRefused(name, "is not XLIFF 1.2. Export a file here and fill it in.")
    files = root.iter(f"{{{_NAMESPACE}}}file")
    if others := {file.get("target-language", "") for file in files} - {language}:
        raise FileRefused(name, f"is in another language: {', '.join(sorted(others))}. Choose it above.")
    units = root.iter(f"{{{_NAMESPACE}}}trans-unit")
    return {unit.get("id", ""): Translation(_read_part(unit, "target"), _read_part(unit, "source")) for unit in units}


def _read_part(unit: Xml.Element, tag: str) -> str:
    part = unit.find(f"{{{_NAMESPACE}}}{tag}")
    return "" if part is None else "".join(part.itertext())
