"""The first page: what needs attention, what people changed, what was talked about, at a fixed price."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime

from audit.models import CeAlert
from config_admin import models as m
from config_admin.editing.links import undo_url
from config_admin.health.check import check_all
from config_admin.health.stored_findings import store_findings
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from config_admin.releases.undo import revert_release
from config_admin.validation.world import World
from convengine.engine.rules.row_names import name_row
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.audit.reports.counts import blame_releases, count, count_turns
from tests.config_admin.admin.pages import a_response, address, form_of, sent_by
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


def count_week(turns: int, not_understood: int, *, days: int, release: int, failed: int = 0) -> None:
    """The counts of an hour, as the job makes them."""
    rows = (("TURN", "OK", turns - failed), ("TURN", "FAILED", failed), ("STAGE", "NOT_UNDERSTOOD", not_understood))
    for kind, value, number in rows:
        count(kind, value, number, days=days, release=release, intent="LOAN")


def test_what_got_worse_is_said_with_its_release_and_what_to_do(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    blame_releases(monkeypatch)
    with change_set(Origin.ADMIN, "ben", "Softer words") as change:
        make(m.CeIntent)
    assert change.release
    number = change.release.pk
    count_week(300, 20, days=9, release=number - 1)
    count_week(300, 80, days=2, release=number)

    shown = page(ada)

    assert "Nothing needs attention" not in shown
    assert "26.7 % of the turns of the last seven days were not understood, after 6.7 %" in shown
    made = date_format(localtime(change.release.created_at), "l j F, H:i")
    assert (
        f"It got worse with release {number} of {made}, by ben, “Softer words”: in the last 14 days 6.7 % before "
        f"and 26.7 % since. Of 20 such messages, 20 go wrong on release {number} but not before it. "
        "It changed: Intent LOAN" in shown
    )
    assert "Worse: not understood 6.7 % → 26.7 %" in shown
    first = ada.get("/admin/").context["next_step"]
    assert [link.label for link in first.links] == [f"See the effect of release {number}", "Take it back"]
    for link in first.links:
        assert ada.get(link.url).status_code == 200

    revert_release(number)

    assert "but not before it. What it changed is taken back by now." in page(ada)
    assert "Take it back" not in page(ada)
    assert ada.get("/admin/").context["next_step"] != first


def test_releases_that_are_judged_together_are_taken_back_only_when_all_are(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    blame_releases(monkeypatch)
    numbers = []
    for code in ("LOAN", "CARD"):
        with change_set(Origin.ADMIN, "ben", "Softer words") as change:
            make(m.CeIntent, intent_code=code, display_name=code.title())
        assert change.release
        numbers.append(change.release.pk)
    first, last = numbers
    count_week(300, 20, days=9, release=first - 1)
    count_week(1, 0, days=3, release=first)
    count_week(300, 80, days=2, release=last)
    revert_release(last)

    shown = page(ada)
    assert f"It got worse with releases {first} to {last}" in shown
    assert "taken back by now" not in shown
    assert undo_url(first) in [link.url for link in ada.get("/admin/").context["next_step"].links]

    revert_release(first)
    assert "What it changed is taken back by now." in page(ada)


def test_an_edit_that_moved_messages_is_named_with_its_row(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    blame_releases(monkeypatch)
    with change_set(Origin.ADMIN, "ana", "Two flows"):
        for code in ("LOAN", "CARD"):
            make(m.CeIntent, intent_code=code, display_name=code.title())
    with change_set(Origin.ADMIN, "ben", "Softer words") as change:
        m.CeIntentClassifier.objects.create(
            intent_code="CARD", state_code="IDLE", rule_type="PHRASE", pattern="money", description="money"
        )
    assert change.release
    number = change.release.pk
    for release, days, loans in ((number - 1, 9, 200), (number, 2, 80)):
        count("TURN", "OK", loans, days=days, release=release, intent="LOAN")
        count("TURN", "OK", 300 - loans, days=days, release=release, intent="CARD")

    shown = page(ada)

    assert f"Messages of the last 14 days have other intents since release {number} of" in shown
    assert "More messages: Card (33.3 % → 73.3 % of the turns). Fewer messages: Loan (66.7 % → 26.7 %" in shown
    assert re.search(r"It changed: Phrase \d+ · money \(added\)", shown)
    assert "Messages moved between intents: Card, Loan" in shown
    assert f"See the effect of release {number}" in shown


def test_a_high_rate_needs_attention_though_it_was_always_so(ada: Client) -> None:
    check()
    for days in (9, 2):
        count_week(100, 27, days=days, release=1)

    assert "Nothing needs attention" not in page(ada)
    assert "27.0 % of the turns of the last seven days were not understood" in page(ada)


def test_who_may_not_read_conversations_sees_no_numbers(somebody: Callable[..., Client]) -> None:
    count_week(100, 27, days=2, release=1)

    assert "The last seven days" not in page(somebody("olga", "operator"))


def test_what_to_teach_first_is_said_with_the_message_and_the_reading_is_logged(ada: Client) -> None:
    turns(1, user_input="do you open on sunday")
    leader = CeConversationHistory.objects.get().pk
    groups, log = apps.get_model("audit.CeInboxGroup").objects, apps.get_model("audit.CeAccessLog").objects
    now = timezone.now()
    groups.create(fingerprint="1", leader=leader, messages=7, wordings=2, this_week=5, first_at=now, last_at=now)

    assert "“do you open on sunday”: 7 messages like this were not understood, 5 of them in the last" in page(ada)
    assert log.filter(reader="ada", path="/admin/").exists()


def test_what_to_teach_first_leads_to_the_page_that_teaches_it(ada: Client, somebody: Callable[..., Client]) -> None:
    turns(1, user_input="do you open on sunday")
    leader, now = CeConversationHistory.objects.get().pk, timezone.now()
    group = apps.get_model("audit.CeInboxGroup").objects.create(
        fingerprint="1", leader=leader, messages=7, wordings=2, this_week=5, first_at=now, last_at=now
    )
    address = f"{reverse('admin:config_admin_ceintentclassifier_teach')}?group={group.pk}"

    assert ada.get("/admin/").content.decode().count(f'href="{address}"') == 2
    assert ada.get(address).status_code == 200
    assert address not in somebody("quentin", "qa").get("/admin/").content.decode()


def test_failing_tests_of_what_is_live_are_said_and_a_good_run_ends_it(ada: Client) -> None:
    run = {"configuration": "live", "configuration_title": "Live", "status": "DONE", "created_at": timezone.now()}
    m.CeTestRun.objects.create(**run, total=30, passed=28, failed=2)
    m.CeTestRun.objects.create(**{**run, "configuration": "draft:1"}, total=30, passed=0, failed=30)
    assert "2 of 30 tests failed on what is live" in page(ada)
    m.CeTestRun.objects.create(**run, total=30, passed=30, failed=0)
    assert "failed on what is live" not in page(ada)


def check() -> None:
    """The health check, as the job and the page do it."""
    snapshot = snapshots.current()
    store_findings(check_all(snapshot, World()), snapshot)


def test_a_sound_installation_says_so_once_it_is_checked(ada: Client) -> None:
    assert "This configuration was not checked yet." in page(ada)
    check()

    assert "Nothing needs attention" in page(ada)


def test_nothing_needs_attention_only_if_everything_was_understood(ada: Client) -> None:
    check()
    count_turns(5, 2, days=1, release=1)

    shown = page(ada)

    assert "Nothing needs attention" not in shown
    assert "The health check has no open findings" in shown


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
    assert re.search(r"New · (Breaks|Unexpected effect|Hint) Rule \d+ · ", shown)

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
    count_week(1000, 0, days=2, release=1, failed=3)

    assert "3 turns failed in the last seven days. See these turns" in page(ada)


def test_one_step_comes_first(somebody: Callable[..., Client], ada: Client) -> None:
    ben = somebody("ben", "analyst")
    response = ben.get("/admin/")
    assert [step.label for step in response.context["first_steps"] if step.is_next] == ["Start a flow"]
    assert response.context["next_step"] is None
    assert response.content.decode().count("ce-button-main") == 1
    make(m.CeRule, rule_type="REGEX", match_pattern="(")
    response = ben.get("/admin/")
    assert response.context["next_step"].badge == "Wrong"
    assert response.content.decode().count("ce-button-main") == 1


def list_steps(client: Client) -> dict[str, bool]:
    return {step.label: step.is_done for step in client.get("/admin/").context["first_steps"]}


def open_step(client: Client, label: str) -> Any:
    (url,) = (step.url for step in client.get("/admin/").context["first_steps"] if step.label == label)
    return client.get(url, follow=True)


STEPS = ("Talk to the bot", "Ask why", "Change an answer", "Undo your change", "Start a flow")


def test_first_steps_are_checked_off_one_by_one(somebody: Callable[..., Client]) -> None:
    ben = somebody("ben", "analyst")
    assert [*list_steps(ben)] == ["Start a flow", *STEPS[:-1]]
    with change_set(Origin.ADMIN, "ana", "Her intent"):
        make(m.CeIntent)
    assert list_steps(ben) == dict.fromkeys(STEPS, False)

    assert open_step(ben, "Ask why").request["PATH_INFO"] == "/admin/ce_sessions/ceconversation/"
    page_of_try = open_step(ben, "Talk to the bot").request["PATH_INFO"]
    turns(1)
    assert list_steps(ben) == dict.fromkeys(STEPS, False)
    ben.post(page_of_try, {"try-message": "hello", "try-send": "1"})
    assert open_step(ben, "Ask why").request["PATH_INFO"].endswith("/turn/1/")
    with change_set(Origin.ADMIN, "ben", "My answer") as change:
        answer = make(m.CeResponse)
    assert [step for step, is_done in list_steps(ben).items() if not is_done] == ["Undo your change", "Start a flow"]
    assert change.release
    assert f"/admin/config_admin/cerelease/{change.release.pk}/change/" in ben.get("/admin/").content.decode()

    with change_set(Origin.REVERT, "ben", "Not that way"):
        answer.delete()
    with change_set(Origin.ADMIN, "ben", "My first intent"):
        make(m.CeIntent, intent_code="SECOND")
    assert all(list_steps(ben).values())
    assert "Done." in page(ben)


def test_a_conversation_on_the_page_is_a_trial_whichever_way_somebody_came(somebody: Callable[..., Client]) -> None:
    ben = somebody("ben", "analyst")
    turns(1)
    assert not list_steps(ben)["Talk to the bot"]
    with change_set(Origin.ADMIN, "ben", "My first intent"):
        make(m.CeIntent)
    turns(1)
    assert list_steps(ben)["Talk to the bot"]


def test_a_step_is_done_whichever_way_somebody_came_and_stays_done(somebody: Callable[..., Client]) -> None:
    def list_done(client: Client) -> list[str]:
        return [step for step, is_done in list_steps(client).items() if is_done]

    turns(1)
    turn, audit = f"{CeConversation.objects.get().pk}/turn/1/", "/admin/audit/ceaudit/"
    trier, chatter, reader, other = (somebody(name, "analyst") for name in ("a", "b", "c", "d"))

    trier.get(f"{audit}simulate/")
    trier.post(f"{audit}simulate/", {"try-message": "", "try-send": "1"})
    assert list_done(trier) == []
    row = make(m.CeResponse, intent_code="UNKNOWN")
    form = sent_by(form_of(trier.get(address(m.CeResponse, "change", row.pk))), _pk=str(row.pk), exact_text="Hm?")
    trier.post(address(m.CeResponse, "simulate_of_form"), {**form, "try-message": "hi", "try-send": "1"})
    chatter.get(f"{audit}{turn}?part=account")
    reader.get(f"{audit}{turn}?part=details")

    assert [list_done(client) for client in (trier, chatter, reader, other)] == [
        ["Talk to the bot"], ["Talk to the bot", "Ask why"], ["Ask why"], []
    ]  # fmt: skip
    trier.logout()
    trier.force_login(User.objects.get(username="a"))
    assert list_done(trier) == ["Talk to the bot"]


def test_each_person_hides_the_first_steps_for_good(somebody: Callable[..., Client]) -> None:
    ben, bella = somebody("ben", "analyst"), somebody("bella", "analyst")
    ben.post("/admin/first-steps/hide/")

    assert "First steps" not in page(ben)
    assert "First steps" in page(bella)
    assert "First steps" not in page(somebody("quentin", "qa"))


def test_many_concerns_are_cut(ada: Client) -> None:
    with change_set():
        for _ in range(20):
            make(m.CeRule, intent_code="ANY", rule_type="REGEX", match_pattern="(")

    shown = page(ada)

    assert shown.count("It is invalid, so no turn uses it") == 12
    assert "There are more." in shown


def test_five_hundred_rules_cost_as_many_queries_as_ten(ada: Client) -> None:
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
        m.CeRule.objects.bulk_create(rules(490))
    turns(30)

    assert queries() == few
    assert few <= 15


def test_operators_see_alerts_and_readers_without_the_right_do_not() -> None:
    now = timezone.now()
    CeAlert.objects.create(
        title="Nobody understands", sentence="Not understood over 15 %", measure="not_understood", bound=15,
        started_at=now, first_value=20, worst_value=20, value=20, turns=100, since=now, until=now,
    )  # fmt: skip
    operator, reader = (User.objects.create_user(name, is_staff=True) for name in ("olga", "rita"))
    operator.groups.add(Group.objects.get(name="operator"))
    reader.user_permissions.add(Permission.objects.get(codename="view_ceconversationhistory"))
    shown = []
    for user in (operator, reader):
        client = Client()
        client.force_login(user)
        shown.append("Nobody understands" in page(client))
    assert shown == [True, False]
