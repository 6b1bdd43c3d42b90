"""The reference: every table, column, setting, word, step, stage and code, found by its anchor or by words."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from config_admin.manual import tables, vocabulary
from config_admin.manual.entry import Chapter, ReferenceEntry


class EntryLocation(NamedTuple):
    chapter: Chapter
    entry: ReferenceEntry


@cache
def chapters() -> Mapping[str, Chapter]:
    """All chapters by slug, in the order of the contents; cached."""
    parts = (
        *vocabulary.make_group_chapters(),
        *vocabulary.make_word_chapters(),
        *tables.make_table_chapters(),
        *vocabulary.make_code_chapters(),
    )
    return {chapter.slug: chapter for chapter in parts}


@cache
def index_entries() -> Mapping[str, EntryLocation]:
    return {entry.anchor: EntryLocation(chapter, entry) for chapter in chapters().values() for entry in chapter.entries}


@cache
def index_unique_names() -> Mapping[str, str]:
    """The anchor of each name that only one entry has, for links in texts."""
    anchors_by_name: dict[str, list[str]] = {}
    for location in index_entries().values():
        anchors_by_name.setdefault(location.entry.name, []).append(location.entry.anchor)
    return {name: anchors[0] for name, anchors in anchors_by_name.items() if name and len(anchors) == 1}


def search(text: str) -> Sequence[EntryLocation]:
    """The entries with all words of a text: first those with the words in their name."""
    wanted = text.lower().split()
    if not wanted:
        return ()
    locations = [
        location for location in index_entries().values() if all(word in location.entry.folded for word in wanted)
    ]
    return sorted(locations, key=lambda location: _rank(location.entry, " ".join(wanted)))


def contents() -> Iterator[tuple[str, Sequence[Chapter]]]:
    parts: dict[str, list[Chapter]] = {}
    for chapter in chapters().values():
        parts.setdefault(chapter.part, []).append(chapter)
    yield from parts.items()


def _rank(entry: ReferenceEntry, wanted: str) -> tuple[int, int]:
    names = [entry.title.lower(), entry.name.lower(), entry.anchor.lower()]
    if wanted in names:
        return 0, 0
    if any(name.startswith(wanted) for name in names):
        return 1, len(entry.title)
    return (2, len(entry.title)) if any(wanted in name for name in names) else (3, 0)
