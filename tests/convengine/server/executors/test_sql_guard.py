"""The corpus on real databases: no hostile statement reaches one, every legitimate one runs."""

import sys

import pytest

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn import rows
from convengine.server.executors.db import database
from convengine.server.executors.sql_guard import (
    Allowed,
    Readable,
    SqlRefused,
    fill_identifiers,
    list_allowed_names,
    parameters,
    readable,
)
from tests.builders import make_snapshot
from tests.cases import for_each
from tests.convengine.server.executors import sql_corpus as corpus

HOSTILE = [
    *(("POSTGRES", text) for text in (*corpus.HOSTILE_ANYWHERE, *corpus.HOSTILE_POSTGRES)),
    *(("SQLITE", text) for text in (*corpus.HOSTILE_ANYWHERE, *corpus.HOSTILE_SQLITE)),
]
LEGITIMATE = {
    "POSTGRES": [*corpus.LEGITIMATE, *corpus.LEGITIMATE_POSTGRES],
    "SQLITE": [*corpus.LEGITIMATE, *corpus.LEGITIMATE_SQLITE],
}
_REFUSED_CALL = r"may be|is not allowed|is a function of the database|not a query"
VALUES = {"orderId": 1, "limit": 10, "pattern": "o%", "ids": [1, 2]}


def test_the_corpus_is_as_large_as_was_asked_for() -> None:
    assert len(set(HOSTILE)) >= 150
    assert min(len(texts) for texts in LEGITIMATE.values()) >= 50


@for_each("dialect, text", HOSTILE)
def test_a_hostile_statement_is_refused(dialect: str, text: str) -> None:
    with pytest.raises(SqlRefused) as refused:
        readable(text, dialect, Allowed())

    assert str(refused.value)


@pytest.mark.parametrize("function", ["fsleep_orders", "fsleep_anyelement"])
@for_each("text", corpus.ATTRIBUTE_NOTATIONS)
def test_a_function_that_is_called_like_a_column_does_not_run(text: str, function: str, postgres_book: str) -> None:
    with pytest.raises((SqlRefused, ToolFault), match=_REFUSED_CALL):
        fetch_text(text.format(f=function), postgres_book)


def fetch_text(text: str, address: str) -> None:
    database(address).fetch(readable(text, "POSTGRES", Allowed()), {}, 10, 2000)


def test_such_a_function_may_be_allowed(postgres_book: str) -> None:
    allowed = Allowed(functions=frozenset({"fsleep_orders"}))

    with pytest.raises(ToolFault, match="longer than 100 ms"):
        database(postgres_book).fetch(readable("select o.fsleep_orders from orders o", "POSTGRES", allowed), {}, 1, 100)


def test_every_legitimate_statement_runs(book: tuple[str, str]) -> None:
    dialect, address = book

    for text in LEGITIMATE[dialect]:
        statement = readable(text, dialect, Allowed())
        database(address).fetch(statement, VALUES, 10, 2000)


def test_what_runs_means_what_was_written(book: tuple[str, str]) -> None:
    dialect, address = book
    text = "select id, status || ' ''order''' as said from orders where id = :orderId and status <> '100% -- $1 :no'"

    fetched = database(address).fetch(readable(text, dialect, Allowed()), {"orderId": 2}, 10, 2000)

    assert fetched.rows == [{"id": 2, "said": "late 'order'"}]


def test_past_the_guard_a_database_still_takes_nothing_but_reading(book: tuple[str, str]) -> None:
    dialect, address = book
    writes = [
        "insert into orders values (9, 'x', 1, 1)",
        "update orders set total = 0",
        "delete from orders",
        "drop table orders",
        "create table t (a int)",
        "with d as (delete from orders returning *) select * from d",
        "select 1; delete from orders",
        *(("select wipe()", "select nextval('orders_seq')", "commit") if dialect == "POSTGRES" else ()),
        *(corpus.HOSTILE_SQLITE[:9] if dialect == "SQLITE" else ()),
    ]

    for text in writes:
        with pytest.raises(ToolFault, match="DB_ERROR"):
            database(address).fetch(Readable(text, ()), {}, 10, 2000)

    counted = database(address).fetch(Readable("select count(*) as n, sum(total) as s from orders", ()), {}, 1, 2000)
    assert (counted.rows[0]["n"], float(counted.rows[0]["s"])) == (4, 367.49)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select * from salaries", "salaries is not in the allowed tables (orders)"),
        ("select * from hr.orders", "hr.orders is not in the allowed tables"),
        ("with orders as (select * from salaries) select * from orders", "salaries is not"),
        ("with salaries as (select * from salaries) select * from salaries", "salaries is not"),
        ("with a as (select * from b), b as (select 1 as x) select * from a", "b is not"),
        ("select * from orders where id in (select id from salaries)", "salaries is not"),
        ("select * from orders union select * from salaries", "salaries is not"),
        ("select * from (with x as (select 1) select * from x) as y, x", "x is not"),
    ],
)
def test_only_listed_tables_are_read_however_they_are_named(text: str, message: str) -> None:
    with pytest.raises(SqlRefused) as refused:
        readable(text, "POSTGRES", Allowed(tables=frozenset({"orders"})))

    assert message in str(refused.value)


