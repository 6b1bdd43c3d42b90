"""Documents of people, and those of people who mean harm: these end in time, with a problem and its remedy."""

import io
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable

import pypdf
import pytest
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from convengine.files import Unreadable, apart
from convengine.files.apart import read_apart
from convengine.files.document_text import read_document
from tests.pace import allow

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
ONE_PAGE = b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("".join(f"<h{n}>T{n}</h{n}>" for n in range(1, 7)), "\n\n".join(f"{'#' * n} T{n}" for n in range(1, 7))),
        ("<h1 class=x>A<br><b>B</b></h1><p>c", "# A B\n\nc"),
        ("<h2></h2><p>a</p>", "a"),
        ("<h2><div>a</div></h2>b", "## a\n\nb"),
        ("<ul><li>a<li><p>b</p></li></ul>c", "- a\n- b\n\nc"),
        ("<ol><li>a<ul><li>b<ul><li>c</ul></ul><li>d</ol>", "- a\n\n  - b\n\n    - c\n\n- d"),
        ("<table><tr><th>a<th>b<tr><td>1<td><p>2</p><p>3</p></table>c", "a | b\n1 | 2 3\n\nc"),
        ("<table><tr><td>a<h2>b</h2><p>c<table><tr><td>1<td>2</table>d</table>", "a\n\n## b\n\nc\n\n1 | 2\n\nd"),
        ('<p>to <a href="https://x.y/?a=1">the <b>shop</b></a>, <em>n</em>ow', "to the shop, now"),
        ("&lt;b&gt; &amp; &auml;&#246;&nbsp;&#0; x&shy;y", "<b> & äö � xy"),
        ("<p>a<p>b<div>c<span>d</div>e", "a\n\nb\n\ncd\n\ne"),
        ("<head><title>t</title><p>a &lt b < c <3 d", "a < b < c <3 d"),
        ("<pre>a\n  # b</pre># c", "    a\n      # b\n\n# c"),
        ("<p>a\n b\r\n\tc", "a b c"),
        ('<p title="> x" data=\'<b>\' onclick = "> y">a<a <b>c', "ac"),
        ("<nav>x<nav>x</nav>x</nav>a<svg/>b<NAV>x<body>c", "ab\n\nc"),
    ],
)  # fmt: skip
def test_html_becomes_plain_markdown(html: str, text: str) -> None:
    assert read_document("a.HTML", html.encode()) == text


@pytest.mark.parametrize(
    "html",
    [
        "<script>evil()</script>", "<SCRIPT src=x>evil <b></SCRIPT >", "<script>'</scripty>evil'</script>",
        "<style>evil {}</style>", "<iframe src=evil>evil</iframe>", "<!-- evil > <b>evil</b> -->", "<!-->-->",
        "<!doctype evil>", "<?php evil ?>", "<img src=x onerror='evil' alt=evil>", '<b onclick="a > evil">',
        "<template><b>evil</b></template>", "<svg><text>evil</text></svg>", "<noscript>evil</noscript>",
        "<object data=evil>evil</object>", "<textarea><b>evil</textarea>", "<a href='javascript:evil'></a>",
    ],
)  # fmt: skip
def test_what_is_no_text_does_not_appear(html: str) -> None:
    assert read_document("a.html", f"good {html}text".encode()).replace("-->", "") == "good text"


@pytest.mark.parametrize(
    "rest", ["<script>evil", "<!-- evil", "<b onclick='evil", "<img onerror=evil", "</evil", "<!evil"]
)
def test_what_does_not_end_is_left_out(rest: str) -> None:
    assert read_document("a.html", f"good{rest}".encode()) == "good"


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# A #\n\n###### B\n\nC\n=\nD\n-\n", "# A\n\n###### B\n\n# C\n\n## D"),
        ("a *b* **c** `d` [e](https://x.y) ![f](g.png)", "a b c d e"),
        ("* a\n  1. b\n* c\n", "- a\n\n  - b\n\n- c"),
        ("|a|b|\n|-|-|\n|1|2|\n", "a | b\n1 | 2"),
        ("a\n```sh\n# b\n<script>\n```\n", "a\n\n    # b\n    <script>"),
        ("a <b onclick=x>b</b>", "a <b onclick=x>b</b>"),
        ("[a](javascript:b) &lt;", "[a](javascript:b) <"),
    ],
)  # fmt: skip
def test_markdown_becomes_plain(markdown: str, text: str) -> None:
    assert read_document("a.md", markdown.encode()) == text


