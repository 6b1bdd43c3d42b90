"""The texts of a row: where each stands, and whether it is for people, so that a word in it may be changed."""

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from config_admin.releases.tree import Content
from config_admin.validation.settings import get_setting
from config_admin.validation.stored_columns import kept_columns, list_prose_columns
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType, OutputFormat, RuleAction
from convengine.engine.turn.live_settings import prompt, template
from convengine.engine.turn.rows import ROW_TYPE_OF
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
_VALUES_OF_FORMS = frozenset({"enum", "const", "default", "examples"})
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
    """A text of a row."""

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
