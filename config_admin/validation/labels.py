"""What tables, columns and rows are called on pages and in findings."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from django.utils.text import capfirst

from config_admin.validation.relations import sort_properties
from config_admin.validation.stored_columns import control_plane
from convengine.engine.rules.row_names import name_row, strip_statements
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.text.compare import shorten, shorten_line
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType, PromptUse
from convengine.engine.turn.rows import Row

#: The length of a rule's sentence; its page shows all of it.
_LONGEST_SENTENCE = 240


def table_label(table: str) -> str:
    """The name of a row of a table."""
    return str(control_plane()[table]._meta.verbose_name)


def table_title(table: str) -> str:
    """The plural name of a table's rows."""
    return capfirst(str(control_plane()[table]._meta.verbose_name_plural))


def column_label(table: str, field: str) -> str:
    columns = {column.attname: column for column in control_plane()[table]._meta.concrete_fields}
    return str(columns[field].verbose_name) if field in columns else field


def row_name(table: str, pk: Any) -> str:
    """The name of a row in a link, such as `Rule 41`."""
    name = table_label(table)
    return f"{name[:1].upper()}{name[1:]} {pk}"


def row_title(row: Row) -> str:
    """The name of a row with what distinguishes it, such as `Rule 41 · too late to cancel`."""
    about = name_row(row.table, row)
    return row_name(row.table, row.pk) + (f" · {about}" if about else "")


def describe_content(table: str, content: Mapping[str, Any]) -> str:
    """The name of a row by its columns; blank for columns of an older table."""
    try:
        return name_row(table, SimpleNamespace(**content))
    except AttributeError:
        return ""


def describe_row(row: Any) -> tuple[str, str]:
    """The text of a row, and its kind."""
    return _DESCRIBERS[type(row)](row)


def _describe_classifier(row: rows.Classifier) -> tuple[str, str]:
    kind = ClassifierType.read(row.rule_type)
    label, pattern = kind.label if kind else str(row.rule_type), shorten_line(row.pattern, 160)
    if not row.description or row.description == row.pattern:
        return pattern, label
    return row.description, f"{label}: {pattern}"


def _describe_response(row: rows.Response) -> tuple[str, str]:
    text = shorten_line(strip_statements(row.exact_text or row.derivation_hint), 160)
    return text, "" if row.exact_text else "written by a model"


def _describe_prompt(row: rows.PromptTemplate) -> tuple[str, str]:
    use = PromptUse.read(row.response_type)
    kinds = [use and use.label, row.interaction_mode]
    return shorten_line(row.user_prompt, 120), " · ".join(filter(None, kinds))


#: How the rows of each table are described.
_DESCRIBERS: Mapping[type, Callable[[Any], tuple[str, str]]] = {
    rows.Intent: lambda row: (row.name, row.description),
    rows.Rule: lambda row: (shorten(describe_rule(row), _LONGEST_SENTENCE), row.description or ""),
    rows.Classifier: _describe_classifier,
    rows.OutputSchema: lambda row: (_list_field_names(row), row.description or ""),
    rows.ContainerConfig: lambda row: (row.input_param_name, f"{row.page_id} / {row.section_id} / {row.container_id}"),
    rows.Response: _describe_response,
    rows.PromptTemplate: _describe_prompt,
    rows.PendingAction: lambda row: (f"{row.action_key}: {row.bean_name} ({row.method_names})", row.description or ""),
    rows.DirectTool: lambda row: (row.tool_code or f"group {row.tool_group}", row.description or ""),
    rows.Tool: lambda row: (row.tool_code, shorten_line(row.description, 120)),
    rows.Planner: lambda row: (shorten_line(row.user_prompt, 120), ""),
    rows.McpServer: lambda row: (row.name, row.transport),
    rows.StateEdge: lambda row: (f"{row.from_state} → {row.to_state}", row.description or ""),
    rows.Verbose: lambda row: (
        shorten_line(row.message or row.error_message, 120),
        f"{row.determinant} of {row.step_value}",
    ),
}


def _list_field_names(row: rows.OutputSchema) -> str:
    required = row.json_schema.get("required") if isinstance(row.json_schema, Mapping) else ()
    needed = required if isinstance(required, list) else ()
    return ", ".join(f"{name}*" if name in needed else name for name in sort_properties(row.json_schema))
