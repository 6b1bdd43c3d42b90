"""JSON that people type on pages: what is nested too deep is refused where it was typed, and stops no page."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.releases.change_set import change_set
from convengine.engine.turn.recording import Recording
from convengine.server.confirmed_actions.run_once import Executions
from tests.config_admin.admin.pages import address, fill
from tests.config_admin.builders import make
from tests.config_admin.flows.test_page import FORM
from tests.convengine.server.confirmed_actions.test_run_once import make_claim
from tests.sign_in import sign_in_superuser
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db

DEEP = {
    "open lists": "[" * 100_000,
    "open objects": '{"a":' * 100_000,
    "lists that the parser reads": "[" * 300 + "]" * 300,
    "objects that the parser reads": '{"a":' * 65 + "1" + "}" * 65,
}
TOO_DEEP = "nested more than 64 deep"
SIMULATOR = "admin:audit_ceaudit_simulate"


def post(client: Client, name: str, *args: Any, **values: str) -> Any:
    return client.post(reverse(f"admin:{name}", args=args), values)


def try_tool(client: Client, text: str) -> Any:
    with change_set():
        tool = make(m.CeMcpTool, tool_code="order.find", tool_group="DB", intent_code="ANY", state_code="ANY")
        query = m.CeMcpDbTool.objects.create(tool=tool, dialect="SQLITE", sql_template="select 1", param_schema={})
    return post(client, "config_admin_cemcpdbtool_try", query.pk, args=text)


def settle_action(client: Client, text: str) -> Any:
    pk = Executions(Recording()).claim(make_claim()).execution_id
    given = {"ran": "yes", "reason": "The bank shows it.", "result": text}
    return post(client, "ce_sessions_cependingactionexecution_settle", pk, **given)


def start_flow(client: Client, text: str) -> Any:
    refusal = {"refusal-TOTAL_FORMS": "1", "refusal-0-when": text, "refusal-0-text": "At most 8."}
    return client.post(reverse("admin:config_admin_ceintent_start"), FORM | refusal | {"_save": "1", "reason": "x"})


def post_test(client: Client, given: dict[str, str]) -> Any:
    return post(client, "config_admin_cetestcase_add", **given)


def expect(client: Client, kind: str, value: str) -> Any:
    ticks = {"ticks": "1", "tick-0": "1", "kind-0": kind, "name-0": "$.a", "mode-0": "equals", "value-0": value}
    turn = {f"turn-0-{name}": sent for name, sent in {"user": "hours", **ticks}.items()}
    return post_test(client, {"title": "Hours", "turns": "1", "do": "save", **turn})


def add_row(client: Client, model: Any, **values: str) -> Any:
    return fill(client, address(model, "add"), **values)


def simulate(client: Client, **values: str) -> Any:
    sent = {f"try-{name.replace('_', '-')}": value for name, value in values.items()}
    return client.post(reverse(SIMULATOR), {"try-line": ["hours"], **sent})


def try_rule(client: Client, text: str) -> Any:
    with change_set():
        rule = make(m.CeRule, rule_type="REGEX", match_pattern="hours")
    values = {"_field": "match_pattern", "_text": "hours", "_values": f"a={text}", "match_pattern": "hours"}
    return client.post(address(m.CeRule, "try_it_of_form"), {"_pk": str(rule.pk), "rule_type": "REGEX", **values})


def make_document_test(client: Client, text: str) -> Any:
    return post_test(client, {"document": f'{{"title": "x", "turns": {text}}}'})


#: What takes the text on each page; and what the page says of it, or blank where it is a text like any other.
PAGES: dict[str, tuple[Callable[[Client, str], Any], str]] = {
    "try a tool": (try_tool, TOO_DEEP),
    "settle an action": (settle_action, TOO_DEEP),
    "what a flow does not allow": (start_flow, "“When”"),
    "expected tool calls": (lambda client, text: expect(client, "tools", f"order.find {text}"), TOO_DEEP),
    "an expected field": (lambda client, text: expect(client, "field", text), ""),
    "the document of a test": (make_document_test, TOO_DEEP),
    "an answer": (
        lambda client, text: add_row(
            client, m.CeResponse, intent_code="HOURS", state_code="ANY", output_format="JSON", exact_text=text
        ),
        "must be valid JSON",
    ),
    "a schema": (
        lambda client, text: add_row(client, m.CeOutputSchema, intent_code="ANY", state_code="ANY", json_schema=text),
        TOO_DEEP,
    ),
    "parameters of a played message": (
        lambda client, text: simulate(client, send="1", message="fees", params=text),
        "The input parameters are",
    ),
    "what was played before": (lambda client, text: simulate(client, earlier=text), ""),
    "values of a sample turn": (try_rule, ""),
}


@pytest.mark.parametrize("text", DEEP.values(), ids=list(DEEP))
@pytest.mark.parametrize(("send", "says"), PAGES.values(), ids=list(PAGES))
def test_what_is_nested_too_deep_stops_no_page(send: Callable[[Client, str], Any], says: str, text: str) -> None:
    create_help_desk()

    response = send(sign_in_superuser(), text)

    assert response.status_code in (200, 302)
    assert not says or says in response.content.decode()
