"""Real databases for the tools to read: an order book on PostgreSQL and the same on SQLite."""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.database import start_postgres

BOOK = """
    create table customers (id integer primary key, name text);
    create table orders (id integer primary key, status text, total numeric(10, 2), customer_id integer);
    create table secrets (id integer primary key, word text);
    insert into customers values (1, 'Ada'), (2, 'Bo');
    insert into orders values (1, 'open', 12.50, 1), (2, 'late', 99.99, 1), (3, 'open', 5, 2), (4, null, 250, 2);
    insert into secrets values (1, 'hidden');
"""


@pytest.fixture(scope="session")
def postgres_book() -> str:
    """The address of a PostgreSQL with the book."""
    url = start_postgres()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(BOOK)
        connection.execute("create sequence orders_seq")
        connection.execute("create function wipe() returns int language sql as 'delete from orders returning 1'")
        for argument in ("orders", "anyelement"):
            sleep = "returns int language sql as 'select 1 from pg_sleep(9)'"
            connection.execute(f"create function fsleep_{argument}(o {argument}) {sleep}")
        connection.execute("insert into customers select g, 'Customer ' || g from generate_series(10, 400) g")
    return url


@pytest.fixture
def sqlite_book(tmp_path: Path) -> str:
    """The address of a SQLite file with the book."""
    file = tmp_path / "the book.sqlite3"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(BOOK)
        connection.executemany("insert into customers values (?, ?)", [(g, f"Customer {g}") for g in range(10, 401)])
        connection.commit()
    return f"sqlite:///{file}"


@pytest.fixture(params=["POSTGRES", "SQLITE"])
def book(request: pytest.FixtureRequest) -> tuple[str, str]:
    """(dialect, address) of the book, once on each database."""
    fixture = "postgres_book" if request.param == "POSTGRES" else "sqlite_book"
    return request.param, request.getfixturevalue(fixture)
