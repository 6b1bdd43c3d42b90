"""Reading sessions by keyboard, wide and narrow: from a thread to a session, its turns and its neighbours."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Server, Visitor

pytestmark = pytest.mark.browser
PARTICIPANT = "+491705550123"
#: More turns than one look shows.
TURNS = 53


@pytest.fixture(scope="module")
def session_id(server: Server) -> str:
    """A thread with two sessions; gives the second, in which a value of a form was changed again and again."""
    server.say_as(PARTICIPANT, "Hello")
    server.say_as(PARTICIPANT, "reset")
    server.say_as(PARTICIPANT, "move my electricity")
    for number in range(TURNS - 3):
        server.say_as(PARTICIPANT, f"no, my meter number is 8765432{number % 2}")
    answer = server.say_as(PARTICIPANT, "well")
    assert answer["session"]["turn_count"] == TURNS
    return str(answer["session_id"])


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (768, "dark")])
def test_from_a_participant_to_the_oldest_turn_by_keyboard(
    ada: Visitor, session_id: str, width: int, scheme: str
) -> None:
    tab = ada.tab
    tab.set_viewport_size({"width": width, "height": 900})
    tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    ada.go("/admin/ce_sessions/cethread/")
    tab.get_by_placeholder("Part of a name or number").fill(PARTICIPANT)
    with tab.expect_navigation():
        tab.keyboard.press("Enter")
    follow(ada, PARTICIPANT)
    sessions = tab.get_by_role("row").filter(has=tab.get_by_role("rowheader"))
    expect(sessions).to_have_count(2)
    expect(sessions.last).to_contain_text("the user wants to start over")
    assert ada.fits
    follow(ada, session_id[:8])

    assert "Waiting for an answer to" in ada.text
    line = tab.locator(".ce-moves li")
    expect(line.last).to_contain_text("Awaiting the user")
    expect(line.last).to_contain_text(f"turn {TURNS}")
    expect(tab.get_by_role("region", name="Session units")).to_contain_text("87654321")
    expect(tab.get_by_role("region", name="Summary")).to_contain_text(str(TURNS))
    turns = tab.locator(".ce-turns tbody tr")
    expect(turns).to_have_count(50)
    assert ada.fits
    summary = tab.locator("details.ce-card > summary")
    summary.focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("Persistent parameters")).to_be_visible()
    assert ada.fits

    follow(ada, "Older »")
    expect(turns).to_have_count(TURNS - 50)
    expect(line.first).to_contain_text("the conversation started")
    follow(ada, "« Newest")
    expect(turns).to_have_count(50)


@pytest.mark.long
def test_a_turn_leads_to_the_rows_that_decided_it_and_a_session_to_the_one_before(
    ada: Visitor, session_id: str
) -> None:
    ada.go(f"/admin/ce_sessions/ceconversation/{session_id}/change/?before=3")
    with ada.page.expect_navigation():
        ada.page.locator(".ce-turns small a").first.click()
    expect(ada.page.get_by_label("Reason for this change")).to_be_visible()

    ada.go(f"/admin/ce_sessions/ceconversation/{session_id}/change/")
    with ada.page.expect_navigation():
        ada.page.locator("dd a").nth(1).click()
    expect(ada.page.locator(".ce-moves li").last).to_contain_text("the user wants to start over")
    expect(ada.page.locator("dd a").last).to_have_text(session_id)


def follow(visitor: Visitor, name: str) -> None:
    """Follow a link by keyboard."""
    visitor.page.get_by_role("link", name=name).first.focus()
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Enter")
