"""Convert a row's values to the texts of cells, and texts to values."""

import json
from functools import cache
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from config_admin.editing.fields import Unread, field_of
from config_admin.releases.content import as_json
from config_admin.transfer.values import ValueRefused, normalise_word, parse_text
from config_admin.validation.stored_columns import kept_columns
from convengine.engine.text.compare import storable
from convengine.engine.turn.fault import MARK
from convengine.json_value import Json

YES, NO = "yes", "no"


def text_of(value: Json) -> str:
    """A value as cell text: blank for null, documents on one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return YES if value else NO
    if isinstance(value, dict) and value.keys() == {MARK}:
        return str(value[MARK])
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)


def value_of(table: str, name: str, text: str) -> Json | Unread:
    """The value of a text in a column, read as the form reads it; the text itself if it is invalid."""
    column = kept_columns(table)[name]
    try:
        if storable(text) != text:
            raise ValueRefused(
                "The text contains characters that cannot be stored (NUL or half of a surrogate pair). Remove them."
            )
        if isinstance(column, models.BooleanField):
            return parse_text(column, text)
        value = _field(table, name).clean(normalise_word(column, text))
        return value if isinstance(value, Unread) else as_json(column.to_python(value))
    except (ValueRefused, ValidationError) as problem:
        return _unread(text, problem)


def _unread(text: str, problem: Exception) -> Unread:
    unread = Unread(text)
    unread.problem = problem if isinstance(problem, ValidationError) else ValidationError(str(problem), "SHAPE_INVALID")
    return unread


@cache
def _field(table: str, name: str) -> Any:
    """The form field without options."""
    return field_of(kept_columns(table)[name], None, depends="", code=False)
