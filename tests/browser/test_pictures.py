"""The pages of the manual's chapters, as somebody sees them who works there: the manual shows their pictures."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Visitor
from tests.browser.test_health import finding, open_finished_check, with_rival

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "static" / "docs" / "pages"
#: `CE_WRITE_MANUAL=true` takes the pictures of the manual anew.
WRITES = os.environ.get("CE_WRITE_MANUAL") == "true"


def take_picture(page: Page, name: str, chapter: str, shows: Locator | None = None) -> None:
    """Take the picture of the page with `shows` in sight; the chapter shows it."""
    if shows is not None:
        shows.scroll_into_view_if_needed()
    picture, found = PICTURES / f"{name}.jpg", page.screenshot(type="jpeg", quality=60)
    if WRITES:
        PICTURES.mkdir(parents=True, exist_ok=True)
        picture.write_bytes(found)
    assert picture.stat().st_size > 5_000
    assert f"](../static/docs/pages/{name}.jpg)" in (ROOT / "docs" / f"{chapter}.md").read_text()


@pytest.mark.long
def test_every_page_of_a_chapter_has_its_picture(somebody: Callable[[], Visitor]) -> None:
    ada = somebody().log_in()
    page = ada.tab
    page.set_viewport_size({"width": 1360, "height": 900})
    ada.go("/admin/config_admin/ceintent/CANCEL_ORDER/map/")
    page.get_by_role("button", name="COLLECT to CONFIRM").press("Enter")
    expect(page.locator(".ce-map-details")).to_contain_text("set state to CONFIRM")
    page.locator(".ce-map").evaluate("map => map.scrollIntoView({ block: 'start' })")
    take_picture(page, "map", "authoring")
    ada.go("/admin/config_admin/ceintent/map/?states=1")
    take_picture(page, "all-states", "authoring")

    ada.go("/admin/config_admin/ceintent/start/")
    page.get_by_label("Collect and confirm").check()
    for words in ("Borrow a book", "BORROW", "Somebody wants a book.", "borrow a book"):
        page.keyboard.press("Tab")
        page.keyboard.type(words)
    page.get_by_role("textbox", name="Field", exact=True).fill("the book")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="This will be created")).to_be_visible()
    take_picture(page, "start", "authoring", page.get_by_role("button", name="Create"))

    ada.open_response("ask for the next field")
    page.get_by_role("button", name="Try before saving").click()
    for text in ("where is my order", "the last one"):
        ada.say(text)
    take_picture(page, "simulator", "authoring", page.get_by_label("Your message"))

    policy = {"policy_id": 9200, "rule_type": "CONTAINS", "pattern": "sort code", "response_text": "No bank details."}
    ada.look_at({"ce_policy": [policy, {**policy, "policy_id": 9201, "rule_type": "REGEX", "pattern": "("}]})
    take_picture(page, "import", "transfer")

    with_rival(ada, enabled=True)
    open_finished_check(ada).get_by_role("link", name="Rules contradict each other").click()
    finding(page).locator("summary").click()
    take_picture(page, "health", "health", finding(page))
    with_rival(ada, enabled=False)


@pytest.mark.long
def test_drafts_tests_and_what_if_have_their_pictures(somebody: Callable[[], Visitor], server: Server) -> None:
    """A draft is made, scheduled, tested and compared; it is discarded at the end."""
    for lines in (("hi", "thanks"), ("thanks", "cancel my order", "48392"), ("hello", "thanks")):
        conversation = None
        for line in lines:
            conversation = server.say(line, conversation)["conversationId"]
    ada = somebody().log_in()
    page = ada.tab
    page.set_viewport_size({"width": 1360, "height": 900})
    ada.go("/admin/config_admin/cedraft/add/")
    page.get_by_label("Title").fill("Christmas hours")
    page.get_by_label("Description").fill("We close on 24 December.")
    ada.save()
    draft = page.url.rstrip("/").rpartition("/change")[0].rpartition("/")[2]
    ada.open_response("You are welcome!")
    page.locator("#id_exact_text").fill("My pleasure!")
    page.get_by_label("Reason for this change").fill("Friendlier")
    ada.save()
    ada.go(f"/admin/config_admin/cedraft/{draft}/schedule/")
    page.get_by_label("Publish at").fill("2030-12-24T08:00")
    page.get_by_label("Take back at").fill("2030-12-27T08:00")
    page.get_by_role("radio", name="A part of the conversations first").check()
    page.get_by_text("Choose the part and a guard").click()
    page.get_by_label("Share of the participants").fill("10")
    take_picture(page, "schedule", "drafts")
    with page.expect_navigation():
        page.get_by_role("button", name="Schedule", exact=True).click()
    take_picture(page, "draft", "drafts")

    ada.go(f"/admin/config_admin/cetestcase/run/?configuration=draft:{draft}")
    with page.expect_navigation():
        page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#main")).to_contain_text("Run again", timeout=60_000)
    take_picture(page, "test-run", "tests")
    ada.go("/admin/config_admin/ceintent/CANCEL_ORDER/map/?tests=1")
    expect(page.locator(".ce-drawn")).to_be_visible()
    take_picture(page, "map-tests", "tests")

    ada.go(f"/admin/audit/ceaudit/what-if/?configuration=draft:{draft}")
    with page.expect_navigation():
        page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("link", name="Run again", exact=True)).to_be_visible(timeout=60_000)
    take_picture(page, "what-if", "tests")
    ada.go(f"/admin/config_admin/cedraft/{draft}/discard/")
    with page.expect_navigation():
        page.get_by_role("button", name="Discard", exact=True).click()


@pytest.mark.long
def test_an_evaluation_has_its_picture(ada: Visitor) -> None:
    page = ada.tab
    page.set_viewport_size({"width": 1360, "height": 900})
    ada.go("/admin/config_admin/cetestcase/understanding/")
    with page.expect_navigation():
        page.get_by_role("button", name="Measure").click()
    ada.wait_for_job()
    expect(page.get_by_role("heading", name="Confusions")).to_be_visible()
    take_picture(page, "understanding", "evaluate")
