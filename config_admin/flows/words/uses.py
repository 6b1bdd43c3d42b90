"""Every use of a word: in the rows of a configuration, and in tests."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from django.urls import reverse

from config_admin.editing.links import row_url
from config_admin.editing.usages import link_of
from config_admin.flows.words.matching import SoughtWord, Span
from config_admin.flows.words.texts import RowText, change_texts, describe_location, list_parts
from config_admin.releases.content import contents
from config_admin.releases.tree import Content
from config_admin.test_cases.models import CeTestCase
from config_admin.validation.secret_columns import COLUMNS
from config_admin.validation.uses import list_row_texts, list_texts
from convengine.engine.rules.conditions.words import describe_condition
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot

#: How much text is shown around an occurrence.
_BEFORE, _AFTER = 60, 90


class Use(NamedTuple):
    """A text with the word."""

    url: str
    name: str
    about: str
    enabled: bool
    #: The part of the row that has it: the name of a column, and of a part inside.
    location: str
    before: str
    match: str
    after: str
    times: int
    #: True if the word may be changed there; else why it is changed by hand.
    is_text: bool
    why: str = ""
    #: The sentences that taking it out would leave with a hole.
    holes: tuple[str, ...] = ()


_WHY_VALUE = "a value or a name"
_WHY_COMPUTED = "a name in {{ }}"
_WHY_TEST = "a test"


def list_uses(snapshot: Snapshot, word: SoughtWord, tables: Collection[str]) -> list[Use]:
    """The texts of these tables with the word: first those in which it may be changed. No query."""
    uses: list[Use] = []
    for row in _list_rows(snapshot, word, tables):
        secret = COLUMNS.get(row.table, ())
        for part in list_parts(row.table, partial(getattr, row)):
            if part.column not in secret and (spans := word.list_spans(part.text)):
                uses += _list_uses_of_part(row, part, word, spans)
    return sorted(uses, key=lambda use: not use.is_text)


def _list_uses_of_part(row: Row, part: RowText, word: SoughtWord, spans: list[Span]) -> Iterator[Use]:
    """The use in words, and the one in names and values."""
    changeable = [span for span in spans if part.is_text and not span.is_computed and span.start >= part.fixed]
    if changeable:
        yield _describe_use(row, part, changeable, is_text=True)._replace(holes=_list_holes(part, word))
    if others := [span for span in spans if span not in changeable]:
        why = _WHY_COMPUTED if part.is_text and others[0].is_computed else _WHY_VALUE
        is_condition = isinstance(row, rows.Rule) and part.column == "match_pattern"
        # A condition as a sentence, if the word is in it.
        sentence = describe_condition(part.text) if is_condition else None
        if sentence and (spans_of_sentence := word.list_spans(sentence)):
            part, others = part._replace(text=sentence), spans_of_sentence
        yield _describe_use(row, part, others, is_text=False)._replace(why=why)


def _list_holes(part: RowText, word: SoughtWord) -> tuple[str, ...]:
    is_dropped = part.is_entry and word.is_whole(part.text)
    return () if is_dropped else tuple(word.list_holes(part.text[part.fixed :]))


def _list_rows(snapshot: Snapshot, word: SoughtWord, tables: Collection[str]) -> Iterator[Row]:
    first = word.folded.split()[0]
    for row_type in rows.ROW_TYPES:
        if row_type.table in tables:
            yield from (row for row, _, folded in list_row_texts(snapshot, row_type) if first in folded)


def _describe_use(row: Row, part: RowText, spans: list[Span], *, is_text: bool) -> Use:
    """A use with the words around its first span."""
    link = link_of(row)
    start, end = spans[0][:2]
    return Use(
        row_url(row.table, row.pk),
        link.name,
        link.about,
        link.enabled,
        describe_location(row.table, part, partial(getattr, row)),
        f"{'…' if start > _BEFORE else ''}{part.text[max(0, start - _BEFORE) : start]}",
        part.text[start:end],
        f"{part.text[end : end + _AFTER]}{'…' if end + _AFTER < len(part.text) else ''}",
        len(spans),
        is_text,
    )


def list_uses_in_tests(word: SoughtWord) -> list[Use]:
    """The tests with the word in their messages or expectations. One query."""
    stored = CeTestCase.objects.filter(erased_at=None).order_by("title", "pk")
    uses = []
    for pk, title, document in stored.values_list("pk", "title", "document").iterator(chunk_size=500):
        texts = [text for text in list_texts(document) if word.list_spans(text)]
        if texts:
            (start, end, _), text = word.list_spans(texts[0])[0], texts[0]
            url = reverse("admin:config_admin_cetestcase_change", args=[pk])
            excerpt = text[max(0, start - _BEFORE) : start], text[start:end], text[end : end + _AFTER]
            uses.append(Use(url, title, "test", True, "turn", *excerpt, len(texts), False, _WHY_TEST))
    return uses


# --- changes ------------------------------------------------------------------------------------------------------

#: The rows to store, by table and key.
Changed = Mapping[str, Mapping[Any, Content]]


def plan_replacement(snapshot: Snapshot, word: SoughtWord, new: str, tables: Collection[str]) -> Changed:
    """The rows with another word in all texts. One query for each table with the word."""
    return _plan_change(snapshot, word, tables, lambda _, text: word.replace(text, new))


def plan_removal(snapshot: Snapshot, word: SoughtWord, tables: Collection[str]) -> Changed:
    """The rows without the word, where taking it out leaves no hole. One query for each table with the word."""
    return _plan_change(
        snapshot,
        word,
        tables,
        lambda part, text: None if part.is_entry and word.is_whole(text) else word.take_out(text),
    )


def _plan_change(
    snapshot: Snapshot, word: SoughtWord, tables: Collection[str], change: Callable[[RowText, str], str | None]
) -> Changed:
    """The changed rows by table. `change` gives the new text of a part; None removes the entry."""
    by_table: dict[str, list[Any]] = {}
    for row in _list_rows(snapshot, word, tables):
        by_table.setdefault(row.table, []).append(row.pk)
    wanted: dict[str, dict[Any, Content]] = {}
    for table, pks in by_table.items():
        for pk, content in contents(table, pks).items():
            changed = change_texts(table, content, change)
            if changed != content:
                wanted.setdefault(table, {})[pk] = changed
    return wanted
