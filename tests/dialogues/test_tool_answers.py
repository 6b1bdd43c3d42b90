"""What a flow says when its tool answers with something else than the flow needs."""

from typing import Any, NamedTuple

import pytest
from django.conf import settings
from django.test import override_settings

from config_admin import models as m
from config_admin.releases.change_set import change_set
from tests.api import Caller
from tests.dialogues.beside_model import find_event
from tests.dialogues.play import store_flows
from tests.fakes.http_server import Reply, serving

pytestmark = pytest.mark.django_db
SORRY, BLANK = "Sorry, not now.", "I am sorry, I have no answer to that right now."
PLAIN = "Order {{ order }} is {{ tool_result.result.mapped.status }}."
CHECKED = f"{{% if tool_status == 'ERROR' %}}{SORRY}{{% else %}}{PLAIN}{{% endif %}}"
STATUS = "tool_result.result.mapped.status"
CAREFUL = f"{{% if {STATUS} %}}It is {{{{ {STATUS} }}}}.{{% else %}}Unknown.{{% endif %}}"
NOTED = "It is {{ tool_result.result.mapped.status }}. {{ tool_result.result.mapped.note }}"


class Case(NamedTuple):
    """The body of a successful response, the answer of the flow, what is said, and the error of the call."""

    body: bytes
    template: str
    said: str
    error: str | None = None


UNREADABLE, INCOMPLETE = "ANSWER_UNREADABLE", "TOOL_RESULT_INCOMPLETE"
CASES = (
    Case(b'{"status": "sent"}', PLAIN, "Order 10005 is sent."),
    Case(b'{"status": "sent"}', CHECKED, "Order 10005 is sent."),
    Case(b'{"status": "se', CHECKED, SORRY, UNREADABLE),
    Case(b'{"status": "se', PLAIN, BLANK, UNREADABLE),
    Case(b"<html><body>Please sign in</body></html>", CHECKED, SORRY, UNREADABLE),
    Case(b'{"error": "no such order"}', CHECKED, SORRY, INCOMPLETE),
    Case(b'{"error": "no such order"}', PLAIN, BLANK, INCOMPLETE),
    Case(b'{"status": null}', CHECKED, SORRY, INCOMPLETE),
    Case(b"[]", CHECKED, SORRY, INCOMPLETE),
    Case(b"sent", CHECKED, SORRY, INCOMPLETE),
    Case(b"", CHECKED, SORRY, INCOMPLETE),
    Case(b'{"error": "no such order"}', CAREFUL, "Unknown."),
    Case(b'{"status": "sent", "note": null}', NOTED, "It is sent."),
)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.body!r} {number}" for number, case in enumerate(CASES)])
def test_an_answer_of_another_shape_is_said_as_a_failure(case: Case) -> None:
    flow = {
        "code": "WHERE", "title": "Where is my order", "kind": "lookup", "locale": "en-GB",
        "phrases": ["where is my order"], "tool": "order.status", "answer": case.template,
        "fields": [{"name": "order", "title": "Order number", "type": "text", "question": "Which order?"}],
    }  # fmt: skip
    with serving(Reply(body=case.body)) as server, override_settings(CONVENGINE=connect(server.address)):
        make_tool()
        store_flows({"time_zone": "Europe/London", "locale": "en-GB", "flows": [flow]})
        caller = Caller()
        caller.say("where is my order")
        said = caller.say("10005")

    stage = "TOOL_ORCHESTRATION_ERROR" if case.error else "TOOL_ORCHESTRATION_RESULT"
    assert said["payload"]["value"].strip() == case.said
    assert find_event(caller, 2, stage).get("error_type") == case.error


def connect(address: str) -> dict[str, Any]:
    connection = {"base_url": address, "private_hosts": ["127.0.0.1"]}
    return {**settings.CONVENGINE, "HTTP_CONNECTIONS": {"orders": connection}}


def make_tool() -> None:
    with change_set():
        tool = m.CeMcpTool.objects.create(
            tool_code="order.status", tool_group="HTTP_API", intent_code="WHERE", state_code="DONE",
            description="tells the status",
        )  # fmt: skip
        m.CeMcpHttpTool.objects.create(
            tool=tool, connection_name="orders", url_template="/orders/{{ order }}", method="GET",
            param_schema={"type": "object", "properties": {"order": {"type": "string"}}},
        )  # fmt: skip
