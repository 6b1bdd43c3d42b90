from typing import Any

import pytest

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn import rows
from convengine.engine.turn.ports import ToolAnswer
from convengine.server.executors import db
from convengine.server.executors.port import BuiltInTools
from convengine.server.extensions.registry import Registry
from tests.builders import make_config, make_session, make_snapshot, make_tool

pytestmark = pytest.mark.dialects

TOOL = make_tool("order.find", tool_id=1, tool_group="DB")
SCHEMA = {"type": "object", "properties": {"orderId": {"type": "integer"}}}
STAGE = "MCP_DB_SQL_EXECUTION"


@pytest.fixture
def ask(book: tuple[str, str], settings: Any) -> Any:
    """Run a statement of a tool on the book: `ask(sql, args, **columns of the row)`."""
    dialect, address = book
    settings.CONVENGINE = {**settings.CONVENGINE, "TOOL_DATABASES": {"book": address}}

    def run(sql: str, args: Any = None, *more: rows.Row, **columns: Any) -> ToolAnswer:
        row = rows.DbTool(tool_id=1, **{"dialect": dialect, "sql_template": sql, "param_schema": SCHEMA, **columns})
        tools = BuiltInTools(make_snapshot(TOOL, row, *more), Registry())
        return tools.run("order.find", "DB", args or {}, make_session())

    return run


def test_a_tool_gets_its_rows_and_the_audit_what_was_run(ask: Any) -> None:
    answer = ask("select id, status, total from orders where id = :orderId", {"orderId": 1})

    assert answer.result == {"rows": [{"id": 1, "status": "open", "total": 12.5}], "rowCount": 1, "truncated": False}
    stage_payload = answer.stage_payloads[STAGE]
    assert (stage_payload["tool_code"], stage_payload["status"], stage_payload["row_count"]) == (
        "order.find",
        "SUCCESS",
        1,
    )
    assert (stage_payload["params"], stage_payload["rows"]) == ({"orderId": 1}, answer.result["rows"])
    assert "orders" in stage_payload["sql"]


def test_P2_4_11_V12_a_limit_is_cut_to_the_rows_of_the_tool(ask: Any) -> None:
    answer = ask("select id from customers order by id limit :limit", {"limit": 1_000_000}, max_rows=50)

    assert (answer.result["rowCount"], answer.result["truncated"]) == (50, True)


def test_a_limit_that_the_caller_chose_is_kept(ask: Any) -> None:
    chosen = ask("select id from customers limit :limit", {"limit": 3}, max_rows=50).result
    default = ask("select id from customers limit :limit").result
    unbound = ask("select id from customers", max_rows=7).result
    few = ask("select id from orders limit :limit", max_rows=50).result

    assert (chosen["rowCount"], chosen["truncated"]) == (3, False)
    assert (default["rowCount"], default["truncated"]) == (200, True)
    assert (unbound["rowCount"], unbound["truncated"]) == (7, True)
    assert (few["rowCount"], few["truncated"]) == (4, False)


def test_P2_4_11_V13_a_value_that_is_no_identifier_sends_nothing(ask: Any) -> None:
    answer = ask("select * from ${t}", {"t": "users; drop"}, allowed_identifiers={"t": ["orders"]})

    assert answer.error_type == "IDENTIFIER_REFUSED"
    assert answer.stage_payloads == {}


def test_an_identifier_of_the_list_is_put_in(ask: Any) -> None:
    answer = ask("select count(*) as n from ${t}", {"t": "orders"}, allowed_identifiers={"t": ["orders"]})

    assert answer.result["rows"] == [{"n": 4}]


def test_a_value_is_bound_and_never_part_of_the_statement(ask: Any) -> None:
    hostile = "open' or 'a' = 'a"

    assert ask("select id from orders where status = :word", {"word": hostile}).result["rows"] == []


def test_an_argument_that_was_not_given_is_null(ask: Any) -> None:
    assert ask("select count(*) as n from orders where status = :word").result["rows"] == [{"n": 0}]


def test_what_the_guard_refuses_is_told_with_its_remedy(ask: Any) -> None:
    answer = ask("delete from orders")

    assert answer.error_type == "SQL_NOT_READONLY"
    assert answer.error_message == "The statement must begin with SELECT or WITH. DELETE is not a query."
    assert answer.stage_payloads == {}


def test_a_statement_that_lasts_is_ended(ask: Any) -> None:
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"

    answer = ask(endless, {}, make_config("McpDbExecutor/STATEMENT_TIMEOUT_MS", "300"))

    assert answer.error_type == "DB_TIMEOUT"
    assert answer.stage_payloads[STAGE]["status"] == "ERROR"


