"""Real executors in whole turns: asked for by a caller, told to the audit, and never called by a replay."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from audit.models import CeAudit
from audit.replay.replay import find_replay_difference
from config_admin import models as m
from config_admin.releases.change_set import change_set
from convengine.server.executors import http_client
from convengine.server.executors.document_store import put
from convengine.server.executors.models import CeDocumentCollection
from convengine.server.extensions.registry import ToolEntry, registry
from convengine.server.resilience.circuit import Circuits
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.fakes.http_server import Reply, Server, serving
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
ANYWHERE = {"intent_code": "ANY", "state_code": "ANY"}
BY_ID = {"type": "object", "properties": {"orderId": {"type": "integer"}}, "required": ["orderId"]}


@pytest.fixture(autouse=True)
def _own_circuits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "circuits", Circuits())


@pytest.fixture
def shop(tmp_path: Path, settings: Any) -> Any:
    """A desk with a tool of each kind, on a database and a server of its own."""
    file = tmp_path / "orders.sqlite3"
    with closing(sqlite3.connect(file)) as orders:
        orders.executescript("create table orders (id integer, status text); insert into orders values (7, 'open');")
    with serving(Reply(body=b'{"status": "packed"}')) as server:
        settings.CONVENGINE = {
            **settings.CONVENGINE,
            "TOOL_DATABASES": {"orders": f"sqlite:///{file}"},
            "HTTP_CONNECTIONS": {"orders": {"base_url": server.address, "private_hosts": ["127.0.0.1"]}},
        }
        create_help_desk()
        _configure()
        yield server


def _configure() -> None:
    with change_set():
        query = m.CeMcpTool.objects.create(tool_code="order.find", tool_group="DB", **ANYWHERE)
        m.CeMcpDbTool.objects.create(
            tool=query,
            dialect="SQLITE",
            sql_template="select id, status from orders where id = :orderId limit :limit",
            param_schema=BY_ID,
        )
        call = m.CeMcpTool.objects.create(tool_code="order.status", tool_group="HTTP_API", **ANYWHERE)
        m.CeMcpHttpTool.objects.create(
            tool=call,
            connection_name="orders",
            url_template="/orders/{{orderId}}",
            param_schema=BY_ID,
            mapping_mode="JSON_PATH",
            mapping_json={"jsonPath": "$.status"},
        )
        m.CeMcpTool.objects.create(tool_code="handbook", tool_group="DOCUMENT_RETRIEVAL", **ANYWHERE)
        m.CeMcpTool.objects.create(tool_code="sum", tool_group="CALCULATOR_TRANSFORM", **ANYWHERE)
    put(CeDocumentCollection.objects.create(name="handbook"), "Delivery", "Three days.")


def ask(code: str, **args: Any) -> dict[str, Any]:
    """What a turn that asks for a tool leaves as its result."""
    Caller().say("hours", inputParams={"tool_request": {"tool_code": code, "args": args}})
    event = CeAudit.objects.filter(stage__startswith="TOOL_ORCHESTRATION_RE").order_by("-audit_id")[0]
    return dict(event.payload_json)


def find_difference() -> Any:
    return find_replay_difference(CeConversationHistory.objects.latest("history_id"))


def test_P2_3_4_V2_a_call_is_made_once_and_never_again_by_a_replay(shop: Server) -> None:
    result = ask("order.status", orderId="7")

    assert (result["status"], result["result"]["mapped"]) == ("SUCCESS", "packed")
    assert find_difference() is None
    assert [request.path for request in shop.asked] == ["/orders/7"]


def test_a_query_tells_its_statement_before_its_result(shop: Server) -> None:
    result = ask("order.find", orderId="7")

    assert result["result"] == {"rows": [{"id": 7, "status": "open"}], "rowCount": 1, "truncated": False}
    ran = CeAudit.objects.get(stage="MCP_DB_SQL_EXECUTION")
    assert (ran.payload_json["params"], ran.payload_json["row_count"]) == ({"orderId": 7, "limit": 201}, 1)
    assert find_difference() is None


def test_documents_and_sums_are_tools_like_any_other(shop: Server) -> None:
    assert ask("handbook", query="how long is delivery")["result"]["documents"][0]["title"] == "Delivery"
    assert ask("sum", expression="a * 2", a=21)["result"] == {"value": 42}
    assert find_difference() is None


def test_arguments_that_do_not_fit_call_nothing(shop: Server) -> None:
    Caller().say("hours", inputParams={"tool_request": {"tool_code": "order.status", "args": {"orderId": "many"}}})

    event = CeAudit.objects.get(stage="TOOL_ORCHESTRATION_ERROR").payload_json
    assert (event["status"], event["error_type"]) == ("ERROR", "INVALID_ARGS")
    assert shop.asked == []
    assert find_difference() is None


def test_a_connection_that_a_deployment_takes_away_fails_the_tool_and_not_the_turn(shop: Server, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "HTTP_CONNECTIONS": {}}
    answer = Caller().say("hours", inputParams={"tool_request": {"tool_code": "order.status", "args": {"orderId": 7}}})

    assert answer["success"] is True
    assert CeAudit.objects.get(stage="TOOL_ORCHESTRATION_ERROR").payload_json["error_type"] == "CONNECTION_UNKNOWN"


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_waits_for_a_tool_holds_no_database_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    create_help_desk()
    with change_set():
        m.CeMcpTool.objects.create(tool_code="slow", tool_group="WORKFLOW_ACTION", **ANYWHERE)
    turns_own = connections["default"]
    seen: list[bool] = []

    def note_connection(args: Any, session: Any) -> str:
        seen.append(turns_own.connection is None)
        return "done"

    monkeypatch.setitem(registry.tools, "slow", ToolEntry(note_connection, "WORKFLOW_ACTION", 5000))

    assert ask("slow")["result"] == "done"
    assert seen == [True]
