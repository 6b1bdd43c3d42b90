"""Every use of a word: in the texts of a configuration's rows, which are for people or are not, and in tests."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

from django.urls import reverse

from config_admin.editing.links import row_url
from config_admin.editing.usages import link_of
from config_admin.flows.words.matching import SoughtWord, WordOccurrence
from config_admin.releases.content import contents
from config_admin.releases.tree import Content
from config_admin.test_cases.models import CeTestCase
from config_admin.validation.secret_columns import COLUMNS
from config_admin.validation.settings import get_setting
from config_admin.validation.stored_columns import kept_columns, list_prose_columns
from config_admin.validation.uses import list_row_texts, list_texts
from convengine.engine.rules.conditions.words import describe_condition
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType, OutputFormat, RuleAction
from convengine.engine.turn.field_options import OPTIONS_FROM
from convengine.engine.turn.live_settings import prompt, template
from convengine.engine.turn.rows import ROW_TYPE_OF, Row
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

#: Reads a column of a row or of its content.
Read = Callable[[str], Any]
#: A path within a document; empty for a column that is a text.
Path = tuple[str | int, ...]

#: Columns whose texts users, customers or models read, beside the notes of each table.
_TEXTS: Mapping[str, tuple[str, ...]] = {
    rows.Intent.table: ("display_name", "description"),
    rows.Policy.table: ("response_text",),
    rows.PromptTemplate.table: ("system_prompt", "user_prompt"),
    rows.Planner.table: ("system_prompt", "user_prompt"),
    rows.Response.table: ("derivation_hint",),
    rows.Verbose.table: ("message", "error_message"),
    rows.Tool.table: ("description",),
}
#: Texts in the schema of a form, by their key, and the keys above lists and objects of texts.
_TEXTS_OF_FORMS = frozenset(
    {"title", "description", "x-ask", "x-ask-again", "x-invalid", "x-done", "x-unit", "label", "x-labels"}
)
_LISTS_OF_WORDS = frozenset({"synonyms", "x-synonyms"})
_LISTS_OF_TEXTS = _LISTS_OF_WORDS | {"x-labels"}
#: Below these, a form has values.
_VALUES_OF_FORMS = frozenset({"enum", "const", "default", "examples", OPTIONS_FROM})
#: How the parts of a form are called.
_LABELS = {
    "title": "name",
    "description": "description",
    "x-ask": "question",
    "x-ask-again": "question, asked again",
    "x-invalid": "text after a refused value",
    "x-done": "text after a value",
    "x-unit": "unit",
    "label": "label of a choice",
    "synonyms": "other words of a choice",
    "x-synonyms": "other words of a choice",
    "x-labels": "label of a choice",
    "value": "value of a choice",
    "enum": "value of a choice",
    "x-options": "value of a choice",
    "x-min": "limit",
    "x-max": "limit",
    "formatMinimum": "limit",
    "formatMaximum": "limit",
    "pattern": "pattern",
    "x-after": "earlier date",
    "required": "required field",
}
_FIELD_BEFORE_TEXT = re.compile(r"^[^:]*:")
_KINDS_OF_TEXTS = frozenset({prompt().name, template().name})


class RowText(NamedTuple):
    column: str
    path: Path
    text: str
    #: True for a text in which a word may be changed.
    is_text: bool
    #: How many of its first characters name something.
    fixed: int = 0

    @property
    def is_entry(self) -> bool:
        """True for one of the other words of a choice: the list goes on without it."""
        return (
            len(self.path) > 1 and isinstance(self.path[-1], int) and not _LISTS_OF_WORDS.isdisjoint(self.path[-3:-1])
        )


def list_parts(table: str, read: Read) -> Iterator[RowText]:
    """All texts of a row, and the keys of its documents."""
    for column in kept_columns(table):
        value = read(column) if column in rows.columns(ROW_TYPE_OF[table]) else None
        if isinstance(value, str):
            yield _describe_column(table, column, value, read)
        elif isinstance(value, (Mapping, list, tuple)):
            is_form = (table, column) == (rows.OutputSchema.table, "json_schema")
            yield from _list_parts_of_value(column, (), value, is_form=is_form)


def _describe_column(table: str, column: str, text: str, read: Read) -> RowText:
    """A text column as a part. `read` gives other columns of the row, which say if users see the text."""
    if table == rows.Rule.table and column == "action_value":
        action = code(read("action"))
        fixed = match.end() if (match := _FIELD_BEFORE_TEXT.match(text)) else 0
        is_refusal = action == RuleAction.REFUSE_VALUE
        is_text = is_refusal or action == RuleAction.SET_RESPONSE_HINT
        return RowText(column, (), text, is_text, fixed if is_refusal else 0)
    return RowText(column, (), text, column in list_prose_columns(table) or _is_text(table, column, read))


def _is_text(table: str, column: str, read: Read) -> bool:
    """True for a column whose text may be changed; of some columns another one decides that."""
    match table, column:
        case rows.Response.table, "exact_text":
            return code(read("output_format")) != OutputFormat.JSON
        case rows.Classifier.table, "pattern":
            return code(read("rule_type")) == ClassifierType.PHRASE
        case rows.Config.table, "config_value":
            setting = get_setting(read("config_type"), read("config_key"))
            return setting is not None and setting.kind.name in _KINDS_OF_TEXTS
    return column in _TEXTS.get(table, ())


def _list_parts_of_value(column: str, path: Path, value: Json, *, is_form: bool) -> Iterator[RowText]:
    """The texts inside a JSON value, and the names of its keys. Only texts of a form are texts for users.

    `is_form`: the value is a form, or part of one: of its keys only the names of properties count.
    """
    if isinstance(value, str):
        is_value = not _VALUES_OF_FORMS.isdisjoint(path)
        is_text = path[-1] in _TEXTS_OF_FORMS or not _LISTS_OF_TEXTS.isdisjoint(path[-3:-1])
        yield RowText(column, path, value, is_form and is_text and not is_value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if not is_form or path[-1:] == ("properties",):
                yield RowText(column, (*path, name), name, is_text=False)
            yield from _list_parts_of_value(column, (*path, name), inner, is_form=is_form)
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _list_parts_of_value(column, (*path, index), inner, is_form=is_form)


def describe_location(table: str, part: RowText, read: Read) -> str:
    """Where a text stands, in words: “text”, “question of Number of guests”."""
    names = [name for name in part.path if isinstance(name, str)]
    # The innermost known key counts; a key itself is a name.
    label = next((_LABELS[name] for name in reversed(names) if name in _LABELS), "")
    if names[-2:] == ["properties", part.text]:
        label = "name of a field"
    owner = _find_title(read(part.column), part.path)
    return f"{label or kept_columns(table)[part.column].verbose_name}{f' of {owner}' if owner else ''}"


def _find_title(document: Any, path: Path) -> str:
    """The title of the innermost field of a form on the path."""
    title, above = "", None
    for name in path:
        document = document[name]
        if above == "properties":
            title = str(document.get("title") or name) if isinstance(document, Mapping) else str(name)
        above = name
    return title


def change_texts(table: str, content: Content, change: Callable[[RowText, str], str | None]) -> Content:
    """Change each text of a row. `change` gets it without the name before it; None drops the entry."""
    changed: dict[str, Json] = {**content}
    for part in list_parts(table, content.get):
        if not part.is_text:
            continue
        text = part.text[part.fixed :]
        if (new := change(part, text)) == text:
            continue
        if not part.path:
            changed[part.column] = part.text[: part.fixed] + str(new)
            continue
        if changed[part.column] is content[part.column]:
            changed[part.column] = deepcopy(content[part.column])
        document: Any = changed[part.column]
        for name in part.path[:-1]:
            document = document[name]
        document[part.path[-1]] = _REMOVED if new is None else new
    return {column: _drop_removed(value) for column, value in changed.items()}


#: Takes the place of an entry until all are changed, so that the others keep their index.
_REMOVED = object()


def _drop_removed(value: Any) -> Any:
    """The value without the entries that were removed from its lists."""
    if isinstance(value, dict):
        return {name: _drop_removed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_drop_removed(inner) for inner in value if inner is not _REMOVED]
    return value


#: How much text is shown around an occurrence.
_BEFORE, _AFTER = 60, 90


class WordUse(NamedTuple):
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


def list_uses(snapshot: Snapshot, word: SoughtWord, tables: Collection[str]) -> list[WordUse]:
    """The texts of these tables with the word: first those in which it may be changed. No query."""
    uses: list[WordUse] = []
    for row in _list_rows(snapshot, word, tables):
        secret = COLUMNS.get(row.table, ())
        for part in list_parts(row.table, partial(getattr, row)):
            if part.column not in secret and (spans := word.list_spans(part.text)):
                uses += _list_uses_of_part(row, part, word, spans)
    return sorted(uses, key=lambda use: not use.is_text)


def _list_uses_of_part(row: Row, part: RowText, word: SoughtWord, spans: list[WordOccurrence]) -> Iterator[WordUse]:
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


def _describe_use(row: Row, part: RowText, spans: list[WordOccurrence], *, is_text: bool) -> WordUse:
    """A use with the words around its first span."""
    link = link_of(row)
    start, end = spans[0][:2]
    return WordUse(
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


def list_uses_in_tests(word: SoughtWord) -> list[WordUse]:
    """The tests with the word in their messages or expectations. One query."""
    stored = CeTestCase.objects.filter(erased_at=None).order_by("title", "pk")
    uses = []
    for pk, title, document in stored.values_list("pk", "title", "document").iterator(chunk_size=500):
        texts = [text for text in list_texts(document) if word.list_spans(text)]
        if texts:
            (start, end, _), text = word.list_spans(texts[0])[0], texts[0]
            url = reverse("admin:config_admin_cetestcase_change", args=[pk])
            excerpt = text[max(0, start - _BEFORE) : start], text[start:end], text[end : end + _AFTER]
            uses.append(WordUse(url, title, "test", True, "turn", *excerpt, len(texts), False, _WHY_TEST))
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
