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


_WORDS = {"bool": ("true", "false")}


def value_field(setting: Setting[Any]) -> PlainTextField:
    """The form field of a setting's value, without validation: the save checks do that."""
    return PlainTextField(
        label="Value", required=False, widget=_make_widget(setting), help_text=describe_setting(setting)
    )


def _make_widget(setting: Setting[Any]) -> Any:
    """The widget for the value of a setting, by the kind of the setting."""
    kind = setting.kind
    if offered := kind.values or _WORDS.get(kind.name):
        return WordSelect([FormOption(word, word) for word in offered], blank=None)
    if kind.name == "country":
        named = {MANY_COUNTRIES: DIFFERENT, **list_countries()}
        return WordSelect([FormOption(code, name) for code, name in named.items()], blank="As the language and region")
    if kind.name in ("int", "decimal"):
        step = {"step": "any"} if kind.name == "decimal" else {}
        bounds = {"min": kind.minimum, "max": kind.maximum}
        return UnfoldAdminIntegerFieldWidget({"class": "ce-number", **step, **bounds})
    if area := _AREAS.get(kind.name):
        return UnfoldAdminTextareaWidget(area)
    return UnfoldAdminTextInputWidget()


def to_choice(setting: Setting[Any], text: str) -> str:
    """A stored text in the spelling of its input: `yes` is the choice true. Other texts stay unchanged."""
    word = text.strip().lower()
    if setting.kind.name == "bool" and word in TRUE_WORDS | FALSE_WORDS:
        return "true" if word in TRUE_WORDS else "false"
    return next((value for value in setting.kind.values if value.lower() == word), text)