def test_plain_text_keeps_its_lines() -> None:
    assert read_document("a.txt", b"\xef\xbb\xbfa\r\nb\rc\n\n\n\nd") == "a\nb\nc\n\nd"


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.exe", b"", "Documents are .* Save a.exe"),
        ("a", b"", "Documents are"),
        ("a.txt", b"x" * (20 * 1024**2 + 1), "20 MB"),
        ("a.txt", b"x" * 3_000_001, "3,000,000 characters"),
        ("a.html", "größe".encode("latin-1"), "not UTF-8"),
        ("a.md", b"a\0", "NUL"),
        ("a.txt", b" \n", "no text"),
        ("a.html", b"", "no text"),
        ("a.html", b"<img src=a.png><p><img src=b.png></p>", "no text.*OCR"),
        ("a.pdf", b"", "no PDF"),
        ("a.pdf", b"x" * 1000, "no PDF"),
        ("a.docx", b"", "no DOCX"),
        ("a.docx", b"\xd0\xcf\x11\xe0" + b"x" * 1000, "password"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(name: str, data: bytes, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_document(name, data)


@pytest.mark.parametrize("name", ["a.html", "a.txt"])
@pytest.mark.parametrize(
    "part",
    [
        "-", "#", "\n", "<", "a ", "&", "<!--", "<!", "<?", "</", "<a ", '<a "', "<a ='", "<a = ", "<script>",
        "<title>", "<p", "<div>", "<li><ul>", "<nav></svg>", "<td>", "<table><td>", " | ", "\xad", "<pre>\n", "<h1>",
        "<br>", "\r",
    ],
)  # fmt: skip
def test_the_time_grows_with_the_length_only(part: str, name: str) -> None:
    began = time.process_time()
    try:
        read_document(name, (part * (3_000_000 // len(part.encode()))).encode())
    except Unreadable as problem:
        assert "no text" in str(problem) or "Split it" in str(problem)  # noqa: PT017 - both are fine, if they come soon

    assert time.process_time() - began < 8


def make_docx(body: str, **parts: str | bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
        )
        archive.writestr("word/document.xml", body if body.startswith("<!") else word(body))
        for name, part in parts.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), part)
    return file.getvalue()


def word(body: str) -> str:
    return f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def cell(*texts: str) -> str:
    return f"<w:tc>{''.join(map(paragraph, texts))}</w:tc>"


def test_docx_becomes_plain_markdown() -> None:
    item = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'
    numbering = "".join(f'<w:lvl w:ilvl="{n}"><w:numFmt w:val="bullet"/></w:lvl>' for n in range(2))
    body = (
        paragraph("Title", '<w:pStyle w:val="Heading1"/>') + paragraph("Part", '<w:pStyle w:val="Heading2"/>')
        + paragraph("&lt;script>") + paragraph("a", item.format(0)) + paragraph("b", item.format(1))
        + f"<w:tbl><w:tr>{cell('1')}{cell('2', '3')}</w:tr><w:tr>{cell('4')}{cell('5')}</w:tr></w:tbl>"
        + '<w:p><w:r><w:drawing><a:blip xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"/></w:drawing>'
        + "</w:r></w:p>" + paragraph("end")
    )  # fmt: skip
    data = make_docx(
        body,
        word__numbering_xml=f'<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="0">{numbering}'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>',
        **{"mammoth/style-map": "p => script"},
    )

    expected = "# Title\n\n## Part\n\n<script>\n\n- a\n\n  - b\n\n1 | 2 3\n4 | 5\n\nend"
    assert read_document("a.docx", data) == expected


def make_zip(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return file.getvalue()


def make_laughs() -> str:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE x [<!ENTITY e0 "ha">{entities}]>{word(paragraph("&e9;"))}'


def make_pdf(*objects: bytes, kids: bytes = b"3 0 R", count: int = 1) -> bytes:
    """A PDF of objects, whose numbers are 3 and more."""
    pages = b"<</Type/Pages/Kids[" + kids + b"]/Count %d>>" % count
    file, offsets = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, each in enumerate([b"<</Type/Catalog/Pages 2 0 R>>", pages, *objects], 1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size, start = len(offsets) + 1, len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n%btrailer<</Size %d/Root 1 0 R>>\n" % (size, table, size)
    return bytes(file + b"startxref\n%d\n%%%%EOF" % start)


def stream(data: bytes, more: bytes = b"") -> bytes:
    return b"<</Length %d%b>>stream\n%b\nendstream" % (len(data), more, data)


def lines(*sized: tuple[int, int, str]) -> bytes:
    """The content of a page: the size, the height and the text of each line."""
    return b"".join(b"BT /F %d Tf 50 %d Td (%b) Tj ET\n" % (size, y, text.encode()) for size, y, text in sized)


def write_pages(contents: Iterable[bytes], password: str = "") -> bytes:
    writer = pypdf.PdfWriter()
    names = ("/Type", "/Font"), ("/Subtype", "/Type1"), ("/BaseFont", "/Helvetica")
    font = DictionaryObject({NameObject(name): NameObject(value) for name, value in names})
    for content in contents:
        page = writer.add_blank_page(600, 800)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F"): font})}
        )
        data = DecodedStreamObject()
        data.set_data(content)
        page[NameObject("/Contents")] = writer._add_object(data)
    if password:
        writer.encrypt(password, algorithm="AES-256")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def test_larger_lines_of_a_pdf_are_headings() -> None:
    content = lines(
        (24, 750, "A long"), (24, 722, "title"), (16, 690, "Part 1"), (10, 670, "It is an impor-"),
        (10, 658, "tant thing."), (10, 630, "More."), (16, 600, "Part 2"), (10, 580, "The end, and so on."),
    )  # fmt: skip

    expected = "# A long title\n\n## Part 1\n\nIt is an important thing.\n\nMore.\n\n## Part 2\n\nThe end, and so on."
    assert read_document("a.pdf", make_pdf(ONE_PAGE, stream(content), FONT)) == expected


def test_the_scale_of_a_page_counts_for_the_size_of_its_letters() -> None:
    content = b"q 2 0 0 2 0 0 cm " + lines((12, 350, "Title")) + b"Q " + lines((12, 500, "Some text of the page"))

    assert read_document("a.pdf", write_pages([content])) == "# Title\n\nSome text of the page"


def test_headers_and_footers_of_a_pdf_are_left_out() -> None:
    def fill(page: str) -> bytes:
        words = [
            "The header",
            *(f"{letter}{page}" for letter in "ghij"),
            "Same.",
            *(f"{letter}{page}" for letter in "klmn"),
        ]
        return lines(*((10, 700 - 12 * n, text) for n, text in enumerate([*words, f"Page {ord(page)} of 4"])))

    words = " ".join(f"g{n} h{n} i{n} j{n} Same. k{n} l{n} m{n} n{n}" for n in "abcd")
    assert read_document("a.pdf", write_pages(map(fill, "abcd"))).split() == words.split()


def flate(data: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        data = zlib.compress(data, 9)
    return stream(data, b"/Filter[" + b"/FlateDecode" * times + b"]")


def make_page(content: bytes, font: bytes = FONT, pages: int = 1) -> bytes:
    return make_pdf(ONE_PAGE, content, font, kids=b"3 0 R " * pages, count=pages)


GOOD = stream(lines((10, 700, "Hello")))
BOMB = b"BT /F 1 Tf (a) Tj ET\n"
NAMELESS = b"<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[9 0 R]/ToUnicode 8 0 R>>"
FORMS = b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>"


def make_form(number: int) -> bytes:
    """A form that writes another one a thousand times."""
    return stream(b"/X Do " * 1000, b"/Subtype/Form/Resources<</XObject<</X %d 0 R>>>>" % number)


@pytest.mark.parametrize(
    ("name", "make", "problem"),
    [
        ("zip.docx", lambda: make_zip("xl/workbook.xml", b"<x/>"), "no DOCX"),
        ("bomb.docx", lambda: make_zip("word/document.xml", b" " * 201 * 1024**2), "200 MB"),
        ("laughs.docx", lambda: make_docx(make_laughs()), "no DOCX"),
        ("deep.docx", lambda: make_docx("<w:p>" * 10_000 + "</w:p>" * 10_000), "no DOCX"),
        ("open.docx", lambda: make_docx("<w:p>"), "no DOCX"),
        ("cut.docx", lambda: make_docx(paragraph("a"))[:-30], "no DOCX"),
        ("empty.docx", lambda: make_docx(""), "no text"),
        ("secret.pdf", lambda: write_pages([b""], "secret"), "password"),
        ("loop.pdf", lambda: make_pdf(kids=b"2 0 R"), "no PDF"),
        ("loops.pdf", lambda: make_pdf(*[b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % n for n in (4, 3)]), "no PDF"),
        ("deep.pdf", lambda: make_pdf(*[b"<</Type/Pages/Kids[%d 0 R]>>" % (n + 4) for n in range(500)]), "no PDF"),
        ("99000.pdf", lambda: make_page(GOOD, pages=99_000), "99,000 pages"),
        ("100001.pdf", lambda: make_page(GOOD, pages=100_001), "no PDF"),
        ("font.pdf", lambda: make_page(GOOD, b"(none)"), "letters .* unknown"),
        ("nameless.pdf", lambda: make_page(GOOD, NAMELESS), "letters .* unknown"),
        ("stream.pdf", lambda: make_page(stream(b"nonsense", b"/Filter/FlateDecode")), "no text"),
        ("length.pdf", lambda: make_page(b"<</Length 999999999>>stream\nBT\nendstream"), "no PDF"),
        ("content.pdf", lambda: make_page(stream(b"BT /F 10 Tf ((((( [ << ")), "no PDF"),
        ("nested.pdf", lambda: make_page(stream(b"[" * 100_000)), "no PDF"),
        ("cut.pdf", lambda: make_page(GOOD)[:250], "no PDF"),
        ("end.pdf", lambda: make_page(GOOD)[:-40], "no PDF"),
        ("pictures.pdf", lambda: write_pages([b"", b""]), "no text.*OCR"),
    ],
)  # fmt: skip
def test_a_hostile_file_is_refused_at_once(name: str, make: Callable[[], bytes], problem: str) -> None:
    data = make()
    began = time.process_time()

    with pytest.raises(Unreadable, match=problem):
        read_document(name, data)

    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "declared",
    ['<!ENTITY e SYSTEM "file:///etc/passwd">', '<!ENTITY % f SYSTEM "file:///etc/passwd">%f;<!ENTITY e "">'],
)
def test_docx_reads_no_other_file(declared: str) -> None:
    assert read_document("a.docx", make_docx(f"<!DOCTYPE x [{declared}]>{word(paragraph('a&e;b'))}")) == "ab"


def test_what_no_database_takes_is_replaced() -> None:
    names = stream(b"1 beginbfchar <48> <D800> endbfchar")
    font = b"<</Type/Font/Subtype/Type1/BaseFont/X/ToUnicode 6 0 R>>"

    assert read_document("a.pdf", make_pdf(ONE_PAGE, GOOD, font, names)) == "\ufffdello"


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.html", b"<div>" * 100_000 + b"a" + b"</div>" * 100_000, "a"),
        ("a.html", b"<b " + b"x='y' " * 3_400_000 + b">a", "a"),
        ("a.docx", make_docx(paragraph("a")), "a"),
        ("a.pdf", make_page(GOOD), "Hello"),
    ],
    ids=["nested", "one tag", "docx", "pdf"],
)
def test_documents_are_read_in_a_process_of_their_own(
    name: str, data: bytes, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convengine.files.document_text.MOST_BYTES", 0)  # which only this process sees

    assert read_apart(data, read_document, name, data) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "make", "problem"),
    [
        ("bomb.pdf", lambda: make_page(flate(BOMB * 1_000_000, 2)), "no PDF"),
        ("empty.docx", lambda: make_docx("<w:p/>" * 50_000), "no text"),
    ],
)
def test_few_bytes_that_take_long_are_read_apart(name: str, make: Callable[[], bytes], problem: str) -> None:
    data = make()
    assert len(data) < 64 * 1024

    began = time.process_time()
    with pytest.raises(Unreadable, match=problem):
        read_apart(data, read_document, name, data)

    assert time.process_time() - began < 0.5


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("pages.pdf", lambda: make_page(flate(BOMB * 90_000, 2), pages=2_900)),
        ("forms.pdf", lambda: make_pdf(FORMS, stream(b"/X Do " * 1000), make_form(6), make_form(5))),
        ("empty.docx", lambda: make_docx("<w:p/>" * 20_000_000)),
        ("token.docx", lambda: make_docx(f"<!--{'x' * 100_000_000}-->{word('')}")),
        ("a.md", lambda: b"[" * 12_000_000),
    ],
)
def test_what_takes_too_long_ends(
    name: str, make: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(apart, "SECONDS", 5)
    data = make()
    began = time.monotonic()

    with pytest.raises(Unreadable, match="more than 5 seconds"):
        read_apart(data, read_document, name, data)

    assert time.monotonic() - began < allow(40)
    assert len(capfd.readouterr().err) < 1000
