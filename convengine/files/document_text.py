"""The text of a document as plain Markdown: headings, paragraphs, items of lists, and rows of tables.

Nothing else of it is kept: no script, style, link, picture or frame.
"""

import io
import logging
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from math import hypot
from pathlib import PurePath
from typing import TYPE_CHECKING

from convengine.engine.extras import describe_missing
from convengine.engine.text.compare import storable
from convengine.files import Unreadable
from convengine.files.apart import always_apart
from convengine.files.html_text import read_html
from convengine.files.table_text import decode

if TYPE_CHECKING:
    from pypdf import PageObject

#: The most that a file may have: bytes, bytes when unpacked, pages, and characters of its text.
MOST_BYTES, _MOST_UNPACKED, _MOST_PAGES, _MOST_CHARACTERS = 20 * 1024**2, 200 * 1024**2, 3000, 3_000_000
#: The share of characters that may be unknown, as where a font of a PDF does not name its letters.
_MOST_UNKNOWN = 0.3
#: A line of a PDF whose letters are so much larger than most is a heading; how many sizes are levels; its length.
_LARGER, _LEVELS, _LONGEST_HEADING = 1.12, 4, 300
#: Headers and footers: the number of lines at each end of a page that may be one, the share of pages that repeat it,
#: and the number of pages above which this is tested.
_EDGE, _REPEATED, _FEW_PAGES = 4, 0.5, 3
#: What a file of Word begins with that has a password or is from before 2007.
_OLD_WORD = b"\xd0\xcf\x11\xe0"


@always_apart
def read_document(name: str, data: bytes) -> str:
    """The text of a file, by the ending of its name. Raises Unreadable."""
    ending = PurePath(name.lower()).suffix
    if ending not in _READERS:
        raise Unreadable(f"Documents are {', '.join(READABLE)} files. Save {name} as one of them.")
    if len(data) > MOST_BYTES:
        raise Unreadable(f"The file has more than {MOST_BYTES // 1024**2} MB. Split it.")
    # A soft hyphen is no part of its word.
    text = re.sub("\xad\n?", "", storable(_READERS[ending](data)))
    text = re.sub(r"\n{3,}", "\n\n", text).strip("\n")
    if len(text) > _MOST_CHARACTERS:
        raise Unreadable(f"The document has more than {_MOST_CHARACTERS:,} characters. Split it.")
    if not text.strip():
        raise Unreadable("The document has no text. If its pages are pictures, run text recognition (OCR) first.")
    if text.count("\ufffd") > _MOST_UNKNOWN * len(text):
        raise Unreadable("The letters of the document are unknown. Save it again, or run text recognition (OCR) first.")
    return text


def _read_markdown(data: bytes) -> str:
    from markdown_it import MarkdownIt

    return read_html(MarkdownIt("commonmark", {"html": False}).enable("table").render(decode(data)))


def _read_plain(data: bytes) -> str:
    return decode(data).replace("\r\n", "\n").replace("\r", "\n")


def _read_html(data: bytes) -> str:
    return read_html(decode(data))


