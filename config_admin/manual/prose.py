"""The chapters of the manual: the Markdown files of `docs/`, with links to the reference."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.token import Token

from config_admin.manual.links import entry_url
from config_admin.manual.reference import index_unique_names

#: The chapters of each part, in reading order. Every file of `docs/` belongs to one part.
PARTS: Mapping[str, Sequence[str]] = {
    "For analysts and QA": (
        *(
            "start",
            "glossary",
            "tasks",
            "workplace",
            "authoring",
            "grid",
            "rules",
            "patterns",
            "paths",
            "templates",
            "extraction",
            "actions",
        ),
        *("tools", "planner", "prompts", "understanding", "sessions", "reading", "trust", "groups"),
        *("health", "transfer"),
    ),
    "For integrators and operators": (
        *("api", "mcp", "models", "extending", "scenarios", "deployment", "jobs"),
        *("performance", "architecture", "dependencies"),
    ),
}
_READER = MarkdownIt("commonmark", {"html": False}).enable("table")
_FOLDER = Path(settings.BASE_DIR) / "docs"
#: The path of pictures, relative to the files.
_PICTURES = "../static/"
_FILE = re.compile(r"^(\w+)\.md(#.*)?$")


@dataclass(frozen=True)
class Prose:
    """A chapter as a page."""

    slug: str
    title: str
    #: HTML. The text is ours, and raw HTML in it is escaped.
    text: SafeString
    folded: str


@cache
def chapter(slug: str) -> Prose:
    """The chapter of a file. Raises KeyError for an unknown one."""
    if slug not in {name for part in PARTS.values() for name in part}:
        raise KeyError(slug)
    source = (_FOLDER / f"{slug}.md").read_text()
    tokens = _READER.parse(source)
    title = next((after.content for token, after in pairwise(tokens) if token.tag == "h1"), slug)
    _name_headings(tokens)
    for token in tokens:
        if token.children:
            token.children = [made for child in token.children for made in _add_links(child)]
    html = _READER.renderer.render(tokens, _READER.options, {})
    return Prose(
        slug, title, SafeString(html.replace("<table>", _TABLE).replace("</table>", "</table></div>")), source.lower()
    )


_TABLE = '<div class="ce-scroll" tabindex="0"><table class="ce-table">'


def contents() -> list[tuple[str, list[Prose]]]:
    """All chapters by part."""
    return [(part, [chapter(slug) for slug in slugs]) for part, slugs in PARTS.items()]


def search(text: str) -> list[Prose]:
    """The chapters with all words of a text, those with one in the title first."""
    words = text.lower().split()
    chapters = [
        entry for _, part in contents() for entry in part if words and all(word in entry.folded for word in words)
    ]
    return sorted(chapters, key=lambda entry: not any(word in entry.title.lower() for word in words))


def _name_headings(tokens: Sequence[Token]) -> None:
    """Give headings ids made from their words, as links between the files expect."""
    for heading, inside in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", re.sub(r"[^\w\- ]", "", inside.content.lower()).strip().replace(" ", "-"))


def _add_links(token: Token) -> list[Token]:
    """Link files to their pages, identifiers to their entries, and pictures to static files."""
    if token.type == "image" and (picture := str(token.attrGet("src") or "")).startswith(_PICTURES):
        token.attrSet("src", static(picture.removeprefix(_PICTURES)))
    if token.type == "link_open" and (match := _FILE.match(str(token.attrGet("href") or ""))):
        token.attrSet("href", f"{reverse('manual_chapter', args=[match[1]])}{match[2] or ''}")
    if token.type != "code_inline" or token.content not in index_unique_names():
        return [token]
    anchor = index_unique_names()[token.content]
    attrs: dict[str, Any] = {"href": entry_url(anchor), "data-entry": anchor}
    return [Token("link_open", "a", 1, attrs=attrs), token, Token("link_close", "a", -1)]
