"""What a column of a configuration table declares, and the save checks that follow from the declaration.

A column is declared once, in the `model` module of its table: label, help, kind, range and reference. Forms, save
checks, code editors, import and manual derive from that declaration.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

from django.db import models

from config_admin.validation import common, programs
from config_admin.validation.draft import Draft, Finding
from config_admin.validation.relations import UNREADABLE, as_json
from config_admin.validation.stored_columns import kept_columns
from convengine.engine.text.compare import blank, code
from convengine.engine.text.wording import did_you_mean, join_alternatives
from convengine.engine.turn.enums import Vocabulary
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.engine.turn.scope import ANY, UNKNOWN

Field = TypeVar("Field", bound="models.Field[Any, Any]")
TEMPLATE, SQL, REGEX, PATH, JSON = "template", "sql", "regex", "path", "json"


class Reference(StrEnum):
    """The kind of row or code that the value of a column names. Forms offer the existing ones."""

    INTENT = "intent"
    STATE = "state"
    TOOL = "tool"
    TASK = "task"
    METHOD = "method"
    STEP = "step"
    EVENT = "event"
    CONNECTION = "connection"
    COMMAND = "command"
    SETTING_TYPE = "setting type"
    SETTING_KEY = "setting key"
    RULE_ACTION = "rule action"
    ACTION_VALUE = "action value"


class ColumnProblem(NamedTuple):
    """The finding for a value that the declaration refuses. `{value}`, `{words}` and `{hint}` are filled in."""

    code: str
    text: str


class Bounds(NamedTuple):
    """The range of a number."""

    minimum: int
    maximum: int
    problem: ColumnProblem
    is_whole: bool = True


class LanguageByWord(NamedTuple):
    """The language of a code editor, where another column decides it."""

    column: str
    languages: Mapping[str, str]

    def __str__(self) -> str:
        """The value of the HTML attribute that the editor in the browser reads."""
        return f"{self.column}:{','.join(f'{word}={language}' for word, language in self.languages.items())}"


@dataclass(frozen=True)
class NaturalKey:
    """The columns, as in files, that identify a row of a table without its id."""

    columns: tuple[str, ...]
    #: True if no two rows have the same key, so that files need no ids. Of equal keys, rows match in their order.
    is_unique: bool = False
    ignores_case: bool = False


UNKNOWN_WORD = ColumnProblem("CHOICE_UNKNOWN", "Choose {one_of}.{hint}")


@dataclass(frozen=True)
class ColumnSpec:
    """The declaration of a column, in addition to its Django field."""

    #: The words that the column may hold, and what is said of another; None where the table judges that itself.
    vocabulary: type[Vocabulary] | None = None
    unknown: ColumnProblem | None = UNKNOWN_WORD
    #: The attribute of the installation with further words: accepted, but not offered.
    accepted: str = ""
    #: What the value names, and the reserved codes that it may be instead.
    reference: Reference | None = None
    reserved: tuple[str, ...] = ()
    #: What is said of a reserved code that it may not be, or of none.
    refused: ColumnProblem | None = None
    #: The column whose value decides which suggestions fit.
    depends_on: str = ""
    #: What is said of a blank value; None where it may be blank.
    required: ColumnProblem | None = None
    #: What is warned of a blank value.
    recommended: ColumnProblem | None = None
    #: The range of a number.
    bounds: Bounds | None = None
    #: The top level of a JSON document, and what is said of another.
    shape: type | None = None
    misshapen: ColumnProblem | None = None
    #: The language of its code editor.
    language: str | LanguageByWord = ""
    #: True for a text that is no prose, such as a name or a path.
    is_code: bool = False
    #: For a template: whether an unknown name fails the turn; None where the table checks templates itself.
    is_strict: bool | None = None
    #: For the manual, where the form needs no help.
    help: str = ""


_PLAIN = ColumnSpec()


def declare_column(field: Field, **declared: Any) -> Field:
    owner: Any = field
    owner.spec = ColumnSpec(**declared)
    return field


def get_column_spec(field: "models.Field[Any, Any]") -> ColumnSpec:
    spec: ColumnSpec = getattr(field, "spec", _PLAIN)
    return spec


@cache
def list_column_specs(table: str) -> Mapping[str, ColumnSpec]:
    """The declarations of a table's columns, in the order of the model."""
    return {name: get_column_spec(field) for name, field in kept_columns(table).items()}


