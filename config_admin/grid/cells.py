"""Cells of a grid: a row's values as the texts that stand in them, and texts as the values that they mean."""

import json
from functools import cache
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from config_admin.admin.editing.fields import Unread, field_of
from config_admin.releases.content import as_json, kept_columns
from config_admin.transfer.spellings import from_text, word
from config_admin.transfer.values import ValueRefused
from convengine.domain.text import storable
from convengine.domain.unreadable import MARK

Json = Any
YES, NO = "yes", "no"


def text_of(value: Json) -> str:
    """A value as its cell shows it: blank for null, documents on one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return YES if value else NO
    if isinstance(value, dict) and value.keys() == {MARK}:
        return str(value[MARK])
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)


def value_of(table: str, name: str, text: str) -> Json | Unread:
    """What a text means in a column, read as the form reads it; the text itself where it means nothing there."""
    column = kept_columns(table)[name]
    try:
        if storable(text) != text:
            raise ValueRefused("The text has characters that no database takes (NUL, or half of a pair).")
        if isinstance(column, models.BooleanField):
            return from_text(column, text)
        found = _field(table, name).clean(word(column, text))
        return found if isinstance(found, Unread) else as_json(column.to_python(found))
    except (ValueRefused, ValidationError) as problem:
        return _unread(text, problem)


def _unread(text: str, problem: Exception) -> Unread:
    found = Unread(text)
    found.problem = problem if isinstance(problem, ValidationError) else ValidationError(str(problem), "SHAPE_INVALID")
    return found


@cache
def _field(table: str, name: str) -> Any:
    """The field of the form, without what it offers."""
    return field_of(kept_columns(table)[name], None, depends="", code=False)
