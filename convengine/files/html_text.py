"""The text of HTML as plain Markdown: headings, paragraphs, items of lists, rows of tables, and set-in code."""

import re
from html import unescape

#: What begins with `<` and is no text; what ends a tag, or begins a quoted value, in which `>` ends nothing.
_MARKUP, _STOP = re.compile(r"<(?:!--|[!?]|/?([a-zA-Z][^\s/>]*))"), re.compile(r">|=\s*([\"'])")
_HEADING = re.compile(r"h[1-6]")
#: Elements whose content is no text of the document: what is between their tags is no markup, or is.
_RAW = frozenset({"script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp"})
_SKIPPED = frozenset({"template", "noscript", "nav", "svg", "object", "select", "button"})
#: Elements that begin and end a paragraph.
_BLOCKS = frozenset(
    {
        "p", "div", "section", "article", "main", "aside", "header", "footer", "blockquote", "pre", "table", "ul", "ol",
        "dl", "dt", "dd", "figure", "figcaption", "hr", "body", "form", "fieldset", "details", "summary", "caption",
        "address", "h1", "h2", "h3", "h4", "h5", "h6",
    }
)  # fmt: skip
_LINES, _CELLS, _LISTS = frozenset({"li", "tr", "br"}), frozenset({"td", "th"}), frozenset({"ul", "ol"})
_DEEPEST = 6


def read_html(html: str) -> str:
    """The text of HTML as plain Markdown."""
    return _HtmlReader().read(html)


class _HtmlReader:
    """Finds tags itself: the time of `html.parser` grows with the square of the length of some texts.

    As in browsers, a tag or a comment that does not end goes on to the end.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        #: The line that is being written, and what begins it.
        self._parts: list[str] = []
        self._mark = ""
        #: The element that is skipped, and how many of its name are open.
        self._skipped, self._open = "", 0
        self._depth, self._in_cell, self._in_code = 0, False, False

    def read(self, html: str) -> str:
        at = 0
        while markup := _MARKUP.search(html, at):
            self._write(html[at : markup.start()])
            at = self._pass_markup(html, markup)
        self._write(html[at:])
        self._end_line()
        return "\n".join(self._lines)

    def _pass_markup(self, html: str, markup: re.Match[str]) -> int:
        """Take a tag or a comment; where it ends."""
        if not markup[1]:
            # `<!-->` is a comment, too.
            ends = html.find("-->", markup.end() - 2) if markup[0] == "<!--" else html.find(">", markup.end())
            return ends + len(markup[0]) - 1 if ends >= 0 else len(html)
        name, end = markup[1].lower(), _find_end(html, markup.end())
        if markup[0].startswith("</"):
            self._end(name)
        elif name in _RAW:
            closing = re.compile(rf"</{name}(?=[\s/>])", re.I).search(html, end)
            return _find_end(html, closing.end()) if closing else len(html)
        elif name in _SKIPPED and html.endswith("/>", markup.start(), end):
            pass
        else:
            self._begin(name)
        return end

    def _begin(self, name: str) -> None:
        if name == "body":
            self._skipped = ""
        if self._skipped:
            self._open += name == self._skipped
        elif name in _SKIPPED:
            self._skipped, self._open = name, 1
        elif name in _CELLS:
            self._parts.append(" | ")
            self._in_cell = True
        elif name in _BLOCKS or name in _LINES:
            self._begin_block(name)

    def _begin_block(self, name: str) -> None:
        heading = _HEADING.fullmatch(name)
        # Paragraphs of a cell are of its row; a table in a cell is no part of it. The title of a heading is one line.
        if name in ("table", "tr") or heading:
            self._in_cell = False
        if self._in_cell or (name == "br" and self._mark.startswith("#")):
            self._parts.append(" ")
            return
        self._end_line(paragraph=name in _BLOCKS)
        self._depth += name in _LISTS
        self._in_code |= name == "pre"
        if heading:
            self._mark = f"{'#' * int(name[1])} "
        elif name == "li":
            self._mark = f"{'  ' * (min(self._depth, _DEEPEST) - 1)}- "

    def _end(self, name: str) -> None:
        if self._skipped:
            self._open -= name == self._skipped
            self._skipped = self._skipped if self._open else ""
        elif name in ("table", "tr"):
            self._in_cell = False
            self._end_line(paragraph=name == "table")
        elif self._in_cell and not _HEADING.fullmatch(name):
            self._parts.append(" " if name in _BLOCKS or name in _LINES else "")
        elif name in _BLOCKS or name in _LINES:
            self._end_line(paragraph=name in _BLOCKS)
            self._mark = ""
            self._depth = max(self._depth - (name in _LISTS), 0)
            self._in_code &= name != "pre"

    def _write(self, html: str) -> None:
        if self._skipped:
            return
        first, *others = unescape(html).split("\n") if self._in_code else [unescape(html)]
        self._parts.append(first)
        for line in others:
            self._end_line()
            self._parts.append(line)

    def _end_line(self, *, paragraph: bool = False) -> None:
        text = "".join(self._parts)
        self._parts.clear()
        if self._in_code:
            # Set in, so that its `#` begins no heading.
            self._lines.append(f"    {text.rstrip()}".rstrip())
        elif words := " ".join(text.split()).strip("| "):
            cells = filter(None, words.split(" | "))
            self._lines.append(self._mark + " | ".join(cells))
            self._mark = ""
        if paragraph and not self._mark:
            self._lines.append("")


def _find_end(html: str, at: int) -> int:
    while stop := _STOP.search(html, at):
        if stop[0] == ">":
            return stop.end()
        at = html.find(stop[1], stop.end()) + 1
        if not at:
            break
    return len(html)
