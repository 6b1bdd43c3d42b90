"""On a telephone, nothing on the pages of drafts, tests, what-if and the simulator hangs over the edge."""

import os
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import ROOT, Server, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.nightly]
WIDTH = 390
#: A draft in every state at once, with a long title; a failed schedule; many tests, and a run on the draft.
_WORLD = """
from datetime import timedelta
from django.contrib.auth import get_user_model
from django.utils import timezone
from config_admin import models as m
from config_admin.drafts.models import ReviewKind
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.review import add_comment, judge_draft, send_for_review
from config_admin.drafts.schedule import run_schedules, schedule_draft
from config_admin.releases.change_set import change_set
from config_admin.test_cases.documents import store_test
from config_admin.test_cases.runs import SelectedTests, create_run, test_runs
from convengine.server.interfaces.configuration import ConfigurationName
users = get_user_model().objects
analyst, qa = users.get(username="analyst"), users.get(username="qa")
title = "Christmas opening hours and everything around the holidays: answers, rules and a policy"
draft = m.CeDraft.objects.create(title=title, description="We close early.", created_by="analyst")
with open_draft(draft.pk, analyst, "Ticket 9", writing=True), change_set():
    m.CeRule.objects.filter(pk=7).update(description="A rule in the draft")
    m.CeRule.objects.filter(pk=8).update(description="Another rule in the draft")
    m.CeIntent.objects.filter(intent_code="ORDER_STATUS").update(enabled=False)
schedule_draft(draft.pk, analyst, timezone.now() + timedelta(hours=1))
with change_set():
    m.CeRule.objects.filter(pk=7).update(description="A live rule, edited meanwhile")
m.CeDraftSchedule.objects.filter(draft=draft).update(publish_at=timezone.now())
list(run_schedules())
send_for_review(draft.pk, analyst, ["qa"], "", "Please look at the texts.")
add_comment(draft.pk, qa, "Is this still true?", ("ce_rule", "8"))
judge_draft(draft.pk, qa, ReviewKind.RETURNED, "Please correct the second rule.")
for number in range(60):
    expect = {"response": {"contains": "nine in the morning"}}
    full = {"title": f"Test {number} of opening hours", "turns": [{"user": "Hi", "expect": expect}]}
    store_test({**full, "covers": ["phone"]}, editor="qa", folder="desk/greetings/and/everything")
run = create_run(ConfigurationName("draft", draft.pk), SelectedTests(tags=["phone"]), "qa")
test_runs.run(run.pk)
print("made", draft.pk, run.pk, run.results.first().pk, m.CeTestCase.objects.latest("pk").pk)
"""


def make_world(server: Server) -> list[str]:
    command = [sys.executable, str(ROOT / "manage.py"), "shell", "-c", _WORLD]
    environment = {**server.environment, "CE_DEBUG": "true"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.rpartition("made ")[2].split()


def check_page(visitor: Visitor, name: str) -> None:
    if folder := os.environ.get("SHOTS"):
        visitor.page.screenshot(path=f"{folder}/phone-{name}.png", full_page=True)
    assert visitor.fits, f"{name} is wider than the screen"
    no_violations(visitor.page)


def test_pages_of_drafts_and_tests_fit_a_telephone(server: Server, ada: Visitor) -> None:
    server.say("Where is my order?")
    draft, run, result, case = make_world(server)
    ada.at(WIDTH, "light")
    rows, record = "/admin/config_admin", "/admin/audit/ceaudit"
    pages = {
        "draft": f"{rows}/cedraft/{draft}/change/",
        "drafts": f"{rows}/cedraft/",
        "publish": f"{rows}/cedraft/{draft}/publish/",
        "schedule": f"{rows}/cedraft/{draft}/schedule/",
        "tests": f"{rows}/cetestcase/",
        "test": f"{rows}/cetestcase/{case}/change/",
        "new-test": f"{rows}/cetestcase/add/",
        "choose": f"{rows}/cetestcase/run/",
        "coverage": f"{rows}/cetestcase/coverage/",
        "runs": f"{rows}/cetestrun/",
        "run": f"{rows}/cetestrun/{run}/change/",
        "result": f"{rows}/cetestrun/{run}/results/{result}/",
        "what-if": f"{record}/what-if/",
        "simulator": f"{record}/simulate/?on=draft:{draft}",
        "gradual": f"{rows}/cegradualrelease/",
        "home": "/admin/",
    }
    for name, address in pages.items():
        ada.go(address)
        check_page(ada, name)

    ada.go(pages["draft"])
    ada.page.get_by_role("button", name="Work in this draft").click()
    for name in ("draft", "tests", "what-if", "simulator"):
        ada.go(pages[name])
        check_page(ada, f"{name}-in-it")
    ada.go(f"{rows}/cerule/8/change/")
    # The row is as the draft has it: nobody saved it meanwhile.
    expect(ada.page.locator("#id_description")).to_have_value("Another rule in the draft")
    check_page(ada, "form-in-it")
    ada.page.get_by_role("button", name="Try before saving").click()
    ada.page.locator("#sim_message").fill("Where is my order?")
    ada.page.keyboard.press("Enter")
    expect(ada.page.locator("[data-sim-answer]")).to_have_count(1)
    check_page(ada, "drawer-in-it")
    # The next sign-in of this person would go on in it.
    ada.go("/admin/").page.get_by_role("complementary", name="Draft").get_by_role("button", name="Leave").click()
    expect(ada.page.get_by_role("complementary", name="Draft")).to_have_count(0)
