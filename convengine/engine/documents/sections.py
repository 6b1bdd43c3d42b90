"""The sections of a document, by its headings, and their passages and sentences, word for word."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

#: A heading of Markdown, and a line that is a list item or the row of a table by itself.
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+|.*[ \t]\|[ \t]")
#: Where a sentence ends: behind its sign and closing quotes, before a word that begins one.
_END = re.compile(r"(?<=[.!?…])([\"'”“’»)]*)\s+(?=[\"'“‘„«(]?[^\W_a-zà-öø-ÿ])")
#: What a full stop does not end: a number, a letter, a short abbreviation ("z. B. am 3. August", "approx. 5").
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:\d{1,2}|\w|(?:e\.g|i\.e|approx|incl|excl|no|nr|dr|mr|mrs|st|ca|bzw|usw|etc|ggf|vgl|tel|z\.b))\.$",
    re.I,
)
#: Words of a passage: fewer are joined with the next ones, more are cut between sentences.
_FEWEST, _MOST = 40, 120
#: How far back it is looked for whether a sentence begins a paragraph.
_GAP = 20


@dataclass(frozen=True)
class Passage:
    """Some sentences of a section that are found together."""

    sentences: tuple[str, ...]
    #: Where each sentence begins in the text of its section.
    starts: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Section:
    """The text under a heading, up to the next one."""

    #: The headings that lead to it, from the first one down to its own.
    titles: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        """The path of its headings, which names it in its document."""
        return " > ".join(self.titles)

    def list_passages(self) -> Sequence[Passage]:
        """Its passages of about 40 to 120 words."""
        passages: list[Passage] = []
        starts, sentences, words = list[int](), list[str](), 0
        for start, sentence in split_sentences(self.text):
            more = len(sentence.split())
            begins_block = self.text[max(0, start - _GAP) : start].rstrip(" \t").endswith("\n\n")
            if sentences and (words + more > _MOST or (words >= _FEWEST and begins_block)):
                passages.append(_make_passage(self.text, starts, sentences))
                starts, sentences, words = [], [], 0
            starts.append(start)
            sentences.append(sentence)
            words += more
        if sentences:
            passages.append(_make_passage(self.text, starts, sentences))
        return passages


def _make_passage(text: str, starts: Sequence[int], sentences: Sequence[str]) -> Passage:
    return Passage(tuple(sentences), tuple(starts), text[starts[0] : starts[-1] + len(sentences[-1])])


def split_document(title: str, content: str) -> list[Section]:
    """The sections of a text in Markdown that are not empty. Text before the first heading has the title."""
    sections: list[Section] = []
    path: list[tuple[int, str]] = []
    lines: list[str] = []

    def close() -> None:
        text = "\n".join(lines).strip()
        if text:
            sections.append(Section(tuple(name for _, name in path) or (title,), text))
        lines.clear()

    for line in content.splitlines():
        heading = _HEADING.match(line)
        if heading and heading[2]:
            close()
            level = len(heading[1])
            path[:] = [*(each for each in path if each[0] < level), (level, heading[2])]
        else:
            lines.append(line)
    close()
    return sections


def split_sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a text, each with where it begins. An item of a list and a row of a table are one each."""
    for start, block in _split_blocks(text):
        begins = 0
        for end in _END.finditer(block):
            if not _ABBREVIATION.search(block, max(0, end.start() - 12), end.start()):
                yield start + begins, block[begins : end.end(1)]
                begins = end.end()
        if block[begins:].strip():
            yield start + begins, block[begins:].rstrip()


def _split_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, items of lists and rows of tables, each with where it begins."""
    begins = at = 0
    for line in text.splitlines(keepends=True):
        if begins < at and (not line.strip() or _ITEM.match(line)):
            yield from _strip(text, begins, at)
            begins = at
        at += len(line)
        if not line.strip():
            begins = at
    yield from _strip(text, begins, at)


def _strip(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    block = text[start:end]
    if stripped := block.strip():
        yield start + block.index(stripped), stripped
