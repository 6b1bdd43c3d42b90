"""The chapters of the manual: the Markdown files of `docs/`, with links to the reference."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from django.templatetags.static import static
from django.urls import reverse
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.token import Token

from config_admin.manual.links import entry_url
from config_admin.manual.reference import index_unique_names
from convengine.server.deployment.folders import find_shipped

#: The chapters of each part, in reading order. Every file of `docs/` belongs to one part.
PARTS: Mapping[str, Sequence[str]] = {
    "For analysts and QA": (
        "concepts",
        *("first_hour_analyst", "workplace", "design", "authoring", "forms", "conversations", "understanding"),
        *("languages", "rules", "actions", "tools", "health", "tests", "evaluate", "drafts", "transfer", "come_over"),
        *("first_hour_qa", "reading"),
        *("reports", "trust", "seals", "groups", "access", "troubleshooting", "cheat_sheet", "glossary"),
    ),
    "For integrators and operators": (
        *("first_hour_integrator", "install", "api", "chat", "channels", "sessions", "webhooks", "models", "extending"),
        *("scenarios", "deployment", "operations", "observability", "scaling", "production", "limits", "security"),
        *("sign_in", "versions", "architecture", "dependencies"),
    ),
}
_READER = MarkdownIt("commonmark", {"html": False}).enable("table")
_FOLDER = find_shipped("docs")
#: Words of a question that say nothing of its subject.
_SMALL = (
    " a an and are be can can't cannot do does doesn't don't for from how i in is isn't it me my no not of on or our "
    "the to we what when where which why will with won't you "
)
#: How many characters of a paragraph a search shows.
_EXCERPT = 180
#: The path of pictures, relative to the files.
_PICTURES = "../static/"
#: The admin of the demonstration. The files link its pages, the manual those of its own admin.
_DEMONSTRATION = "http://127.0.0.1:8000/admin/"
_FILE = re.compile(r"^(\w+)\.md(#.*)?$")


@dataclass(frozen=True)
class Prose:
    """A chapter as a page."""

    slug: str
    title: str
    #: HTML. The text is ours, and raw HTML in it is escaped.
    text: SafeString
    folded: str
    #: The paragraphs, each with the id and the text of the heading above it.
    paragraphs: Sequence["Paragraph"] = ()


class Paragraph(NamedTuple):
    """A paragraph, row or item of a chapter, under its heading."""

    anchor: str
    heading: str
    text: str


class ProseMatch(NamedTuple):
    """A chapter that a search finds, and the paragraph that fits best."""

    chapter: Prose
    paragraph: Paragraph
    excerpt: str


@cache
def chapter(slug: str) -> Prose:
    """The chapter of a file. Raises KeyError for an unknown one."""
    if slug not in {name for part in PARTS.values() for name in part}:
        raise KeyError(slug)
    source = (_FOLDER / f"{slug}.md").read_text()
    tokens = _READER.parse(source)
    title = next((after.content for token, after in pairwise(tokens) if token.tag == "h1"), slug)
    for heading, inside in pairwise(tokens):
        if heading.type == "heading_open":
            # Made of its words, as links between the files expect.
            heading.attrSet("id", re.sub(r"[^\w\- ]", "", inside.content.lower()).strip().replace(" ", "-"))
    paragraphs = tuple(_list_paragraphs(tokens))
    return Prose(slug, title, _write_html(tokens), source.lower(), paragraphs)


@cache
def tasks() -> SafeString:
    """The first table of the hub: it lists tasks of readers, and links each to its chapters."""
    tokens = _READER.parse((_FOLDER / "README.md").read_text())
    start, end = (
        next(at for at, token in enumerate(tokens) if token.type == kind) for kind in ("table_open", "table_close")
    )
    return _write_html(tokens[start : end + 1])


def _write_html(tokens: Sequence[Token]) -> SafeString:
    for token in tokens:
        if token.children:
            token.children = [made for child in token.children for made in _add_links(child)]
    html = _READER.renderer.render(tokens, _READER.options, {})
    for plain, scrollable in _SCROLLABLE.items():
        html = html.replace(plain, scrollable)
    return SafeString(html)


#: What is wider than the page scrolls by keyboard, too.
_SCROLLABLE = {
    "<table>": '<div class="ce-scroll" tabindex="0"><table class="ce-table">',
    "</table>": "</table></div>",
    "<pre>": '<pre tabindex="0">',
}


def contents() -> list[tuple[str, list[Prose]]]:
    """All chapters by part."""
    return [(part, [chapter(slug) for slug in slugs]) for part, slugs in PARTS.items()]


def search(text: str) -> list[ProseMatch]:
    """The chapters with all telling words of a text, or most if none has all; each with its best paragraph.

    Those with the text as their title or in a heading come first, then those with all its words in one heading.
    """
    words = _list_telling_words(text)
    counts = {entry: sum(word in entry.folded for word in words) for _, part in contents() for entry in part}
    most = max(counts.values())
    if 2 * most < len(words) or not most:
        return []
    chapters = [entry for entry, count in counts.items() if count == most]
    return [
        _match_chapter(entry, words) for entry in sorted(chapters, key=lambda entry: _rank_chapter(entry, text, words))
    ]


def _list_telling_words(text: str) -> list[str]:
    """The words that say what is searched, in lower case and without the s of a plural. All, if none of them tells."""
    words = [word.strip('?!.,;:"“”') for word in text.lower().replace("’", "'").split()]
    telling = [word for word in words if word and f" {word} " not in _SMALL]
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in telling or filter(None, words)]


def _rank_chapter(entry: Prose, text: str, words: Sequence[str]) -> tuple[bool, ...]:
    headings = {entry.title.lower(), *(paragraph.heading.lower() for paragraph in entry.paragraphs)}
    whole = text.lower().strip(" ?")
    return (
        whole != entry.title.lower(),
        not any(whole in heading for heading in headings),
        not any(all(word in heading for word in words) for heading in headings),
        not any(whole in paragraph.text.lower() for paragraph in entry.paragraphs),
        not any(word in entry.title.lower() for word in words),
    )


def _match_chapter(entry: Prose, words: Sequence[str]) -> ProseMatch:
    def count_words(paragraph: Paragraph) -> int:
        heading, text = paragraph.heading.lower(), paragraph.text.lower()
        has_all = all(word in heading for word in words)
        return sum(2 * (word in text) + (word in heading) for word in words) + 10 * has_all

    best = max(entry.paragraphs, key=count_words, default=Paragraph("", "", ""))
    return ProseMatch(entry, best, _cut_excerpt(best.text, words))


def _cut_excerpt(text: str, words: Sequence[str]) -> str:
    """The part of the text around the first of the words."""
    places = [index for word in words if (index := text.lower().find(word)) >= 0]
    start = max(min(places, default=0) - _EXCERPT // 3, 0)
    start = text.find(" ", start) + 1 if start else 0
    end = text.rfind(" ", start, start + _EXCERPT) if len(text) > start + _EXCERPT else len(text)
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"


def _list_paragraphs(tokens: Sequence[Token]) -> Iterator[Paragraph]:
    anchor = heading = ""
    for opening, inside in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag != "h1":
            anchor, heading = str(opening.attrGet("id") or ""), inside.content
        elif inside.type == "inline" and opening.type != "heading_open":
            # The text without marks.
            parts = (" " if child.type == "softbreak" else child.content for child in inside.children or ())
            yield Paragraph(anchor, heading, "".join(parts))


def _resolve_address(address: str) -> str:
    """Where a chapter, a picture or a page of the admin is in this installation."""
    if address.startswith(_PICTURES):
        return static(address.removeprefix(_PICTURES))
    if address.startswith(_DEMONSTRATION):
        return reverse("admin:index") + address.removeprefix(_DEMONSTRATION)
    if match := _FILE.match(address):
        return f"{reverse('manual_chapter', args=[match[1]])}{match[2] or ''}"
    return address


def _add_links(token: Token) -> list[Token]:
    """Resolve the addresses of links and pictures, and link identifiers to their entries."""
    for name in ("href", "src"):
        if address := token.attrGet(name):
            token.attrSet(name, _resolve_address(str(address)))
    if token.type != "code_inline" or token.content not in index_unique_names():
        return [token]
    anchor = index_unique_names()[token.content]
    attrs: dict[str, Any] = {"href": entry_url(anchor), "data-entry": anchor}
    return [Token("link_open", "a", 1, attrs=attrs), token, Token("link_close", "a", -1)]
