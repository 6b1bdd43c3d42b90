"""The input of a setting: a choice, a number with limits, or a text."""

from typing import Any

from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from config_admin.editing.countries import DIFFERENT, list_countries
from config_admin.editing.fields import FormOption, PlainTextField, WordSelect
from config_admin.validation.settings import describe_setting
from convengine.engine.turn.live_settings import FALSE_WORDS, TRUE_WORDS, Setting
from convengine.engine.understanding.language import MANY_COUNTRIES

_CODE = {"class": "ce-code ce-area", "spellcheck": "false"}
#: Kinds with several lines, and the attributes of their text area.
_AREAS: dict[str, dict[str, Any]] = {
    "prompt": {"class": "ce-area", "rows": 8},
    "template": {"class": "ce-area", "rows": 3},
    "text": {"class": "ce-area", "rows": 3},
    "json": {**_CODE, "rows": 8},
    "regex": {**_CODE, "rows": 3},
    "patterns": {**_CODE, "rows": 4},
    "lines": {**_CODE, "rows": 4},
    "list": {**_CODE, "rows": 2},
    "codes": {**_CODE, "rows": 2},
}


def value_field(setting: Setting[Any]) -> PlainTextField:
    """The form field of a setting's value, without validation: the save checks do that."""
    kind, widget = setting.kind, UnfoldAdminTextInputWidget()
    if offered := ("true", "false") if kind.name == "bool" else kind.values:
        widget = WordSelect([FormOption(word, word) for word in offered], blank=None)
    elif kind.name == "country":
        named = {MANY_COUNTRIES: DIFFERENT, **list_countries()}
        widget = WordSelect(
            [FormOption(code, name) for code, name in named.items()], blank="As the language and region"
        )
    elif kind.name in ("int", "decimal"):
        step = {"step": "any"} if kind.name == "decimal" else {}
        bounds = {"min": kind.minimum, "max": kind.maximum}
        widget = UnfoldAdminIntegerFieldWidget({"class": "ce-number", **step, **bounds})
    elif area := _AREAS.get(kind.name):
        widget = UnfoldAdminTextareaWidget(area)
    return PlainTextField(label="Value", required=False, widget=widget, help_text=describe_setting(setting))


def to_choice(setting: Setting[Any], text: str) -> str:
    """A stored text in the spelling of its input: `yes` is the choice true. Other texts stay unchanged."""
    word = text.strip().lower()
    if setting.kind.name == "bool" and word in TRUE_WORDS | FALSE_WORDS:
        return "true" if word in TRUE_WORDS else "false"
    return next((value for value in setting.kind.values if value.lower() == word), text)
