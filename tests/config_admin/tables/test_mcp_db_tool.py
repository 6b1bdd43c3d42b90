"""Save checks of SQL behind tools."""

from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.turn import rows
from tests.config_admin.validation.shop import DB_TOOL, codes, list_messages


def sql(text: str, **changes: Any) -> rows.DbTool:
    return replace(DB_TOOL, sql_template=text, **changes)


def test_only_database_tools_have_sql() -> None:
    assert list_messages(replace(DB_TOOL, tool_id=9)) == [
        ("CONFLICT", "order.status is in group HTTP_API. Only tools in group DB have SQL.")
    ]
    assert codes(replace(DB_TOOL, tool_id=77)) == ["TOOL_UNKNOWN"]


@pytest.mark.parametrize("value", [0, 10_001, None, "50", True])
def test_the_number_of_rows_has_bounds(value: Any) -> None:
    assert list_messages(replace(DB_TOOL, max_rows=value)) == [
        ("MAX_ROWS", "The number of rows must be a whole number from 1 to 10000.")
    ]


def test_the_dialect_is_of_the_list() -> None:
    assert codes(replace(DB_TOOL, dialect="MYSQL")) == ["CHOICE_UNKNOWN"]


def test_unguarded_sql_needs_the_deployments_word() -> None:
    unguarded = sql("DELETE FROM orders WHERE id = :orderId LIMIT :limit", safe_mode=False)
    assert list_messages(unguarded) == [
        ("CONFLICT", "This installation only allows statements that read. Turn the read-only guard on.")
    ]
    assert codes(unguarded, unsafe_sql_allowed=True) == []


@pytest.mark.parametrize("schema", [None, [], {}, {"type": "array"}, {"type": "object", "properties": 1}])
def test_the_arguments_are_described_by_a_schema_of_type_object(schema: Any) -> None:
    assert "SHAPE_INVALID" in codes(replace(DB_TOOL, param_schema=schema))


def test_lists_have_their_shapes() -> None:
    assert codes(replace(DB_TOOL, allowed_identifiers={"t": "orders"})) == ["SHAPE_INVALID"]
    assert codes(replace(DB_TOOL, allowed_tables={"orders": 1})) == ["SHAPE_INVALID"]
    assert codes(replace(DB_TOOL, allowed_identifiers={"t": ["orders"]}, allowed_tables=["orders"])) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "The statement is empty. Write one that begins with SELECT or WITH."),
        ("-- nothing", "The statement is empty. Write one that begins with SELECT or WITH."),
        ("SELECT 1; SELECT 2", "Only one statement is allowed. Remove the text after the semicolon."),
        ("EXPLAIN SELECT 1", "The statement must begin with SELECT or WITH. COMMAND is not a query."),
        ("SELECT a INTO b FROM c", "INTO is not allowed: SELECT … INTO writes a table. Remove it."),
        (
            "WITH d AS (DELETE FROM a RETURNING *) SELECT * FROM d",
            "Brackets and WITH may contain only queries; DELETE is not a query.",
        ),
        ("SELECT a FROM b FOR UPDATE", "LOCK is not allowed: FOR UPDATE and its kin lock rows. Remove it."),
        (
            "SELECT lo_import('x')",
            "The function lo_import is not allowed. If it changes nothing and waits for nothing, a guardrail row "
            "ALLOW_FUNCTION can allow it.",
        ),
    ],
)
def test_a_statement_only_reads(text: str, reason: str) -> None:
    assert ("SQL_NOT_READONLY", reason) in list_messages(sql(text))


@pytest.mark.parametrize(
    "text",
    [
        "select a from b where status = 'update' and c = :orderId limit :limit;",
        'SELECT "comment" FROM b /* delete */ WHERE c = :orderId -- drop\nLIMIT :limit',
        "WITH x AS (SELECT count(*) AS n FROM t WHERE a IN (1,2)) SELECT coalesce(n, 0)::int FROM x "
        "WHERE c = :orderId LIMIT :limit",
        "SELECT CAST(a AS numeric(10,2)) FROM b WHERE c = :orderId AND EXISTS (SELECT 1) LIMIT :limit",
        "SELECT $$ delete $$ FROM b WHERE c = :orderId LIMIT :limit",
    ],
)
def test_words_in_texts_and_comments_do_not_count(text: str) -> None:
    assert list_messages(sql(text)) == []


def test_guardrail_rows_allow_and_block_and_blocking_wins() -> None:
    call = sql("SELECT similarity(a, :orderId) FROM b LIMIT :limit")
    allow = rows.SqlGuardrail(guardrail_id=5, rule_type="ALLOW_FUNCTION", match_value="similarity")
    block = rows.SqlGuardrail(guardrail_id=6, rule_type="BLOCK_FUNCTION", match_value="similarity")
    assert codes(call) == ["SQL_NOT_READONLY"]
    assert codes(call, allow) == []
    assert codes(call, allow, block) == ["SQL_NOT_READONLY"]
    keyword = rows.SqlGuardrail(guardrail_id=7, rule_type="BLOCK_KEYWORD", match_value="cross")
    assert codes(sql("SELECT 1 FROM a CROSS JOIN b WHERE c = :orderId LIMIT :limit"), keyword) == ["SQL_NOT_READONLY"]


def test_parameters_are_declared() -> None:
    assert list_messages(sql("SELECT a FROM b WHERE c = :orderId AND d = :colour LIMIT :limit")) == [
        ("SQL_PARAM_UNDECLARED", ":colour is not in the parameter schema.")
    ]


def test_a_cast_and_a_text_are_no_parameters() -> None:
    assert codes(sql("SELECT a::text, ':nope' FROM b WHERE c = :orderId LIMIT :limit")) == []


def test_identifiers_need_a_list() -> None:
    text = "SELECT a FROM ${table} WHERE c = :orderId LIMIT :limit"
    assert list_messages(sql(text)) == [("IDENTIFIER_UNLISTED", "$table needs a list in allowed identifiers.")]
    assert codes(sql(text, allowed_identifiers={"table": ["orders"]})) == []
    assert codes(sql(text, allowed_identifiers={"table": ["orders", "a b"]})) == ["SHAPE_INVALID"]
    for name in (r"a\gb", r"a\1", "a\\"):
        assert "SHAPE_INVALID" in codes(sql(text, allowed_identifiers={"table": [name]})), name


def test_a_statement_that_does_not_parse_says_where() -> None:
    assert "is not valid SQL" in dict(list_messages(sql("SELECT 'a")))["SQL_NOT_READONLY"]


def test_only_allowed_tables_are_read() -> None:
    text = "SELECT a FROM salaries WHERE c = :orderId LIMIT :limit"
    assert list_messages(sql(text, allowed_tables=["orders"])) == [
        (
            "SQL_NOT_READONLY",
            "The table salaries is not in the allowed tables (orders); add it there if it may be read.",
        )
    ]


def test_an_argument_that_is_not_used_is_told() -> None:
    assert list_messages(sql("SELECT a FROM b LIMIT :limit")) == [
        ("SQL_PARAM_UNUSED", "The parameter orderId is not used in the statement.")
    ]


def test_a_statement_without_a_limit_is_told() -> None:
    assert list_messages(sql("SELECT a FROM b WHERE c = :orderId")) == [
        ("SQL_NO_LIMIT", "The database may read far more rows than are kept. Add LIMIT :limit to the statement.")
    ]


def test_an_installation_without_a_database_for_tools_is_told() -> None:
    assert codes(DB_TOOL, tool_databases=frozenset()) == ["DATABASE_UNKNOWN"]
    assert codes(DB_TOOL, tool_databases=frozenset({"orders"})) == []
