"""Operators settle an execution in the admin; others see it at most."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from config_admin.models import CeRule
from config_admin.releases.change_set import change_set
from convengine.engine.turn.recording import Recording
from convengine.server.admin.once_only import settle_url
from convengine.server.confirmed_actions.run_once import Executions
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CePendingActionExecution
from tests.convengine.server.confirmed_actions.test_run_once import make_claim
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db


def member(group: str) -> Client:
    return sign_in(group, group)


@pytest.fixture
def pk() -> int:
    return Executions(Recording()).claim(make_claim()).execution_id


def page_of(pk: int) -> str:
    return reverse("admin:ce_sessions_cependingactionexecution_change", args=[pk])


def test_an_operator_is_led_there_settles_it_and_that_is_noted(pk: int) -> None:
    operator = member("operator")
    assert settle_url(pk) in operator.get(page_of(pk)).content.decode()
    assert "record the outcome" in operator.get(settle_url(pk)).content.decode()

    answer: Any = operator.post(settle_url(pk), {"ran": "yes", "result": '{"id": 7}', "reason": "The bank shows it."})

    row = CePendingActionExecution.objects.get()
    assert (answer["Location"], row.status, row.result_json["values"]) == (page_of(pk), "EXECUTED", [{"id": 7}])
    assert row.result_json["settled"]["by"] == "operator"
    entry = LogEntry.objects.get()
    assert (entry.object_id, entry.user.username) == (str(pk), "operator")
    assert "EXECUTED: The bank shows it." in entry.change_message
    page = operator.get(page_of(pk)).content.decode()
    assert settle_url(pk) not in page
    assert "The bank shows it." in page


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"ran": "yes"}, "Explain how you know"),
        ({"reason": "x"}, "Choose whether it ran."),
        ({"ran": "yes", "reason": "x", "result": "R-17"}, "The result is not valid JSON"),
        ({"ran": "no", "reason": "x", "result": "7"}, "An action that did not run has no result"),
    ],
)
def test_what_is_not_said_or_wrong_settles_nothing(pk: int, sent: dict[str, str], message: str) -> None:
    page = member("operator").post(settle_url(pk), sent)

    assert message in page.content.decode()
    assert CePendingActionExecution.objects.get().status == "CLAIMED"


def test_one_that_has_its_end_is_refused_with_a_text(pk: int) -> None:
    CePendingActionExecution.objects.update(status="FAILED")

    page = member("operator").post(settle_url(pk), {"ran": "yes", "reason": "Seen."})

    assert "is already recorded" in page.content.decode()


def test_readers_see_it_and_settle_nothing(pk: int) -> None:
    reader = member("qa")

    assert settle_url(pk) not in reader.get(page_of(pk)).content.decode()
    assert reader.post(settle_url(pk), {"ran": "yes", "reason": "Seen."}).status_code == 403
    assert CePendingActionExecution.objects.get().status == "CLAIMED"


def test_the_task_of_a_rule_is_listed_and_decided_by_the_name_of_its_rule() -> None:
    pays: Any = {
        "phase": "PRE_RESPONSE_RESOLUTION", "intent_code": "PAY", "state_code": "ANY", "rule_type": "EXACT",
        "match_pattern": "ANY", "action": "SET_TASK", "action_value": "bank:pay",
    }  # fmt: skip
    with change_set(reason="a rule that pays"):
        rule = CeRule.objects.create(**pays, description="pay the bill")
    configuration().current()
    claim = make_claim(action_key=f"rule:{rule.pk}", action_ref="bank:pay")
    pk = Executions(Recording()).claim(claim).execution_id
    operator = member("operator")

    listed = operator.get(f"{reverse('admin:ce_sessions_cependingactionexecution_changelist')}?status__exact=CLAIMED")
    form = operator.get(settle_url(pk)).content.decode()

    assert "Rule “pay the bill”" in listed.content.decode()
    assert "Record the outcome of rule “pay the bill”" in form
    assert "the rule reports success" in form
    with change_set(reason="another rule"):
        rule.delete()
        # Not the rows of before: a release of an earlier test, which was rolled back, may have the number and the rows.
        CeRule.objects.create(**pays, description="pay another bill")
    configuration().current()
    assert f"Rule {claim.action_key.removeprefix('rule:')}" in operator.get(page_of(pk)).content.decode()


def test_what_there_is_not_is_not_found() -> None:
    assert member("operator").get(settle_url(4711)).status_code == 404
