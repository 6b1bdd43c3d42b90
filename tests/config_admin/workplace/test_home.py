"""The first page: what needs attention, what people changed, what was talked about, at a fixed price."""

import re
import uuid
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.health.check import check_all
from config_admin.health.stored_findings import store_findings
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from config_admin.snapshot.active import snapshots
from config_admin.validation.world import World
from convengine.engine.rules.row_names import name_row
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.config_admin.admin.pages import a_response
from tests.config_admin.builders import make, rules

pytestmark = pytest.mark.django_db


def page(client: Client) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", client.get("/admin/").content.decode()))


def turns(count: int, **values: object) -> None:
    for number in range(count):
        conversation = CeConversation.objects.create(
            intent_code="LOAN", state_code=f"S{number}", remote_jid=str(uuid.uuid4())
        )
        CeConversationHistory.objects.create(conversation=conversation, turn_no=1, config_version=1, **values)


def test_the_newest_changes_of_people_are_told_and_upgrades_are_not(ada: Client) -> None:
    with change_set(Origin.ADMIN, "ben", "Softer words"):
        make(m.CeIntent)

    shown = page(ada)

    assert "Softer words" in shown
    assert "Installation or upgrade" not in shown


def test_changes_past_the_application_are_among_them(ada: Client) -> None:
    make(m.CeIntent)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_intent SET priority = 3 WHERE intent_code = 'LOAN'")

    assert "Direct database change" in page(ada)


def test_conversations_are_told_with_where_they_stand(ada: Client, somebody: Callable[..., Client]) -> None:
    assert "There are no conversations yet." in page(ada)
    turns(2)

    assert "LOAN / S1" in page(ada)
    assert "Latest conversations" not in page(somebody("olga", "operator"))


def check() -> None:
    """The health check, as the job and the page do it."""
    snapshot = snapshots.current()
    store_findings(check_all(snapshot, World()), snapshot)


def test_a_sound_installation_says_so_once_it_is_checked(ada: Client) -> None:
    assert "This configuration was not checked yet." in page(ada)
    check()

    assert "Nothing needs attention" in page(ada)


def test_findings_are_shown_newest_first_with_their_age_and_without_accepted_ones(ada: Client) -> None:
    with change_set():
        make(m.CeIntent)
        make(m.CeResponse, intent_code="LOAN", state_code="NOWHERE")
    check()
    with change_set():
        make(m.CeRule, action="SET_STATE", action_value="LATER", match_pattern="go")
    newest = snapshots.current().config_version
    assert f"Release {newest} was not checked yet. The findings are those of release {newest - 1}." in page(ada)
    check()
    shown = page(ada)

    assert "Nothing needs attention" not in shown
    assert shown.index(f"since release {newest}") < shown.index(f"since release {newest - 1}")
    assert re.search(r"(Breaks|Surprises|Hint) New Rule \d+ · ", shown)

    for finding in m.CeHealthFinding.objects.all():
        m.CeHealthAcknowledgement.objects.create(
            pk=finding.fingerprint, code=finding.code, reason="fine", made_by="ada"
        )
    assert "Nothing needs attention" in page(ada)


def test_rows_that_no_turn_can_use_are_told_with_the_reason(ada: Client) -> None:
    make(m.CeIntent)
    rule = make(m.CeRule, rule_type="REGEX", match_pattern="(")
    make(m.CeRule, rule_type="REGEX", match_pattern="(", enabled=False)

    shown = page(ada)

    assert f"Rule {rule.pk} · {name_row('ce_rule', rule)} : It is invalid, so no turn uses it" in shown
    assert shown.count("It is invalid, so no turn uses it") == 1


def test_a_setting_that_cannot_be_read_is_told(ada: Client) -> None:
    make(m.CeConfig, config_type="RulesStep", config_key="MAX_PASSES", config_value="many")

    assert "Setting “Maximum passes of a phase” : Its value must be a whole number from 1 to 20." in page(ada)


def test_rows_of_a_missing_intent_are_counted_but_not_of_one_that_is_off(ada: Client) -> None:
    make(m.CeIntent, enabled=False)
    make(m.CeRule)
    make(m.CeRule)
    a_response(intent_code="GONE")

    shown = page(ada)

    assert "Intent LOAN :" not in shown
    assert "Intent GONE : 1 enabled row is not used, because the intent does not exist." in shown


def test_a_missing_fallback_is_told_first(ada: Client) -> None:
    m.CeResponse.objects.all().delete()

    assert "No answer is enabled for messages that are not recognised" in page(ada)


def test_failed_turns_are_told(ada: Client) -> None:
    turns(1, status="FAILED", error_code="LLM_TIMEOUT")

    assert "failed with LLM_TIMEOUT" in page(ada)


def test_the_first_steps_are_there_until_somebody_has_changed_something(somebody: Callable[..., Client]) -> None:
    ben = somebody("ben", "analyst")
    assert "First steps" in page(ben)
    with change_set(Origin.ADMIN, "ben", "My first intent"):
        make(m.CeIntent)

    assert "First steps" not in page(ben)
    assert "First steps" not in page(somebody("quentin", "qa"))


def test_many_concerns_are_cut(ada: Client) -> None:
    with change_set():
        for _ in range(20):
            make(m.CeRule, intent_code="ANY", rule_type="REGEX", match_pattern="(")

    shown = page(ada)

    assert shown.count("It is invalid, so no turn uses it") == 12
    assert "There are more." in shown


def test_five_thousand_rules_cost_as_many_queries_as_ten(ada: Client) -> None:
    def queries() -> int:
        ada.get("/admin/")
        with CaptureQueriesContext(connection) as captured:
            assert ada.get("/admin/").status_code == 200
        return len(captured)

    with change_set():
        m.CeRule.objects.bulk_create(rules(10))
    turns(3)
    few = queries()
    with change_set():
        m.CeRule.objects.bulk_create(rules(4990))
    turns(30)

    assert queries() == few
    assert few <= 16
