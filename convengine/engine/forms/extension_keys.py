"""The `x-…` keys of a form's JSON Schema, each with the JSON Schema of its value: what editors and the manual know."""

from collections.abc import Mapping

from convengine.engine.forms.life import ClearCause, OnLeave, OnNo
from convengine.engine.understanding.field import BUILT_IN_KINDS
from convengine.json_value import Json

_TEXT: Mapping[str, Json] = {"type": "string"}
_FLAG: Mapping[str, Json] = {"type": "boolean"}
_TEXTS: Mapping[str, Json] = {"type": ["string", "array"], "items": _TEXT}
_BOUND: Mapping[str, Json] = {"type": ["string", "number"]}
_OPTION: Mapping[str, Json] = {
    "type": "object",
    "required": ["value"],
    "properties": {
        "value": {"description": "The stored value."},
        "label": {**_TEXT, "description": "The text that users read."},
        "synonyms": {"type": "array", "items": _TEXT},
    },
}
_SOURCE: Mapping[str, Json] = {
    "type": "object",
    "required": ["path"],
    "dependentRequired": {"label": ["value"], "synonyms": ["value"]},
    "properties": {
        "path": {**_TEXT, "description": "The JSON path of a list, for example $.container_data.accounts."},
        "value": {**_TEXT, "description": "The key of the stored value. Without it, the entries are the values."},
        "label": {**_TEXT, "description": "The key of the text that users read."},
        "synonyms": {**_TEXT, "description": "The key of other words: a text or a list."},
    },
}


def _describe(schema: Mapping[str, Json], description: str) -> dict[str, Json]:
    return {**schema, "description": description}


def _one_of(*values: str) -> dict[str, Json]:
    return {"enum": list(values)}


#: Keys of the schema itself.
FORM_KEYS: Mapping[str, Json] = {
    "x-ask-mode": _describe(_one_of("ONE", "ALL"), "Whether the form asks for one field at a time, or for all."),
    "x-clear": _describe(
        {"type": "array", "items": _one_of(*ClearCause), "uniqueItems": True},
        "When the fields leave the context. Without it they never do.",
    ),
    "x-on-no": _describe(_one_of(*OnNo), "What a no to the confirmation does."),
    "x-on-leave": _describe(_one_of(*OnLeave), "What happens when the user wants to leave the form."),
    "x-resume": _describe(_FLAG, "After another form that interrupted it, the bot goes back to the form."),
    "x-max-misses": _describe(
        {"type": "integer", "minimum": 1}, "How many answers may fail in a row before the form is given up."
    ),
    "x-spoken": _describe(_FLAG, "Text answers say days, times and options as people do."),
    "x-fillers": _describe(
        {"type": "array", "items": _TEXT, "uniqueItems": True},
        "Words that say nothing in this form, so that they need no question.",
    ),
    "x-locale": _describe(_TEXT, "The language and region in which values are read, for example en-US."),
}
#: Keys of a property.
FIELD_KEYS: Mapping[str, Json] = {
    "x-ask": _describe(_TEXT, "The question. A template."),
    "x-ask-again": _describe(_TEXT, "The question after an answer that was not understood. A template."),
    "x-invalid": _describe(_TEXT, "The text after a refused value. A template with value, reason, options, min, max."),
    "x-done": _describe(_TEXT, "The acknowledgement of a value. A template."),
    "x-order": _describe({"type": "number"}, "The position among the questions of the form."),
    "x-kind": _describe(
        {"anyOf": [_one_of(*sorted(BUILT_IN_KINDS)), _TEXT]},
        "How a value is read, or a kind that the deployment registered. Default: by format, type and options.",
    ),
    "x-options": _describe({"type": "array", "items": _OPTION}, "The choices, with labels and synonyms."),
    "x-options-from": _describe(_SOURCE, "The data that have the choices, instead of x-options."),
    "x-synonyms": _describe(
        {"type": "object", "additionalProperties": _TEXTS}, "Other words for each value of enum or const."
    ),
    "x-labels": _describe(_TEXTS, "Other names of the field that people use."),
    "x-extract": _describe(_TEXTS, "Regular expressions that find the value in a message."),
    "x-min": _describe(_BOUND, "The smallest value, for example today, today+90d, 08:00 or 1."),
    "x-max": _describe(_BOUND, "The largest value."),
    "x-after": _describe(_TEXT, "A date field of the form. An earlier day than its day is refused."),
    "x-unit": _describe(_TEXT, "What a number counts, for example nights."),
    "x-currency": _describe(_TEXT, "The currency of an amount, for example EUR."),
    "x-country": _describe(_TEXT, "The country of phone numbers and postcodes, for example DE."),
    "x-part": _describe(_one_of("given", "family"), "The part of a person's name that the field takes."),
    "x-long": _describe(_FLAG, "true: a long text, kept as typed, also questions. false: a short one."),
    "x-keep": _describe(_FLAG, "The field stays in the context when the form is cleared."),
}
