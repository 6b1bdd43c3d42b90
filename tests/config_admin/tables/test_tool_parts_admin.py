"""Trying a tool from its page."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import address
from tests.config_admin.builders import make
from tests.fakes.http_server import Reply, serving

pytestmark = pytest.mark.django_db
SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


@pytest.fixture
def query(tmp_path: Path, settings: Any) -> m.CeMcpDbTool:
    """A database tool on a real file."""
    file = tmp_path / "orders.sqlite3"
    with closing(sqlite3.connect(file)) as orders:
        orders.executescript("create table orders (id integer, status text); insert into orders values (7, 'open');")
    settings.CONVENGINE = {**settings.CONVENGINE, "TOOL_DATABASES": {"orders": f"sqlite:///{file}"}}
    with change_set():
        tool = make(m.CeMcpTool, tool_code="order.find", tool_group="DB", intent_code="ANY", state_code="ANY")
        return m.CeMcpDbTool.objects.create(
            tool=tool,
            dialect="SQLITE",
            sql_template="select status from orders where id = :id limit :limit",
            param_schema=SCHEMA,
        )


def call(method: str, base_url: str, settings: Any) -> m.CeMcpHttpTool:
    """An HTTP tool on a server of the test."""
    orders = {"base_url": base_url, "private_hosts": ["127.0.0.1"], "auth": "API_KEY", "secret_value": "s3cret"}
    settings.CONVENGINE = {**settings.CONVENGINE, "HTTP_CONNECTIONS": {"orders": orders}}
    with change_set():
        tool = make(m.CeMcpTool, tool_code="order.call", tool_group="HTTP_API", intent_code="ANY", state_code="ANY")
        return m.CeMcpHttpTool.objects.create(
            tool=tool,
            connection_name="orders",
            method=method,
            url_template="/orders/{{id}}",
            body_template=None if method == "GET" else '{"id": "{{id}}"}',
            param_schema=SCHEMA,
        )


def attempt(client: Client, row: Any, args: str) -> str:
    """What the page says to some arguments."""
    response = client.post(address(type(row), "try", row.pk), {"args": args})
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_of_the_row_leads_there(ada: Client, query: Any) -> None:
    page = ada.get(address(m.CeMcpDbTool, "change", query.pk)).content.decode()

    assert address(m.CeMcpDbTool, "try", query.pk) in page
    assert "Arguments, as JSON" in ada.get(address(m.CeMcpDbTool, "try", query.pk)).content.decode()


def test_a_query_shows_its_rows_and_the_statement(ada: Client, query: Any) -> None:
    page = attempt(ada, query, '{"id": "7"}')

    assert "&quot;status&quot;: &quot;open&quot;" in page
    assert "SELECT status FROM orders WHERE id = :id LIMIT :limit" in page


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("{}", "&#x27;id&#x27; is a required property"),
        ("[1]", "The arguments must be an object"),
        ("{", "The arguments are not valid JSON"),
        ('{"id": "many"}', "is not of type"),
    ],
)
def test_arguments_that_do_not_fit_are_told(ada: Client, query: Any, args: str, message: str) -> None:
    assert message in attempt(ada, query, args)


def test_a_call_that_only_reads_is_made(ada: Client, settings: Any) -> None:
    with serving(Reply(body=b'{"status": "open"}')) as server:
        page = attempt(ada, call("GET", server.address, settings), '{"id": 7}')

        assert [request.path for request in server.asked] == ["/orders/7"]
    assert "&quot;open&quot;" in page


def test_a_call_that_may_change_something_is_only_shown(ada: Client, settings: Any) -> None:
    with serving() as server:
        page = attempt(ada, call("POST", server.address, settings), '{"id": 7}')

        assert server.asked == []
    assert "This request would be sent" in page
    assert "/orders/7" in page
    assert "s3cret" not in page


def test_who_may_not_change_the_row_may_not_try_it(somebody: Any, query: Any) -> None:
    reader = somebody("quin", "qa")

    assert reader.get(address(m.CeMcpDbTool, "try", query.pk)).status_code == 403
    assert "/try/" not in reader.get(address(m.CeMcpDbTool, "change", query.pk)).content.decode()


def test_a_tool_that_is_not_there_is_not_tried(ada: Client) -> None:
    assert ada.get(address(m.CeMcpDbTool, "try", 999)).status_code == 404
