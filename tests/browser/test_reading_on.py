"""A turn of the record as somebody of QA goes on with it: watched live, run again, rated, taken along as a test."""

import uuid
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Server, Visitor
from tests.browser.pictures import picture

pytestmark = [pytest.mark.browser, pytest.mark.long]


@SCREENS
def test_a_timeline_follows_its_conversation_and_loses_nothing_while_nobody_looks(
    ada: Visitor, server: Server, width: int, scheme: str
) -> None:
    conversation, tab = str(uuid.uuid4()), ada.tab
    server.say("Hello", conversation)
    ada.at(width, scheme).go(f"/admin/audit/ceaudit/{conversation}/timeline/")
    expect(tab.get_by_text("Live", exact=True)).to_be_visible()
    field = tab.get_by_label("Turn", exact=True)
    field.focus()

    server.say("cancel my order", conversation)

    expect(tab.locator("#turn-2")).to_contain_text("cancel my order")
    expect(tab.locator("[data-said]")).to_have_text("Turn 2 was added.")
    expect(tab.locator("[data-runs]")).to_be_hidden()
    # The heading goes along.
    expect(tab.locator("[data-live-head]")).to_contain_text("Intent “Cancel an order”")
    expect(tab.locator("[data-turn-numbers]")).to_have_text("2 turns")
    expect(field).to_be_focused()
    # The computer sleeps, the conversation goes on, and somebody comes back.
    tab.evaluate("dispatchEvent(new Event('pagehide'))")
    for text in ("12345", "yes"):
        server.say(text, conversation)
    tab.evaluate("dispatchEvent(new Event('pageshow'))")
    expect(tab.locator("#turn-4")).to_contain_text("yes")
    expect(tab.locator("#ce-turns [id^=turn-]")).to_have_count(4)
    expect(tab.locator("[data-turn-numbers]")).to_have_text("4 turns")
    if width > 1000:
        picture(tab, "reading/live", tab.locator("#ce-live"))
    assert ada.fits
    no_violations(tab)


@SCREENS
def test_a_turn_is_run_again_rated_and_taken_along(
    ada: Visitor, server: Server, tmp_path: Path, width: int, scheme: str
) -> None:
    conversation, tab = str(uuid.uuid4()), ada.tab
    for text in ("Hello", "cancel my order"):
        server.say(text, conversation)
    ada.at(width, scheme).go(f"/admin/audit/ceaudit/{conversation}/timeline/")

    tab.get_by_role("link", name="Replay").click()
    expect(tab.get_by_role("status")).to_contain_text("2 of 2 turns have the same events.")
    assert ada.fits
    no_violations(tab)
    tab.get_by_role("link", name="Turn 2").click()
    expect(tab.get_by_text("same result", exact=True)).to_be_visible()
    assert ada.fits
    no_violations(tab)

    ada.go(f"/admin/audit/ceaudit/{conversation}/turn/2/")
    tab.get_by_label("Comment").fill("It should know the number.")
    tab.get_by_label("Better answer").fill("Which of your two orders?")
    tab.get_by_role("button", name="Bad answer").click()
    expect(tab.get_by_text("Your feedback is saved.")).to_be_visible()
    expect(tab.get_by_role("region", name="Feedback")).to_contain_text("Better answer: Which of your two orders?")
    if width > 1000:
        picture(tab, "reading/feedback", tab.locator("#feedback"))
    no_violations(tab)
    # The server plays the file before the download.
    with tab.expect_download(timeout=90_000) as coming:
        tab.get_by_role("link", name="Save as a scenario file").click(timeout=90_000)
    document = yaml.safe_load(Path(coming.value.path()).read_text())
    assert document["turns"][0]["user"] == "cancel my order"
    ada.go("/admin/audit/cemcpuserfeedback/")
    expect(tab.get_by_role("row").nth(1)).to_contain_text("It should know the number.")
    assert ada.fits
    no_violations(tab)
