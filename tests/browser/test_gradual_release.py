"""A draft is published for one channel first, counted beside the others, and stopped by its guard."""

import os
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import ROOT, SCREENS, Server, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]

#: A draft without a phrase: on its side nothing is understood any more.
_DRAFT = """
from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.releases.change_set import change_set
draft = m.CeDraft.objects.create(title="{title}")
with open_draft(draft.pk, None, writing=True), change_set():
    m.CeIntentClassifier.objects.update(enabled=False)
print("draft", draft.pk)
"""
#: A draft that removes an intent. Of one that is switched off, conversations finish.
_REMOVAL = """
from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.releases.change_set import change_set
draft = m.CeDraft.objects.create(title="{title}")
with open_draft(draft.pk, None, writing=True), change_set():
    m.CeIntent.objects.filter(intent_code="ORDER_STATUS").delete()
print("draft", draft.pk)
"""


@pytest.fixture
def ada(ada: Visitor, width: int, scheme: str) -> Visitor:
    ada.tab.set_viewport_size({"width": width, "height": 900})
    ada.tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    return ada


def manage(server: Server, *arguments: str) -> str:
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    environment = {**server.environment, "CE_DEBUG": "true"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def check_page(visitor: Visitor, name: str) -> None:
    """Hold the open page to what every page promises."""
    if folder := os.environ.get("SHOTS"):
        visitor.page.screenshot(path=f"{folder}/{name}-{visitor.page.viewport_size['width']}.png", full_page=True)
    no_violations(visitor.page)
    assert visitor.fits


@SCREENS
def test_a_gradual_release_is_stopped_by_its_guard(server: Server, ada: Visitor, width: int, scheme: str) -> None:
    number = manage(server, "shell", "-c", _DRAFT.format(title=f"No phrases {width}")).rpartition("draft ")[2].strip()
    ada.go(f"/admin/config_admin/cedraft/{number}/publish/")
    ada.page.get_by_role("radio", name="A part of the conversations first").check()
    ada.page.get_by_text("Choose the part and a guard").click()
    check_page(ada, "publish")
    ada.page.get_by_label("Channels").fill("whatsapp")
    ada.page.get_by_label("Guard").select_option("NOT_UNDERSTOOD")
    ada.page.get_by_label("Worse by more than").fill("20")
    ada.page.get_by_label("After this many turns").fill("3")
    ada.page.get_by_label("Reason for this change").fill("fewer phrases")
    with ada.page.expect_navigation():
        ada.page.get_by_role("button", name="Publish", exact=True).click()
    expect(ada.page.locator("#main")).to_contain_text("Both sides since the start")

    for participant in ("ann", "ben", "cleo"):
        server.say_as(f"{participant}{width}", "Where is my order?")
        server.say("Where is my order?")
    ada.page.get_by_role("link", name="Refresh").click()
    row = ada.page.get_by_role("row", name="Not understood")
    expect(row).to_contain_text("3 (100.0 %)")
    check_page(ada, "running")
    ada.go("/admin/")
    expect(ada.page.locator("#main")).to_contain_text("is given to everybody on whatsapp")
    check_page(ada, "home")

    manage(server, "jobs", "--once", "guard_release")
    ada.go("/admin/")
    expect(ada.page.locator("#main")).to_contain_text("was stopped by its guard")
    with ada.page.expect_navigation():
        ada.page.get_by_role("link", name="See both sides").first.click()
    expect(ada.page.locator("#main")).to_contain_text("Not understood: 100.0 % of 3 turns")
    check_page(ada, "stopped")
    ada.go("/admin/config_admin/cegradualrelease/")
    check_page(ada, "list")


@SCREENS
def test_the_draft_says_where_open_conversations_go_on(server: Server, ada: Visitor, width: int, scheme: str) -> None:
    server.say("Where is my order?")
    number = manage(server, "shell", "-c", _REMOVAL.format(title=f"No orders {width}")).rpartition("draft ")[2].strip()
    ada.go(f"/admin/config_admin/cedraft/{number}/change/")
    expect(ada.page.locator("#main")).to_contain_text("leaves without an answer")
    ada.page.get_by_label("Intent").first.select_option("UNKNOWN")
    with ada.page.expect_navigation():
        ada.page.get_by_role("button", name="Save").first.click()
    expect(ada.page.get_by_label("Intent").first).to_have_value("UNKNOWN")
    check_page(ada, "moves")
