"""What people call a configuration row: its description, else what it says or does, in a few words."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from convengine.engine.rules.pattern_examples import describe_examples
from convengine.engine.rules.sentence import describe_rule, describe_scope
from convengine.engine.text.compare import blank, code, shorten_line
from convengine.engine.text.several_texts import split_texts
from convengine.engine.turn import rows
from convengine.engine.turn.enums import (
    ClassifierType,
    GuardrailType,
    PolicyType,
    PromptUse,
    RuleType,
    ToolGroup,
    Vocabulary,
)
from convengine.engine.turn.labels import code_label
from convengine.engine.turn.live_settings import CATALOGUE, canonical_key

LONGEST = 80
_STATEMENTS = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)


def name_row(table: str, row: Any) -> str:
    """The name of a row, which has its table's columns as attributes, on one line; blank for a row without content."""
    text = getattr(row, "description", None)
    if table not in _OWN_NAMES or blank(text):
        text = _NAMES[table](row)
    return shorten_line(text, LONGEST)


def quote_name(name: str) -> str:
    """A name in quotation marks; one that consists of quoted texts has them already."""
    if name.startswith("“") and name.endswith(("”", "…")):
        return name
    return f"“{name.replace('“', '‘').replace('”', '’')}”"


def _name_pattern(kinds: type[Vocabulary], row: Any) -> str:
    """Examples of a regular expression, else its type and the pattern; blank without a pattern."""
    if blank(row.pattern):
        return ""
    text = describe_examples(row.pattern) if code(row.rule_type) == RuleType.REGEX else ""
    return text or f"{_label(kinds, row.rule_type)}: {row.pattern}"


def _name_form(row: Any) -> str:
    fields = row.json_schema.get("properties") if isinstance(row.json_schema, Mapping) else None
    return f"Fields {', '.join(map(str, fields))}" if isinstance(fields, Mapping) and fields else _scope(row)


def _name_prompt(row: Any) -> str:
    return f"{_label(PromptUse, row.response_type)}{_scope(row)}"


def _name_setting(row: Any) -> str:
    """The label of a setting and its value; the key for a setting that is not in the catalogue."""
    setting = CATALOGUE.get(canonical_key(row.config_type, row.config_key)[:2])
    qualifier = (row.config_key or "").partition(".")[2]
    name = f"{setting.label}{f' for {qualifier}' if qualifier else ''}" if setting else row.config_key
    return f"{name} = {row.config_value}"


def strip_statements(template: str | None) -> str:
    """The first text of a template without its statements, so that a name starts with what users read."""
    text = split_texts(template or "")[0]
    return _STATEMENTS.sub(" ", text).strip() or text


def _label(words: type[Vocabulary], value: Any) -> str:
    known = words.read(value)
    return known.label if known else str(value or "")


def _scope(row: Any) -> str:
    return describe_scope(code(row.intent_code), code(row.state_code))


#: Tables whose rows are called by a description, if they have one; others have a name.
_OWN_NAMES = frozenset(
    each.table
    for each in (
        *(rows.Classifier, rows.Rule, rows.StateEdge, rows.Policy, rows.OutputSchema, rows.Response),
        *(rows.PendingAction, rows.DirectTool, rows.SqlGuardrail),
    )
)
_NAMES: Mapping[str, Callable[[Any], str]] = {
    rows.Intent.table: lambda row: row.display_name or row.description,
    rows.Classifier.table: lambda row: _name_pattern(ClassifierType, row),
    rows.Rule.table: describe_rule,
    rows.StateEdge.table: lambda row: f"From {code_label(row.from_state)} to {code_label(row.to_state)}",
    rows.Policy.table: lambda row: _name_pattern(PolicyType, row),
    rows.OutputSchema.table: _name_form,
    rows.PromptTemplate.table: _name_prompt,
    rows.Response.table: lambda row: strip_statements(row.exact_text or row.derivation_hint),
    rows.AnswerDocument.table: lambda row: row.title,
    rows.ContainerConfig.table: lambda row: row.input_param_name,
    rows.PendingAction.table: lambda row: row.action_key,
    rows.Tool.table: lambda row: row.tool_code,
    rows.DirectTool.table: lambda row: row.tool_code or _label(ToolGroup, row.tool_group),
    rows.DbTool.table: lambda row: row.sql_template,
    # A name has no query, which may hold a secret.
    rows.HttpTool.table: lambda row: f"{row.method} {row.connection_name}{row.url_template.partition('?')[0]}",
    rows.Planner.table: lambda row: f"Planner prompt{_scope(row)}",
    rows.SqlGuardrail.table: lambda row: f"{_label(GuardrailType, row.rule_type)}: {row.match_value}",
    rows.McpServer.table: lambda row: row.name,
    rows.Config.table: _name_setting,
    rows.Verbose.table: lambda row: strip_statements(row.message or row.error_message),
}
