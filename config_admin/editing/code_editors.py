"""Which text areas are code editors, their language, and the names that they suggest."""

from typing import Any

from config_admin.editing.context import EditorContext
from config_admin.editing.pickers import list_form_field_options, params
from config_admin.validation.columns import get_column_spec
from convengine.engine.prompts.variables import list_known_names
from convengine.engine.turn.facts import RESERVED_FACTS


def language_of(column: Any) -> str:
    """The language of a column that is edited as code; blank for other columns. JSON columns are JSON.

    Where another field decides it: `field:VALUE=language,…`.
    """
    return "json" if column.get_internal_type() == "JSONField" else str(get_column_spec(column).language)


def names(editor: EditorContext) -> dict[str, list[str]]:
    """The suggested names: facts at the top, context fields, input params, template names."""
    fields = [option.value for option in list_form_field_options(editor)]
    return {
        "facts": sorted({*RESERVED_FACTS, *fields}),
        "context": fields,
        "params": [option.value for option in params(editor)],
        "template": sorted({*list_known_names(), *RESERVED_FACTS, *fields}),
    }
