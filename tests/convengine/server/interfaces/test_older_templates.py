from typing import Any

import pytest

from config_admin.validation.columns import TEMPLATE, get_column_spec
from config_admin.validation.stored_columns import kept_columns
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.server.interfaces.older_templates import COLUMNS, ConvertedExpression, convert_row, template_columns
from tests.builders import make_config, make_response


def test_each_expression_is_told_with_its_column() -> None:
    row = make_response("Hi [(${name})], #{a ?: b}", derivation_hint="{{ fine }} [${x}]")

    values, changes = convert_row("ce_response", vars(row))

    assert values == {"exact_text": "Hi {{ name }}, {{ a|if_blank(b) }}", "derivation_hint": "{{ fine }} {{ x }}"}
    assert changes == [
        ConvertedExpression("exact_text", "[(${name})]", "{{ name }}"),
        ConvertedExpression("exact_text", "#{a ?: b}", "{{ a|if_blank(b) }}"),
        ConvertedExpression("derivation_hint", "[${x}]", "{{ x }}"),
    ]


@pytest.mark.parametrize("text", ["Hi {{ name }}", "plain #1", None, "#{T(java.lang.Runtime)}"])
def test_what_needs_none_or_cannot_be_converted_stays(text: str | None) -> None:
    assert convert_row("ce_response", vars(make_response(text))) == ({}, [])


def test_documents_are_looked_through() -> None:
    row = {"args_template": {"a": ["#{x}", 1], "b": {"c": "[[${y}]]"}, "d": None}}

    values, changes = convert_row("ce_tool", row)

    assert values == {"args_template": {"a": ["{{ x }}", 1], "b": {"c": "{{ y }}"}, "d": None}}
    assert [(change.before, change.after) for change in changes] == [("#{x}", "{{ x }}"), ("[[${y}]]", "{{ y }}")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AgentIntentResolver/SYSTEM_PROMPT", ("config_value",)),
        ("Session/FRESH_START_TEXT", ("config_value",)),
        ("CorrectionStep/REGEX_RETRY", ()),
        ("Nothing/KNOWN", ()),
    ],
)
def test_a_setting_holds_a_template_where_it_is_one(name: str, expected: Any) -> None:
    assert template_columns("ce_config", vars(make_config(name, "#{x}"))) == expected


def test_a_table_without_templates_has_none() -> None:
    assert template_columns("ce_rule", {}) == ()


def test_the_columns_are_there() -> None:
    assert all(
        field in ROW_TYPE_OF[table].__dataclass_fields__ for table, fields in COLUMNS.items() for field in fields
    )


def declares_templates(table: str, name: str) -> bool:
    """True for a column of that language or name, and for a document whose help says that its values may be some."""
    field = kept_columns(table)[name]
    language = get_column_spec(field).language or (TEMPLATE if name.endswith("_template") else "")
    return language == TEMPLATE or "may be templates" in str(field.help_text)


def test_the_columns_with_templates_are_those_that_the_tables_declare() -> None:
    declared = {
        table: {name for name in kept_columns(table) if declares_templates(table, name)} for table in ROW_TYPE_OF
    }

    assert {table: set(fields) for table, fields in COLUMNS.items()} == {
        table: names for table, names in declared.items() if names
    }
