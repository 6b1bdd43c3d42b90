"""Reports and the inbox: a number is followed to its turns by keyboard, an unknown message becomes a phrase."""

import re
import struct
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Server, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]

#: With and without suggestions.
_ANY_INTENT = re.compile("(Another|Choose an) intent")


@SCREENS
def test_a_number_leads_to_its_turns(server: Server, ada: Visitor, width: int, scheme: str) -> None:
    for text in ("Hello", "a windmill, please", "where is my order", "a windmill, please"):
        server.say(text)
    server.count_turns()
    ada.at(width, scheme).go("/admin/audit/ceaudit/reports/")
    page = ada.page
    expect(page.get_by_role("img", name="Turns by day")).to_be_visible()
    no_violations(page)
    assert ada.fits

    number = page.locator(".ce-figures a").nth(1)
    turns = int(number.inner_text())
    number.focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("#main")).to_contain_text(f"{turns} on this page")


@pytest.mark.parametrize("page_name", ["", "times/"])
def test_a_chart_is_saved_as_picture_and_drawing(server: Server, ada: Visitor, page_name: str) -> None:
    server.say("Hello")
    server.count_turns()
    page = ada.go(f"/admin/audit/ceaudit/reports/{page_name}").page
    button = page.get_by_role("button", name="PNG").first
    button.focus()
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    picture = saved.value.path().read_bytes()
    assert saved.value.suggested_filename.endswith(".png")
    assert picture.startswith(b"\x89PNG")
    # Twice the size of the drawing: 960 wide, 240 high and its head.
    assert struct.unpack(">II", picture[16:24]) == (1920, 568)
    assert len(set(picture)) > 100
    with page.expect_download() as saved:
        page.get_by_role("link", name="SVG").first.click()
    drawing = ElementTree.fromstring(saved.value.path().read_text())
    assert (drawing.get("width"), drawing.get("height")) == ("960", "284")


@SCREENS
@pytest.mark.parametrize("name", ["not-understood", "times", "models", "ratings", "forms", "rows"])
def test_each_page_of_the_reports_can_be_read(server: Server, ada: Visitor, width: int, scheme: str, name: str) -> None:
    for text in ("Hello", "a windmill, please", "where is my order"):
        server.say(text)
    server.count_turns()
    page = ada.at(width, scheme).go(f"/admin/audit/ceaudit/reports/{name}/?days=30").page
    charts, tables = page.get_by_role("img").count(), page.locator("#main table").count()
    assert tables >= min(charts, 1)
    no_violations(page)
    assert ada.fits


@SCREENS
def test_an_unknown_message_becomes_a_phrase(server: Server, ada: Visitor, width: int, scheme: str) -> None:
    wish = {"light": "Knit a scarf for my hamster", "dark": "Tune the strings of a violin"}[scheme]
    for text in (wish, f"{wish}s!", "can I pay by cheque"):
        server.say(text)
    server.manage("jobs", "--once", "update_inbox")
    page = ada.at(width, scheme).go("/admin/audit/ceaudit/inbox/").page
    group = page.get_by_role("region", name=f"{wish}s!")
    expect(group).to_contain_text("2 messages")
    no_violations(page)
    assert ada.fits

    with page.expect_navigation():
        group.get_by_role("link", name=_ANY_INTENT).click()
    expect(page.get_by_label("Wording 1", exact=True)).to_have_value(f"{wish}s!")
    no_violations(page)
    assert ada.fits
    page.go_back()
    group.get_by_role("button", name="Dismiss").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("#main")).to_contain_text("The group is dismissed.")
    expect(group).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("path", "column"),
    [
        ("/admin/", "Effect in the last 14 days"),
        ("/admin/audit/ceaudit/reports/", "Not understood"),
        ("/admin/audit/ceaudit/find/", "Outcome"),
    ],
)
def test_on_a_phone_no_column_of_a_table_is_hidden(
    server: Server, ada: Visitor, path: str, column: str, scheme: str
) -> None:
    server.say("where is my order")
    server.count_turns()
    page = ada.at(390, scheme).go(path).page
    table = page.locator(".ce-stack").first
    cell = table.locator(f"[data-column^='{column}']").first
    expect(cell).to_be_visible()
    box = cell.bounding_box()
    assert box
    assert box["x"] + box["width"] <= 390
    assert table.get_by_role("row").count() > 0
    assert table.evaluate("table => table.parentElement.scrollWidth <= table.parentElement.clientWidth + 1")
    no_violations(page)
    assert ada.fits
    ada.at(1440, scheme)
    expect(page.locator(".ce-stack")).to_have_count(0)


