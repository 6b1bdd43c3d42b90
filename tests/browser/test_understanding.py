"""Tests › Understanding: measured by keyboard, read on each screen, and the phrase that is confused opened."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
ADDRESS = "/admin/config_admin/cetestcase/understanding/"
PHRASES = ("what does sending a parcel cost", "the cost of sending parcels", "how much is sending a parcel")
#: What is measured: a message that shares its words with phrases of another intent, and a value of a field.
MESSAGES = """message,intent,values.orderNumber
what is the cost of sending parcels,CANCEL_ORDER,
cancel order 48392,CANCEL_ORDER,48392
"""


def bring_phrases(ada: Visitor) -> None:
    """Give an intent some phrases that the measured message is near to."""
    row = {"intent_code": "PARCELS", "state_code": "IDLE", "rule_type": "PHRASE"}
    phrases = [{**row, "classifier_id": 9300 + number, "pattern": text} for number, text in enumerate(PHRASES)]
    intent = {"intent_code": "PARCELS", "description": "Somebody asks what a parcel costs."}
    ada.bring({"ce_intent": [intent], "ce_intent_classifier": phrases})


@SCREENS
def test_a_confusion_is_found_and_its_phrase_opened(ada: Visitor, width: int, scheme: str) -> None:
    bring_phrases(ada)
    page = ada.at(width, scheme).go(ADDRESS).page
    no_violations(page)
    file = {"name": "said.csv", "mimeType": "text/csv", "buffer": MESSAGES.encode()}
    page.get_by_label("File of messages").set_input_files(files=[file])  # type: ignore[list-item]
    page.get_by_role("button", name="Measure").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    ada.wait_for_job()

    expect(page.get_by_role("region", name="Confusions")).to_contain_text("taken for Parcels")
    expect(page.get_by_role("region", name="Values of fields")).to_contain_text("orderNumber")
    no_violations(page)
    assert ada.fits
    page.get_by_role("link", name="taken for Parcels: 1").press("Enter")
    expect(page.get_by_role("heading", name="taken for Parcels")).to_be_visible()
    no_violations(page)
    page.get_by_role("region", name="taken for Parcels").get_by_role(
        "link", name=re.compile("parcels?( cost)?$")
    ).press("Enter")
    expect(page.locator("#id_pattern")).to_have_value(re.compile("|".join(PHRASES)))


def test_a_phone_shows_everything_within_its_width(ada: Visitor) -> None:
    page = ada.at(390, "dark").go(ADDRESS).page
    with page.expect_navigation():
        page.get_by_role("button", name="Measure").click()
    ada.wait_for_job()

    expect(page.get_by_role("heading", name="By intent")).to_be_visible()
    assert ada.fits
    no_violations(page)
