"""An import says which open conversations could not go on, and looks at a bounded number of them."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.transfer import stranded
from config_admin.transfer.document import ImportMode
from config_admin.transfer.import_plan import plan_import
from config_admin.transfer.import_report import describe_plan, serialize_plan
from convengine.server.sessions.models import CeConversation
from tests.config_admin.builders import make
from tests.config_admin.transfer.conftest import document

pytestmark = pytest.mark.django_db
ANSWER = {"output_format": "TEXT", "response_type": "EXACT", "exact_text": "Yes?"}


@pytest.fixture
def loan() -> None:
    """An intent with two states and their answers."""
    with change_set(reason="a loan"):
        m.CeResponse.objects.all().delete()
        make(m.CeIntent, intent_code="LOAN")
        make(m.CeRule, rule_id=5, intent_code="LOAN", state_code="ANY", action="SET_STATE", action_value="COLLECT")
        for state in ("COLLECT", "UNKNOWN"):
            make(m.CeResponse, intent_code="LOAN", state_code=state, **ANSWER)
        make(m.CeResponse, intent_code="UNKNOWN", state_code="UNKNOWN", **ANSWER)


def open_conversations(count: int, state: str = "COLLECT", lifecycle: str = "RUNNING") -> None:
    for _ in range(count):
        made = CeConversation(intent_code="LOAN", state_code=state, lifecycle=lifecycle, channel="web")
        made.remote_jid = str(made.conversation_id)
        made.save()


def find(**tables: Any) -> list[tuple[str, str, int, str]]:
    return [each[:4] for each in plan_import(document(ImportMode.REPLACE, **tables)).stranded]


@pytest.mark.usefixtures("loan")
def test_conversations_of_an_intent_that_goes_are_counted() -> None:
    open_conversations(2)
    open_conversations(1, "UNKNOWN")
    open_conversations(1, lifecycle="COMPLETE")
    gone = "the intent is deleted."
    assert find(ce_intent=[]) == [("LOAN", "COLLECT", 2, gone), ("LOAN", "UNKNOWN", 1, gone)]
    # Who is in an intent that is switched off finishes.
    assert find(ce_intent=[{"intent_code": "LOAN", "description": "x", "enabled": False}]) == []


@pytest.mark.usefixtures("loan")
def test_conversations_in_a_state_without_an_answer_or_a_way_to_it_are_counted() -> None:
    open_conversations(1)
    rest = [{"intent_code": "LOAN", "state_code": "UNKNOWN", **ANSWER}]
    assert find(ce_response=rest) == [("LOAN", "COLLECT", 1, "the state has no answer.")]
    assert find(ce_rule=[]) == [("LOAN", "COLLECT", 1, "nothing leads to the state any more.")]
    assert find(ce_response=[*rest, {"intent_code": "LOAN", "state_code": "ANY", **ANSWER}]) == []


@pytest.mark.usefixtures("loan")
def test_the_report_names_them() -> None:
    open_conversations(7)
    plan = plan_import(document(ImportMode.REPLACE, ce_rule=[]))
    line = "7 open conversations at intent LOAN, state COLLECT: nothing leads to the state any more."
    assert f"  {line}" in list(describe_plan(plan))
    [each] = serialize_plan(plan)["stranded"]
    assert (each["conversations"], len(each["examples"])) == (7, 5)


@pytest.mark.usefixtures("loan")
def test_only_the_newest_conversations_are_looked_at_in_one_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stranded, "NEWEST", 3)
    open_conversations(5)
    with CaptureQueriesContext(connection) as queries:
        assert find(ce_intent=[])[0][2] == 3
    assert sum('"ce_conversation"' in query["sql"] for query in queries) == 1
