"""Tables as texts: CSV with one of several delimiters, which are tried; the text itself says least about them."""

import csv
import io
from collections.abc import Sequence

from convengine.files import Unreadable

#: A line of a table: the number of its last line in the text, and its cells.
Line = tuple[int, Sequence[str]]
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def decode(data: bytes) -> str:
    """The text of a file, by its byte order mark, else UTF-8. Raises Unreadable."""
    encoding = next((encoding for mark, encoding in _BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"The file is not UTF-8 text (byte {error.start}). Save it again in that encoding.") from None
    if "\0" in text:
        raise Unreadable(
            "The file is not a text: it has NUL characters. Save it again as UTF-8.",
            text.count("\n", 0, text.index("\0")) + 1,
        )
    return text


def read_table(text: str, delimiters: Sequence[str]) -> list[Line]:
    """The lines with the delimiter that gives most lines as many cells as the first one, if that has several.

    Raises Unreadable for text in which no delimiter makes lines.
    """
    readings, problems = list[list[Line]](), list[Unreadable]()
    for delimiter in delimiters:
        try:
            readings.append(_split(text, delimiter))
        except Unreadable as problem:
            problems.append(problem)
    if not readings:
        raise problems[0]
    return max(readings, key=_count_regular)


def _split(text: str, delimiter: str) -> list[Line]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise Unreadable(f"The file is not valid CSV: {error}.", reader.line_num) from None


def _count_regular(lines: Sequence[Line]) -> int:
    """How many lines have as many cells as the first that is not blank, if that has several."""
    width = next((len(cells) for _, cells in lines if any(cells)), 0)
    return sum(len(cells) == width for _, cells in lines) if width > 1 else 0