def check_columns(draft: Draft[Any]) -> Iterator[Finding]:
    """Whether each value is one that its column declares."""
    for name, field in kept_columns(draft.row.table).items():
        spec = get_column_spec(field)
        if spec is not _PLAIN:
            yield from _check_value(draft, name, spec)
        if isinstance(field, models.JSONField):
            yield from programs.check_json_document(draft, name)
            value = as_json(getattr(draft.row, name))
            if spec.shape and spec.misshapen and value not in (None, UNREADABLE) and not isinstance(value, spec.shape):
                yield draft.error(spec.misshapen.code, name, spec.misshapen.text)


def check_references(draft: Draft[Any]) -> Iterator[Finding]:
    """Whether the intents and states that the row names take part in conversations."""
    for name, spec in list_column_specs(draft.row.table).items():
        if spec.reference is Reference.INTENT:
            yield from common.check_intent_enabled(draft)
        elif spec.reference is Reference.STATE:
            yield from common.check_state_known(draft, name)


def check_recommended(draft: Draft[Any]) -> Iterator[Finding]:
    """Whether each recommended value is there."""
    for name, spec in list_column_specs(draft.row.table).items():
        if spec.recommended and blank(getattr(draft.row, name)):
            yield draft.warning(spec.recommended.code, name, spec.recommended.text)


def _check_value(draft: Draft[Any], name: str, spec: ColumnSpec) -> Iterator[Finding]:
    value = getattr(draft.row, name)
    if spec.required and blank(value):
        yield draft.error(spec.required.code, name, spec.required.text)
    if spec.vocabulary and spec.unknown:
        yield from _check_word(draft, name, spec, spec.unknown)
    if spec.reference is Reference.INTENT:
        if spec.refused and code(value) in {"", ANY, UNKNOWN} - set(spec.reserved):
            yield draft.error(spec.refused.code, name, spec.refused.text)
        else:
            yield from common.check_intent(draft)
    elif spec.reference is Reference.STATE:
        yield from common.check_state(draft, name)
    if spec.bounds and not _is_within(value, spec.bounds):
        yield draft.error(spec.bounds.problem.code, name, spec.bounds.problem.text)
    yield from _check_code(draft, name, spec)


def _check_word(draft: Draft[Any], name: str, spec: ColumnSpec, unknown: ColumnProblem) -> Iterator[Finding]:
    words, value = list(spec.vocabulary or ()), getattr(draft.row, name)
    word = code(str(value or ""))
    accepted = getattr(draft.world, spec.accepted) if spec.accepted else ()
    if word not in words and word not in accepted:
        # Who typed a word, as in a file, needs the words; who chose nothing reads the labels of the form.
        labels = [f"“{each.label}”" if not word else f"“{each.label}” ({each})" for each in words]
        hint = did_you_mean(str(value), words)
        text = unknown.text.format(value=value, words=", ".join(labels), one_of=join_alternatives(labels), hint=hint)
        yield draft.error(unknown.code, name, text)


def _check_code(draft: Draft[Any], name: str, spec: ColumnSpec) -> Iterator[Finding]:
    language, text = spec.language, getattr(draft.row, name)
    if isinstance(language, LanguageByWord):
        language = language.languages.get(code(str(getattr(draft.row, language.column) or "")), "")
    if language == REGEX:
        yield from programs.check_regex(draft, name, text)
    elif language == PATH:
        yield from programs.check_json_path(draft, name, text)
    elif spec.is_strict is not None:
        yield from programs.check_template(draft, name, text, intent=draft.row.intent_code, strict=spec.is_strict)


def _is_within(value: Any, bounds: Bounds) -> bool:
    kinds = (int,) if bounds.is_whole else (int, float)
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    return is_number and bounds.minimum <= value <= bounds.maximum


_WORDS: Mapping[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}


def check_types(draft: Draft[Any]) -> Iterator[Finding]:
    """Texts, keys and switches; numbers with limits have their own checks, which also handle null."""
    for column, wanted in _list_column_types(draft.row.table).items():
        value = getattr(draft.row, column)
        fits = isinstance(value, wanted) and not (wanted is int and isinstance(value, bool))
        if value is not None and not fits:
            yield draft.error("SHAPE_INVALID", column, f"This must be {_WORDS[wanted]}.")


@cache
def _list_column_types(table: str) -> Mapping[str, type]:
    types = {}
    for column, hint in get_type_hints(ROW_TYPE_OF[table]).items():
        for wanted in _WORDS:
            if hint in (wanted, wanted | None) and (wanted is not int or column.endswith("id")):
                types[column] = wanted
    return types
