"""Search everything: codes, patterns, texts and JSON keys of all tables, settings, and pages; in memory.

Source: law 8: in memory.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from config_admin.editing.links import column_label, release_url
from config_admin.editing.usages import link_of
from config_admin.validation.texts import RowTexts, list_row_texts
from config_admin.workplace.settings_page import settings_url
from convengine.engine.turn import rows
from convengine.engine.turn.live_settings import CATALOGUE
from convengine.engine.turn.snapshot import Snapshot

#: How many hits are shown.
SHOWN = 50
#: How much text is shown around a hit.
_BEFORE, _AFTER = 32, 60
#: Columns that name a row.
_NAMES = frozenset({"tool_code", "action_key", "name", "config_key", "intent_code", "state_code", "description"})
#: The quality of a hit: equal to the name, start of the name, in the name, in a text, or its words apart in a text.
_IS, _BEGINS, _HAS, _SAYS, _MENTIONS = range(5)


@dataclass(frozen=True)
class Hit:
    """A hit: its address, its name, and the excerpt."""

    url: str
    name: str
    about: str = ""
    #: The column with the words, and the excerpt.
    field: str = ""
    before: str = ""
    match: str = ""
    after: str = ""
    enabled: bool = True

    def as_dict(self) -> dict[str, Any]:
        """The hit for scripts."""
        return asdict(self)


@dataclass(frozen=True)
class Found:
    """The best hits, and the total number."""

    hits: Sequence[Hit]
    total: int


def search(snapshot: Snapshot, text: str, tables: Collection[str], pages: Sequence[Hit] = ()) -> Found:
    """Everything with all words of a text, best first: pages, settings, then rows of the tables.

    No query. Rows with the words in their name come first.
    """
    words = text.lower().split()
    if not words:
        return Found((), 0)
    named = [hit for hit in pages if _has(f"{hit.name} {hit.about}".lower(), words)]
    if rows.Config.table in tables:
        named += _settings(words)
    ranked = sorted(_rank_rows(snapshot, words, tables), key=lambda each: each[0])
    best = (_hit(one, words) for _, one in islice(ranked, SHOWN))
    release = _release(snapshot, text)
    return Found([*release, *named, *best][:SHOWN], len(release) + len(named) + len(ranked))


def _rank_rows(
    snapshot: Snapshot, words: Sequence[str], tables: Collection[str]
) -> Iterator[tuple[tuple[int, int], RowTexts]]:
    whole = " ".join(words)
    for place, row_type in enumerate(rows.ROW_TYPES):
        if row_type.table in tables:
            for one in list_row_texts(snapshot, row_type):
                if _has(one.folded, words):
                    yield (_rank(one, whole), place), one


def _rank(one: RowTexts, whole: str) -> int:
    names = [text.lower() for name, text in one.texts.items() if name in _NAMES or name == one.row.key]
    if whole == str(one.row.pk).lower():
        return _IS
    if any(name.startswith(whole) for name in names):
        return _BEGINS
    if any(whole in name for name in names):
        return _HAS
    return _SAYS if whole in one.folded else _MENTIONS


def _has(folded: str, words: Sequence[str]) -> bool:
    return all(word in folded for word in words)


def _hit(one: RowTexts, words: Sequence[str]) -> Hit:
    link = link_of(one.row)
    for wanted in (" ".join(words), *words):
        for name, text in one.texts.items():
            if (start := text.lower().find(wanted)) >= 0:
                before, match, after = _cut(text, start, len(wanted))
                label = column_label(one.row.table, name)
                return Hit(link.url, link.name, link.about, label, before, match, after, link.enabled)
    return Hit(link.url, link.name, link.about, enabled=link.enabled)


def _cut(text: str, start: int, length: int) -> tuple[str, str, str]:
    end = start + length
    before = f"{'…' if start > _BEFORE else ''}{text[max(start - _BEFORE, 0) : start]}"
    after = f"{text[end : end + _AFTER]}{'…' if end + _AFTER < len(text) else ''}"
    return before, text[start:end], after


def _settings(words: Sequence[str]) -> Iterator[Hit]:
    for setting in CATALOGUE.values():
        if _has(f"{setting.name} {setting.help}".lower(), words):
            yield Hit(settings_url(setting), setting.name, setting.help)


def _release(snapshot: Snapshot, text: str) -> list[Hit]:
    word = text.lower().removeprefix("release").strip()
    if not (word.isascii() and word.isdecimal() and 0 < int(word[:18]) <= snapshot.config_version):
        return []
    return [Hit(release_url(int(word)), f"Release {int(word)}", "Release of the configuration")]
