"""The gate: a draft is published when its tests passed on exactly this state, or when somebody overrides it."""

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client

from config_admin import models as m
from config_admin.drafts.conditions import PublicationRefused
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.releases.change_set import change_set
from config_admin.test_cases.gate import judge_gate
from convengine.engine.errors import DraftRequired
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def draft() -> m.CeDraft:
    """A draft that changes the hours, below a gate with a test of them."""
    create_help_desk()
    make_test("Hours are told", {"user": "hours", "expect": {"response": {"contains": "five"}}}, tags=("smoke",))
    make_test("Of no gate", {"user": "hours", "expect": {"intent": "NONE"}}, tags=("other",))
    with change_set():
        m.CeConfig.objects.create(config_type="Releases", config_key="GATE", config_value="Smoke")
    draft = m.CeDraft.objects.create(title="Closed")
    change_hours(draft, "Nine to six.")
    return draft


def change_hours(draft: m.CeDraft, text: str) -> None:
    with open_draft(draft.pk, "ben", writing=True), change_set():
        m.CeResponse.objects.filter(intent_code="HOURS", state_code="IDLE").update(exact_text=text)


def test_the_gate_holds_until_its_tests_pass_on_exactly_this_state(draft: m.CeDraft) -> None:
    name = f"draft:{draft.pk}"
    with pytest.raises(PublicationRefused, match="1 test has no result on this state of the draft"):
        publish_draft(draft.pk)
    run_tests(name)
    with pytest.raises(PublicationRefused, match="1 test fails on this draft: “Hours are told”"):
        publish_draft(draft.pk)
    change_hours(draft, "Ten to five.")
    with pytest.raises(PublicationRefused, match="no result"):
        publish_draft(draft.pk)
    run_tests(name, tags=["smoke"])
    release = publish_draft(draft.pk)
    assert release.reason == "Closed"


def test_a_changed_test_has_to_run_again(draft: m.CeDraft) -> None:
    change_hours(draft, "Ten to five.")
    run = run_tests(f"draft:{draft.pk}")
    assert judge_gate(run.content_hash).is_open
    m.CeTestCase.objects.filter(name="hours-are-told").update(document_hash="other")
    assert not judge_gate(run.content_hash).is_open


def test_a_pass_of_another_version_of_the_product_does_not_open_the_gate(draft: m.CeDraft) -> None:
    change_hours(draft, "Ten to five.")
    run = run_tests(f"draft:{draft.pk}")
    m.CeTestRun.objects.update(engine_version="0.0.1")
    assert judge_gate(run.content_hash).missing == ["Hours are told"]
    run_tests(f"draft:{draft.pk}")
    assert judge_gate(run.content_hash).is_open


def test_a_gate_without_tests_is_closed(draft: m.CeDraft) -> None:
    m.CeTestCaseTag.objects.filter(tag="smoke").delete()
    with pytest.raises(PublicationRefused, match="no test has it"):
        publish_draft(draft.pk)


def test_overriding_needs_a_right_and_is_recorded_on_the_release(draft: m.CeDraft) -> None:
    run_tests(f"draft:{draft.pk}")
    ben, ada = User.objects.create_user("ben2"), User.objects.create_user("ada2")
    ben.groups.set(Group.objects.filter(name="analyst"))
    ada.groups.set(Group.objects.filter(name="config_admin"))
    with pytest.raises(PublicationRefused, match="You may not publish a draft although"):
        publish_draft(draft.pk, ben, override="it is urgent")
    release = publish_draft(draft.pk, ada, "agreed", override="it is urgent")
    assert release.reason == "Closed: agreed (gate overridden, 0 of 1 tests passed: it is urgent)"


def test_while_a_gate_is_set_a_change_needs_a_draft(draft: m.CeDraft) -> None:
    with pytest.raises(DraftRequired), change_set("ADMIN"):
        m.CeResponse.objects.filter(intent_code="FEES").update(exact_text="Some.")


def test_the_pages_of_the_draft_show_the_gate_and_ask_for_the_reason(
    draft: m.CeDraft, ada: Client, ben: Client
) -> None:
    page = f"/admin/config_admin/cedraft/{draft.pk}"
    not_run = ben.get(f"{page}/publish/").content
    assert (b"See the failing tests" in not_run, b"Run the tests</a>" in not_run) == (False, True)
    run = run_tests(f"draft:{draft.pk}")
    shown = ada.get(f"{page}/change/").content
    assert b"The gate is closed" in shown
    assert shown.count(b"1 test fails on this draft") == 1
    refused = ben.get(f"{page}/publish/").content
    assert b"1 test fails on this draft" in refused
    assert b'name="override"' not in refused
    form = ada.get(f"{page}/publish/")
    for content in (refused, form.content):
        assert f'href="/admin/config_admin/cetestrun/{run.pk}/change/">See the failing tests'.encode() in content
        assert f"?configuration=draft%3A{draft.pk}&amp;tag=smoke".encode() in content
    assert b"Publish anyway" in form.content
    live = dict(form.context["question"].inputs)["live"]
    ada.post(f"{page}/publish/", {"live": live, "reason": "x"})
    draft.refresh_from_db()
    assert draft.status == "OPEN"
    ada.post(f"{page}/publish/", {"live": live, "reason": "x", "override": "urgent"})
    draft.refresh_from_db()
    assert draft.status == "PUBLISHED"
    assert "gate overridden" in m.CeRelease.objects.get(pk=draft.config_version).reason


def test_the_command_publishes_anyway_with_a_reason(draft: m.CeDraft, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("draft", "publish", "Closed", "--json")
    call_command("draft", "publish", "Closed", "--json", "--override-gate", "urgent")
    assert '"published": true' in capsys.readouterr().out.lower().replace('":t', '": t')