def _read_docx(data: bytes) -> str:
    _check_extra()
    import mammoth

    if data.startswith(_OLD_WORD):
        raise Unreadable("The file has a password or is of an old Word. Save it as DOCX, without a password.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
        if unpacked > _MOST_UNPACKED:
            raise Unreadable(f"The file unpacks to more than {_MOST_UNPACKED // 1024**2} MB. Split it.")
        # Pictures are left out: their data would be most of the text. What a file says of styles may hide its text.
        html = mammoth.convert_to_html(
            io.BytesIO(data),
            convert_image=mammoth.images.img_element(lambda _: {}),
            include_embedded_style_map=False,
            external_file_access=False,
        ).value
    except (Unreadable, MemoryError):
        raise
    # Libraries fail on damaged files in many ways.
    except Exception as error:
        raise _make_refusal("DOCX", error) from None
    return read_html(html)


def _read_pdf(data: bytes) -> str:
    _check_extra()
    import pypdf

    # It warns of each thing that is wrong: a file could fill the log.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("The PDF asks for a password. Save it without one.")
        if len(reader.pages) > _MOST_PAGES:
            raise Unreadable(f"The PDF has {len(reader.pages):,} pages, at most {_MOST_PAGES:,} are read. Split it.")
        pages = [_list_lines(page) for page in reader.pages]
    except (Unreadable, MemoryError):
        raise
    except Exception as error:
        raise _make_refusal("PDF", error) from None
    return _join_lines(pages)


def _make_refusal(kind: str, error: Exception) -> Unreadable:
    return Unreadable(f"The file is damaged, or is no {kind} file ({type(error).__name__}). Save it again as {kind}.")


def _check_extra() -> None:
    if missing := describe_missing("documents"):
        raise Unreadable(f"PDF and DOCX files need a library. {missing}")


#: The size of letters, and the text of a line.
_SizedLine = tuple[float, str]


def _list_lines(page: "PageObject") -> list[_SizedLine]:
    """The lines of a page in the order in which they are written; a blank one where a gap divides paragraphs."""
    lines: list[_SizedLine] = []
    parts: list[tuple[float, str]] = []
    last_y, at_y = 0.0, 0.0

    def visit(text: str, page: Sequence[float], line: Sequence[float], _font: object, size: float) -> None:
        nonlocal at_y
        if text.strip():
            at_y = line[4] * page[1] + line[5] * page[3] + page[5]
            scale = hypot(line[2] * page[0] + line[3] * page[2], line[2] * page[1] + line[3] * page[3])
            parts.append((abs(size) * scale, text))
        if "\n" in text:
            close()

    def close() -> None:
        nonlocal last_y
        line = " ".join("".join(text for _, text in parts).split())
        if line:
            letters = Counter[float]()
            for size, text in parts:
                letters[round(size, 1)] += len(text.strip())
            height = letters.most_common(1)[0][0]
            if lines and last_y - at_y > 1.7 * height:
                lines.append((0.0, ""))
            lines.append((height, line))
            last_y = at_y
        parts.clear()

    page.extract_text(visitor_text=visit)
    close()
    return lines


def _join_lines(pages: Sequence[Sequence[_SizedLine]]) -> str:
    """Paragraphs and headings of the lines: larger lines are headings, repeated ones are left out."""
    lines = list(_drop_repeated(pages))
    marks = _find_marks(lines)
    written: list[str] = []
    # A heading may have several lines.
    for mark, group in groupby(lines, key=lambda line: marks.get(line[0], "")):
        texts = [text for _, text in group]
        heading = mark + " ".join(texts)
        written += ["", heading, ""] if mark and len(heading) <= _LONGEST_HEADING else texts
    return re.sub(r"(?<=[a-zß-ÿ])-\n(?=[a-zß-ÿ])", "", "\n".join(written))


def _drop_repeated(pages: Sequence[Sequence[_SizedLine]]) -> Iterator[_SizedLine]:
    """The lines of all pages without headers and footers."""
    counts = Counter(
        text for page in pages for text in {_fold_numbers(line) for line in (*page[:_EDGE], *page[-_EDGE:])}
    )
    most = max(_REPEATED * len(pages), _FEW_PAGES)
    for page in pages:
        for number, line in enumerate(page):
            at_edge = not _EDGE <= number < len(page) - _EDGE
            if not (at_edge and line[1] and counts[_fold_numbers(line)] > most):
                yield line


def _find_marks(lines: Sequence[_SizedLine]) -> Mapping[float, str]:
    """What begins a heading, by the size of its letters."""
    letters = Counter[float]()
    for size, text in lines:
        letters[size] += len(text)
    body = max(letters, key=letters.__getitem__, default=0.0)
    larger = sorted((size for size in letters if size > _LARGER * body), reverse=True)
    return {size: f"{'#' * level} " for level, size in enumerate(larger[:_LEVELS], 1)}


def _fold_numbers(line: _SizedLine) -> str:
    return re.sub(r"\d+", "0", line[1])


_READERS: Mapping[str, Callable[[bytes], str]] = {
    ".md": _read_markdown,
    ".markdown": _read_markdown,
    ".html": _read_html,
    ".htm": _read_html,
    ".txt": _read_plain,
    ".pdf": _read_pdf,
    ".docx": _read_docx,
}
#: The endings of the names of files that are read.
READABLE = tuple(_READERS)
