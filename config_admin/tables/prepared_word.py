"""A form with one more word, a synonym of an option or one that says nothing; or with a text that is a long one.

The page of a turn leads here, with the word named by its position in the message, and so does the inbox. Only the
analyst's save stores it.
"""

from copy import deepcopy
from typing import NamedTuple

from django.http import HttpRequest

from config_admin.editing.given_messages import read_given_words
from convengine.json_value import Json


class PreparedWord(NamedTuple):
    """The schema with the word, and what to tell the analyst. Without a schema, why there is none."""

    schema: Json
    message: str


def prepare_word(request: HttpRequest, stored: Json) -> PreparedWord | None:
    """The stored schema with the word or the long text that the address names. Returns None where it names none."""
    if request.GET.get("long") and isinstance(stored, dict):
        return _prepare_long_text(stored, request.GET.get("field", ""))
    word = read_given_words(request)
    if not word or not isinstance(stored, dict):
        return None
    schema = deepcopy(stored)
    path, option = request.GET.get("field", ""), request.GET.get("option", "")
    if not path:
        schema = {"x-fillers": [], **schema}  # In front, where the analyst sees it.
        _add(schema, "x-fillers", word)
        return PreparedWord(schema, f"“{word}” is filled in as a small word of this form. Save to apply it.")
    label = _add_synonym(_find_property(schema, path), option, word)
    if not label:
        return PreparedWord(None, f"The form has no option “{option}” in the field {path} now. Add the word by hand.")
    return PreparedWord(schema, f"“{word}” is filled in as a synonym of “{label}”. Save to apply it.")


def _prepare_long_text(stored: Json, path: str) -> PreparedWord:
    """The schema with a field as a long text (`x-long`)."""
    schema = deepcopy(stored)
    declared = _find_property(schema, path)
    if not declared:
        return PreparedWord(None, f"The form has no field {path} now.")
    declared["x-long"] = True
    title = declared.get("title") or path
    return PreparedWord(schema, f"“{title}” is filled in as a long text, which is kept as typed. Save to apply it.")


def _find_property(schema: Json, path: str) -> dict[str, Json]:
    """The property of a dotted path; empty for none."""
    for name in path.split("."):
        properties = schema.get("properties")
        schema = properties.get(name) if isinstance(properties, dict) else None
        if not isinstance(schema, dict):
            return {}
    declared: dict[str, Json] = schema
    return declared


def _add_synonym(declared: dict[str, Json], option: str, word: str) -> str:
    """Add a synonym to the option with this value; returns its label, blank for none."""
    for item in declared.get("x-options") or ():
        own = item.get("value", item.get("label")) if isinstance(item, dict) else item
        if str(own) == option and isinstance(item, dict):
            _add(item, "synonyms", word)
            return str(item.get("label") or own)
    values = declared.get("enum") or ([declared["const"]] if "const" in declared else [])
    if "x-options" in declared or option not in map(str, values):
        return ""
    _add(declared.setdefault("x-synonyms", {}), option, word)
    return option


def _add(container: dict[str, Json], key: str, word: str) -> None:
    listed = container.get(key) or []
    words = listed if isinstance(listed, list) else [listed]
    container[key] = [*words, *([] if word in words else [word])]