def test_what_a_query_names_itself_is_no_table() -> None:
    listed = Allowed(tables=frozenset({"orders", "pg_stats"}))

    for text in (
        "with salaries as (select * from orders) select * from salaries",
        "with a as (select * from orders), b as (select * from a) select * from b, a",
        "with recursive n as (select 1 as i union all select i + 1 from n where i < 3) select * from n",
        "select * from pg_stats",
    ):
        assert readable(text, "POSTGRES", listed).sql


def test_guardrail_rows_allow_and_block_and_blocking_wins() -> None:
    tool = rows.DbTool(tool_id=1, sql_template="SELECT 1", param_schema={})

    def rules(*entries: tuple[str, str, bool]) -> Allowed:
        made = [
            rows.SqlGuardrail(guardrail_id=n, rule_type=kind, match_value=value, enabled=enabled)
            for n, (kind, value, enabled) in enumerate(entries)
        ]
        return list_allowed_names(make_snapshot(*made), tool)

    query = "select similarity(status, 'a') from orders"
    assert readable(query, "POSTGRES", rules(("ALLOW_FUNCTION", "Similarity", True)))
    for refusing in (
        rules(("ALLOW_FUNCTION", "similarity", False)),
        rules(("ALLOW_FUNCTION", "similarity", True), ("BLOCK_FUNCTION", "similarity", True)),
        rules(("ALLOW_FUNCTION", "similarity", True), ("BLOCK_KEYWORD", "orders", True)),
    ):
        with pytest.raises(SqlRefused):
            readable(query, "POSTGRES", refusing)


def test_a_blocked_word_inside_a_text_does_not_count() -> None:
    blocked = Allowed(keywords=frozenset({"cross"}))

    assert readable("select 'cross', \"cross\" from orders", "POSTGRES", blocked)


def test_identifiers_are_put_in_only_as_listed() -> None:
    lists = {"t": ["orders", "public.orders"]}

    assert fill_identifiers("select * from ${ t }", {"t": "public.orders"}, lists) == "select * from public.orders"
    for value in ("users; drop", "customers", None, 1, "a.b.c", "", "ordérs"):
        with pytest.raises(SqlRefused):
            fill_identifiers("select * from ${t}", {"t": value}, lists)
    with pytest.raises(SqlRefused):
        fill_identifiers("select * from ${t}", {"t": "orders"}, None)


def test_parameters_are_what_stands_outside_of_texts_and_comments() -> None:
    text = "select a::text, ':no' /* :no */ from t -- :no\nwhere b = :one and c = :two"

    assert parameters(text, "POSTGRES") == {"one", "two"}
    assert parameters("delete :x from", "POSTGRES") == frozenset()


def test_a_statement_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(SqlRefused, match=r"nested too deeply|not valid SQL"):
        readable(f"select {'(' * 4000}1{')' * 4000}", "POSTGRES", Allowed())


def test_without_safe_mode_it_is_still_one_statement() -> None:
    assert readable("select pg_sleep(1)", "POSTGRES", Allowed(), safe=False).sql == "SELECT PG_SLEEP(1)"
    with pytest.raises(SqlRefused):
        readable("select 1; select 2", "POSTGRES", Allowed(), safe=False)


def test_without_its_library_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    monkeypatch.setattr("convengine.engine.extras.is_installed", lambda extra: False)

    with pytest.raises(SqlRefused, match="Install it with pip install"):
        readable.__wrapped__("SELECT 1", "sqlite", Allowed())
    assert parameters("SELECT :one", "sqlite") == frozenset()
