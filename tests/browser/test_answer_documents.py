"""A handbook is imported in a real browser, looked through by its sections, and answers at once."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor
from tests.browser.test_chat import Chat

pytestmark = pytest.mark.browser
ROOMS = "\n\n".join(f"## Room {number}\n\nRoom {number} has {number} chairs and a lamp." for number in range(1, 300))


def switch_off(ada: Visitor, title: str) -> None:
    """No other test gets answers from a document."""
    ada.bring({"ce_answer_document": [{"title": title, "enabled": False}]})


@SCREENS
def test_a_handbook_is_imported_and_answers_at_once(
    somebody: Callable[[], Visitor], ada: Visitor, width: int, scheme: str
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page = ben.go("/admin/config_admin/ceanswerdocument/import/").page
    no_violations(page)
    assert ben.fits
    attic = f"## Bats in the {scheme} attic\n\nThe bats sleep until dusk. Never wake the {scheme} bats."
    text = f"# House\n\n{attic}\n\n{ROOMS}"
    page.locator("#id_file").set_input_files(
        {"name": f"{scheme} {width}.md", "mimeType": "text/markdown", "buffer": text.encode()}
    )
    page.get_by_label("Reason for this change").fill("our handbook")
    with page.expect_navigation():
        page.get_by_role("button", name="Import", exact=True).press("Enter")
    expect(page.locator("body")).to_contain_text("has 300 sections")
    expect(page.get_by_role("heading", name="300 sections")).to_be_visible()
    expect(page.locator("#ce-progress-bar")).to_have_count(0, timeout=60_000)
    no_violations(page)
    assert ben.fits

    page.get_by_label("What a user writes").fill(f"may I wake the bats in the {scheme} attic?")
    with page.expect_navigation():
        page.get_by_role("button", name="Find", exact=True).press("Enter")
    expect(page.get_by_role("status")).to_contain_text(f"Never wake the {scheme} bats.")
    no_violations(page)
    page.get_by_label("Switch off Room 1", exact=True).check()
    page.get_by_label("Reason for this change").fill("closed")
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).press("Enter")
    expect(page.get_by_label("Switch off Room 1", exact=True)).to_be_checked()

    ben.go("/admin/audit/ceaudit/simulate/")
    ben.say(f"may I wake the bats in the {scheme} attic?")
    expect(page.locator("#last")).to_contain_text(f"Never wake the {scheme} bats.")
    switch_off(ada, f"{scheme} {width}")


FISH = """# Aquarium

## Feeding the fish

Feed the fish twice a day, and only what they eat in two minutes.

## Feeding the fish in your holidays

While you are away, a neighbour or our service feeds the fish every second day.

## Cleaning the tank

Change a third of the water of the fish every week.
"""


def test_a_message_is_asked_as_of_the_section_that_helped(somebody: Callable[[], Visitor], ada: Visitor) -> None:
    """Cards in the chat, a click, the group of the inbox, the section."""
    ben = somebody().log_in("analyst").at(390, "light")
    page = ben.go("/admin/config_admin/ceanswerdocument/import/").page
    page.locator("#id_file").set_input_files({"name": "Fish.md", "mimeType": "text/markdown", "buffer": FISH.encode()})
    page.get_by_label("Reason for this change").fill("our fish")
    with page.expect_navigation():
        page.get_by_role("button", name="Import", exact=True).press("Enter")
    expect(page.locator("body")).to_contain_text("“Fish” has 3 sections")

    chat = Chat(ben).open()
    count = chat.answers.count()
    chat.field.fill("how much food do my fish get?")
    chat.field.press("Enter")
    expect(chat.page.locator(".cards")).to_have_count(count + 1)
    no_violations(chat.page)
    assert ben.fits
    boxes = chat.page.locator(".card")
    second = boxes.nth(1).get_by_role("button")
    title = boxes.nth(1).locator("strong").inner_text().split(" › ")[-1]
    with chat.page.expect_response(lambda response: response.url.endswith("/feedback") and response.ok):
        second.press("Enter")
    expect(second).to_have_attribute("aria-pressed", "true")

    ben.server.manage("jobs", "--once", "update_inbox")
    page = ben.go("/admin/audit/ceaudit/inbox/?kind=OTHER_SECTION").page
    no_violations(page)
    with page.expect_navigation():
        page.get_by_role("link", name="This section answers it").first.press("Enter")
    box = page.get_by_label(f"Questions that {title} answers, one in a line")
    expect(box).to_have_value("how much food do my fish get?")
    no_violations(page)
    assert ben.fits
    ben.give_reason()
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).press("Enter")
    expect(page.locator("#main")).to_contain_text("No open groups")
    switch_off(ada, "Fish")
