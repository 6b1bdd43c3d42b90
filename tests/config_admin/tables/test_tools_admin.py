"""Asking an MCP server for its tools from its page."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.releases.change_set import change_set
from convengine.server.mcp_client.servers import pool
from convengine.server.outgoing.loop import outgoing
from tests.config_admin.admin.pages import address
from tests.fakes.mcp_servers import SCRIPT

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings: Any) -> Iterator[m.CeMcpServer]:
    settings.CONVENGINE = {**settings.CONVENGINE, "MCP_STDIO_COMMANDS": [sys.executable]}
    with change_set():
        yield m.CeMcpServer.objects.create(
            name="shop", transport="STDIO", command=sys.executable, args_json=[SCRIPT], timeout_ms=30_000
        )
    outgoing.run(pool().close(), 10)


def test_a_server_is_asked_by_a_button_and_never_by_opening_its_page(admin_client: Client, server: Any) -> None:
    url = address(m.CeMcpServer, "tools", server.pk)

    opened = admin_client.get(url).content.decode()
    html = admin_client.post(url).content.decode()

    assert url in admin_client.get(address(m.CeMcpServer, "change", server.pk)).content.decode()
    assert "mcp.shop" not in opened
    assert "mcp.shop.order.status" in html
    assert "mcp.shop.cancel (changes data" in html


def test_what_is_wrong_with_a_server_is_said_on_its_page(admin_client: Client, server: Any, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "MCP_STDIO_COMMANDS": []}

    html = admin_client.post(address(m.CeMcpServer, "tools", server.pk)).content.decode()

    assert "MCP_SERVER_UNAVAILABLE" in html
    assert "may not be started here" in html


def test_only_who_may_change_servers_may_ask(client: Client, server: Any, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_user("reader", is_staff=True))

    assert client.post(address(m.CeMcpServer, "tools", server.pk)).status_code == 403