def run_inbox(server: Server, *texts: str) -> None:
    for text in texts:
        server.say(text)
    server.manage("jobs", "--once", "update_inbox")


def test_an_unknown_message_is_a_phrase_after_four_clicks(server: Server, ada: Visitor) -> None:
    """Home, the inbox, an intent, what it would change, saved."""
    run_inbox(server, *["give me a slot at the hairdresser"] * 3, "a slot for a haircut")
    page = ada.at(1440, "light").go("/admin/").page
    clicks = [
        page.locator("#main").get_by_role("link", name=re.compile("in the inbox$")),
        page.get_by_role("region", name="slot").first.locator(".ce-teach a").first,
        page.get_by_role("button", name="Save", exact=True),
    ]
    for click in clicks:
        with page.expect_navigation():
            click.click()
        no_violations(page)
    expect(page.locator("#main")).to_contain_text("saved.")
    assert page.url.endswith("/inbox/")


@pytest.mark.parametrize("text", ["a juggling licence", "what do hedgehogs eat"])
def test_teaching_from_home_takes_four_clicks_with_any_intent(server: Server, ada: Visitor, text: str) -> None:
    """Home, an intent of the list, what it would change, saved."""
    run_inbox(server, *[text] * 12)
    page = ada.at(390, "light").go("/admin/").page
    with page.expect_navigation():
        page.locator(".ce-teach-first").get_by_role("link", name=text).click()
    no_violations(page)
    assert ada.fits
    option = page.locator("#all-intents option").first.get_attribute("value") or ""
    # Choosing an entry of the list is one click; a browser driven by a program can only type it.
    page.get_by_label("Search all intents").fill(option)
    for name in ("Try", "Save"):
        with page.expect_navigation():
            page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator("#main")).to_contain_text("saved.")


def test_a_new_flow_takes_the_messages_of_a_group_along(server: Server, ada: Visitor) -> None:
    run_inbox(server, "tune a trombone", "tune a trombone", "tune a trombone now")
    page = ada.at(390, "dark").go("/admin/audit/ceaudit/inbox/").page
    group = page.get_by_role("region", name="tune a trombone")
    expect(group).to_contain_text("so none is suggested")
    group.get_by_text("How near it is to each intent").click()
    expect(group).to_contain_text("What to do")
    no_violations(page)
    assert ada.fits
    with page.expect_navigation():
        group.get_by_role("link", name="New flow “Tune trombone”").click()
    expect(page.locator("#id_title")).to_have_value("Tune trombone")
    for width, scheme in ((390, "dark"), (1360, "light")):
        ada.at(width, scheme)
        page.get_by_role("button", name="Compare with other phrases").click()
        compared = page.locator("#compared-result")
        expect(compared).to_be_focused()
        expect(compared).to_contain_text("was decided on without itself")
        no_violations(page)
        assert ada.fits
    expect(page.locator("#id_phrases")).to_have_value(re.compile("tune a trombone"))


def test_a_message_is_taught_by_keyboard(server: Server, ada: Visitor) -> None:
    run_inbox(server, *["is there a playground"] * 3)
    page = ada.at(768, "dark").go("/admin/audit/ceaudit/inbox/").page
    link = page.get_by_role("region", name="is there a playground").get_by_role("link", name=_ANY_INTENT)
    link.focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.get_by_label("Search all intents").focus()
    page.keyboard.type(page.locator("#all-intents option").first.get_attribute("value") or "")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    heading = page.get_by_role("heading", name="would change")
    expect(heading).to_be_focused()
    no_violations(page)
    assert ada.fits
    page.get_by_role("button", name="Save", exact=True).focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("#main")).to_contain_text("saved.")
