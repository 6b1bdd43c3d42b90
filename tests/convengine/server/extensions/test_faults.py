"""An exception of an extension is logged with its traceback, and shown on the turn's page to who may see it."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import structlog
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone
from structlog.testing import LogCapture

from audit.addresses import turn_url
from config_admin.models import CeIntent, CeIntentClassifier, CeResponse, CeRule
from convengine.engine.pipeline.engine import Engine
from convengine.engine.pipeline.hooks import Hooks, StepHook
from convengine.engine.rules import vocabulary
from convengine.engine.rules.conditions import rule
from convengine.engine.rules.conditions.rule import rule_matcher
from convengine.engine.rules.vocabulary import rule_action
from convengine.play.stubs import ScriptedFailure
from convengine.server import wiring
from convengine.server.extensions.faults import collect_faults, report_fault
from convengine.server.extensions.registry import Registry, TaskEntry, Transformer
from convengine.server.sessions.models import CeExtensionFault
from convengine.server.sessions.old_turns import remove_short_lived
from tests.api import Caller

pytestmark = pytest.mark.django_db


def fail_at_the_till(*arguments: Any) -> Any:
    raise RuntimeError("The till is shut.")


class FailingHook(StepHook):
    def supports(self, step_name: str, session: Any) -> bool:
        return step_name == "PolicyEnforcementStep"

    def before_step(self, *arguments: Any) -> Any:
        fail_at_the_till()


@pytest.fixture
def shut(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A shop whose code fails wherever it is called."""
    monkeypatch.setattr(vocabulary, "_custom", {})
    monkeypatch.setattr(rule, "_custom", {})
    rule_action("RING_UP")(fail_at_the_till)
    rule_matcher("IS_SHUT")(fail_at_the_till)
    CeIntent.objects.create(intent_code="BUY")
    CeIntentClassifier.objects.create(intent_code="BUY", state_code="IDLE", rule_type="CONTAINS", pattern="buy")
    CeResponse.objects.create(intent_code="BUY", state_code="ANY", response_type="EXACT", exact_text="Thank you.")
    for priority, (kind, action, value) in enumerate(
        (("EXACT", "SET_TASK", "till:ring"), ("EXACT", "RING_UP", "1"), ("IS_SHUT", "SET_STATE", "SHUT"))
    ):
        CeRule.objects.create(
            phase="PRE_RESPONSE_RESOLUTION", intent_code="BUY", state_code="ANY", rule_type=kind,
            match_pattern="ANY", action=action, action_value=value, priority=priority,
        )  # fmt: skip
    own = Registry()
    own.add_task("till", TaskEntry({"ring": fail_at_the_till}))
    own.response_transformers["FINAL"].append(Transformer("Receipt", "ANY", "ANY", fail_at_the_till))
    monkeypatch.setattr(wiring, "engine", lambda: Engine(wiring.steps(), Hooks([FailingHook()])))
    with wiring.replace_outside_world(wiring.OutsideWorld(registry=own)):
        yield


@pytest.fixture
def logged() -> Iterator[LogCapture]:
    """What is logged, with the keys of the turn."""
    capture, before = LogCapture(), structlog.get_config()["processors"]
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, capture])
    yield capture
    structlog.configure(processors=before)


def sign_in(group: str) -> Client:
    user = User.objects.create_user(group, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    # Who reads a turn's page at all belongs to the quality assurance.
    user.groups.add(Group.objects.get(name="qa"))
    client = Client()
    client.force_login(user)
    return client


def test_each_exception_is_logged_and_stored_with_its_turn(shut: None, logged: LogCapture) -> None:
    caller = Caller()
    answer = caller.say("I want to buy it")

    assert (answer["success"], answer["payload"]["value"]) == (True, "Thank you.")
    expected = [
        ("HOOK", "FailingHook"), ("TASK", "till:ring"), ("RULE_ACTION", "RING_UP"), ("RULE_TYPE", "IS_SHUT"),
        ("TRANSFORMER", "Receipt"),
    ]  # fmt: skip
    lines = [line for line in logged.entries if line["event"] == "extension failed"]
    assert [(line["extension"], line["name"]) for line in lines] == expected
    assert {(line["conversation_id"], line["turn_no"]) for line in lines} == {(caller.conversation_id, 1)}
    assert all(isinstance(line["exc_info"], RuntimeError) for line in lines)
    faults = list(CeExtensionFault.objects.order_by("id"))
    assert [(fault.kind, fault.name) for fault in faults] == expected
    assert all("in fail_at_the_till" in fault.traceback and "The till is shut." in fault.message for fault in faults)


def test_the_page_of_the_turn_shows_tracebacks_to_who_may_see_them(shut: None) -> None:
    caller = Caller()
    caller.say("buy")
    url = turn_url(uuid.UUID(caller.conversation_id), 1)

    page = sign_in("config_admin").get(url).content.decode()

    assert "Exceptions in extensions" in page
    assert "<b>Task till:ring</b> raised RuntimeError" in page
    assert "in fail_at_the_till" in page
    assert "fail_at_the_till" not in sign_in("qa").get(url).content.decode()


def test_a_step_that_raises_is_reported_too(shut: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convengine.engine.steps.policy.step.PolicyEnforcementStep.execute", fail_at_the_till)

    assert Caller().say("buy")["errorCode"] == "INTERNAL_ERROR"
    assert "STEP" in CeExtensionFault.objects.values_list("kind", flat=True)


def test_tracebacks_are_removed_after_a_month(shut: None) -> None:
    Caller().say("buy")
    CeExtensionFault.objects.update(created_at=timezone.now() - timedelta(days=31))

    assert {"tracebacks": 5} in list(remove_short_lived())
    assert not CeExtensionFault.objects.exists()


def test_the_failure_of_a_stub_is_not_reported(logged: LogCapture) -> None:
    with collect_faults() as faults:
        report_fault("TASK", "till:ring", ScriptedFailure("The file says so."))

    assert (faults, logged.entries) == ([], [])


def test_without_a_turn_an_exception_is_only_logged(logged: LogCapture) -> None:
    report_fault("TOOL", "stock", ValueError("a\0b"))
    with collect_faults() as faults:
        report_fault("TOOL", "stock", ValueError("a\0b"))

    assert len(logged.entries) == 2
    assert [fault.message for fault in faults] == ["ab"]


def test_half_of_a_character_in_a_message_is_replaced() -> None:
    with collect_faults() as faults:
        report_fault("TASK", "till:ring", ValueError("/files/\udcff"))

    assert faults[0].message == "/files/?"
    faults[0].traceback.encode()