def test_what_the_database_refuses_is_told_to_the_audit_with_its_cause(ask: Any) -> None:
    answer = ask("select nothing_like_it from orders")

    assert answer.error_type == "DB_ERROR"
    assert "nothing_like_it" in answer.error_message
    stage_payload = answer.stage_payloads[STAGE]
    assert (stage_payload["error_class"], stage_payload["row_count"]) == ("DB_ERROR", 0)
    assert stage_payload["sql_state"] == "42703" or stage_payload["sql_error_code"] == "SQLITE_ERROR"


def test_values_that_are_no_json_become_texts(ask: Any) -> None:
    columns = "current_timestamp as at, sum(total) as n, count(*) as all_of_them, null as missing"

    row = ask(f"select {columns} from orders").result["rows"][0]

    assert (type(row["at"]), row["n"], row["all_of_them"], row["missing"]) == (str, 367.49, 4, None)


def test_unsafe_mode_needs_the_deployments_word(ask: Any, settings: Any) -> None:
    query = "select repeat('a', 3) as x", {}
    assert ask(*query, safe_mode=False).error_type == "SAFE_MODE_REQUIRED"

    settings.CONVENGINE = {**settings.CONVENGINE, "UNSAFE_SQL_TOOLS": True}
    answer = ask(*query, safe_mode=False)
    assert answer.error_type in (None, "DB_ERROR")  # SQLite has no repeat.
    assert ask("delete from orders", safe_mode=False).error_type == "DB_ERROR"


def test_which_database_is_asked_is_a_setting_of_the_tool(ask: Any, settings: Any) -> None:
    both = {**settings.CONVENGINE["TOOL_DATABASES"], "gone": "sqlite:////nowhere/at/all.sqlite3"}
    settings.CONVENGINE = {**settings.CONVENGINE, "TOOL_DATABASES": both}

    unclear = ask("select 1 as one")
    chosen = ask("select 1 as one", {}, make_config("McpDbExecutor/CONNECTION.order.find", "book"))
    unknown = ask("select 1 as one", {}, make_config("McpDbExecutor/CONNECTION", "moon"))

    assert (unclear.error_type, "Choose one" in unclear.error_message) == ("DATABASE_UNKNOWN", True)
    assert chosen.result["rows"] == [{"one": 1}]
    assert unknown.error_message == "The tool database moon does not exist. Known: book, gone."


def test_half_of_a_character_is_refused_by_the_database(ask: Any) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    answer = ask("select id from orders where status = :name", {"name": "\ud800"}, param_schema=schema)

    assert answer.error_type == "DB_ERROR"


def test_the_cause_of_a_failure_is_recorded_without_secrets() -> None:
    fault = ToolFault("DB_UNREACHABLE", "It cannot be reached.")
    fault.__cause__ = ValueError("no such host: postgresql://ana:secret99@db\nHINT: none")

    assert db._describe_failure(fault)["root_cause_message"] == "no such host: postgresql://***@db"


def test_an_address_that_cannot_be_read_is_refused(ask: Any, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "TOOL_DATABASES": {"broken": "postgresql://[x"}}

    assert ask("select 1 as one").error_type == "DATABASE_UNKNOWN"


def test_a_statement_of_another_dialect_is_not_sent(ask: Any, book: tuple[str, str]) -> None:
    other = "SQLITE" if book[0] == "POSTGRES" else "POSTGRES"

    assert ask("select 1", dialect=other).error_type == "DIALECT_MISMATCH"
    assert ask("select 1 from dual", dialect="ORACLE").error_type == "DIALECT_MISMATCH"


def test_a_tool_without_a_statement_says_so() -> None:
    answer = BuiltInTools(make_snapshot(TOOL), Registry()).run("order.find", "DB", {}, make_session())

    assert answer.error_type == "NO_SQL"


@pytest.mark.parametrize("address", ["sqlite:////nowhere/at/all.sqlite3", "postgresql://nobody@127.0.0.1:1/none"])
def test_a_database_that_cannot_be_reached_is_an_error_of_its_own(address: str, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "TOOL_DATABASES": {"book": address}}
    dialect = "SQLITE" if address.startswith("sqlite") else "POSTGRES"
    row = rows.DbTool(tool_id=1, dialect=dialect, sql_template="select 1", param_schema=SCHEMA)

    answer = BuiltInTools(make_snapshot(TOOL, row), Registry()).run("order.find", "DB", {}, make_session())

    assert answer.error_type == "DB_UNREACHABLE"
