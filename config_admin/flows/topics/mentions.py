"""Where a row names an intent, and the row with another name in its place."""

import json
import re
from collections.abc import Mapping
from functools import partial

from config_admin.releases.tree import Content
from config_admin.validation.stored_columns import list_prose_columns
from config_admin.validation.uses import list_texts
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.json_value import Json

#: Like columns for people, texts that users write name no intent.
_TEXTS_OF_USERS = frozenset({"pattern", "created_at"})
#: Columns that hold other codes.
_CODES = frozenset({"intent_code", "state_code", "from_state", "to_state", "config_type"})
_TEMPLATE_CODE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
#: What joins the comparisons of an expression.
_JOINTS = re.compile(r"(\|\||&&|\band\b|\bor\b)")
_INTENT = re.compile("intent", re.IGNORECASE)


def replace_intent(table: str, content: Content, old: str, new: str) -> Content:
    """The row with another intent in each place that names the old one for certain.

    These are its scope, `SET_INTENT`, the intents that reset, and comparisons in conditions and templates.
    """
    prose = _TEXTS_OF_USERS | list_prose_columns(table)
    renamed = {name: value if name in prose else _replace_in_value(value, old, new) for name, value in content.items()}
    if _as_code(content.get("intent_code")) == old:
        renamed["intent_code"] = new
    if _as_code(content.get("action")) == "SET_INTENT" and _as_code(content["action_value"]) == old:
        renamed["action_value"] = new
    if table == rows.Config.table:
        stored = _as_code(content["config_type"]), _as_code(content["config_key"])
        is_list = stored == (code(RESET_INTENT_CODES.type), code(RESET_INTENT_CODES.key))
        if is_list and isinstance(content["config_value"], str):
            renamed["config_value"] = _replace_in_list(content["config_value"], old, new)
    return renamed


def replace_intents(table: str, content: Content, names: Mapping[str, str]) -> Content:
    """The row with several intents replaced, as `replace_intent` replaces one."""
    for old, new in names.items():
        content = replace_intent(table, content, old, new)
    return content


def mentions_intent(table: str, content: Content, intent: str) -> bool:
    """True when another text of the row has the code as a word, which may or may not mean the intent."""
    rest = replace_intent(table, content, intent, "")
    skipped = {*_TEXTS_OF_USERS, *list_prose_columns(table), *_CODES}
    if _as_code(content.get("action")) == "SET_STATE":
        skipped.add("action_value")
    word = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(intent)}(?![A-Za-z0-9_])")
    return any(
        word.search(text)
        for name, value in rest.items()
        if name not in skipped
        for text in list_texts(value, with_names=True)
    )


def _as_code(value: Json) -> str:
    """A code; blank for a value that its column cannot hold."""
    return code(value) if isinstance(value, str) else ""


def _replace_in_list(text: str, old: str, new: str) -> str:
    """A list of codes, separated by commas or line breaks."""
    return "".join(new if code(part) == old else part for part in re.split(r"([,\s]+)", text))


def _replace_in_value(value: Json, old: str, new: str) -> Json:
    """A JSON value with the new code in its templates and expressions, and where a condition compares the intent."""
    if isinstance(value, str):
        return _replace_in_text(value, old, new)
    if isinstance(value, Mapping):
        replaced = {name: _replace_in_value(inner, old, new) for name, inner in value.items()}
        if isinstance(field := value.get("field"), str) and _INTENT.search(field) and "value" in value:
            replaced["value"] = _replace_compared(value["value"], old, new)
        return replaced
    if isinstance(value, list):
        return [_replace_in_value(inner, old, new) for inner in value]
    return value


def _replace_compared(value: Json, old: str, new: str) -> Json:
    """The value that a condition compares with an intent."""
    if isinstance(value, list):
        return [_replace_compared(inner, old, new) for inner in value]
    return _replace_in_list(value, old, new) if isinstance(value, str) else value


def _replace_in_text(text: str, old: str, new: str) -> str:
    """A text with the new code: as JSON, as an expression, or in the code of its template."""
    if old.lower() not in text.lower():
        return text
    if text.lstrip()[:1] in ("{", "["):
        try:
            document = read_json(text)
        except Unreadable:
            pass
        else:
            replaced = _replace_in_value(document, old, new)
            return text if replaced == document else json.dumps(replaced, ensure_ascii=False)
    if text.lstrip().startswith("$"):
        return _replace_in_expression(text, old, new)
    return _TEMPLATE_CODE.sub(lambda match: _replace_in_expression(match[0], old, new), text)


def _replace_in_expression(expression: str, old: str, new: str) -> str:
    """Each comparison by itself: `@.intent == 'HELP' && @.userText == 'HELP'` names the intent once."""
    literal = re.compile(rf"(['\"]){re.escape(old)}\1", re.IGNORECASE)
    replace = partial(literal.sub, lambda match: f"{match[1]}{new}{match[1]}")
    return "".join(replace(part) if _INTENT.search(part) else part for part in _JOINTS.split(expression))
