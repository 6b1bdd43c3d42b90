"""Reading past turns as a QA person does: by mouse with the manual's pictures, by keyboard, and without a script."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import no_violations, violations
from tests.browser.conftest import SCREENS, Server, Visitor
from tests.browser.pictures import picture

pytestmark = pytest.mark.browser
SAID = ("Hello", "cancel my order", "48392", "no", "how long does the delivery take", "my cvv is 123")
RTL = "مرحبا، أريد إلغاء طلبي من فضلك"
LONG = "x" * 600


@pytest.fixture(scope="module")
def conversation(server: Server) -> str:
    """A conversation with a form, a refusal, a block, a word without end and one from right to left."""
    key = server.say(SAID[0])["conversationId"]
    for text in (*SAID[1:], RTL, LONG):
        server.say(text, key)
    return str(key)


@pytest.fixture
def quinn(somebody: Callable[[], Visitor]) -> Visitor:
    return somebody().log_in("qa")


def timeline(conversation: str) -> str:
    return f"/admin/audit/ceaudit/{conversation}/timeline/"


def test_how_sure_the_phrases_were_is_opened_word_by_word(server: Server, somebody: Callable[[], Visitor]) -> None:
    key = server.say("where has my order gone to")["conversationId"]
    ada = somebody().log_in("admin").at(390, "dark")

    page = ada.go(f"/admin/audit/ceaudit/{key}/turn/1/").page
    details = page.locator("details[data-part=words]")
    expect(details.get_by_role("table")).to_have_count(0)
    details.locator("summary").focus()
    page.keyboard.press("Enter")

    expect(details.get_by_role("row").filter(has_text="Track an order")).to_contain_text("where is my order")
    expect(details.get_by_role("table").last).to_contain_text("points")
    expect(details).to_contain_text("What to do")
    no_violations(page)
    assert ada.fits
    with page.expect_navigation():
        details.get_by_role("link", name="Teach this message").click()
    expect(page.locator("#phrase-1")).to_have_value("where has my order gone to")


def test_from_a_timeline_to_the_reason_and_to_the_row_as_it_was(
    server: Server, somebody: Callable[[], Visitor], quinn: Visitor
) -> None:
    key = server.say(SAID[0])["conversationId"]
    for text in SAID[1:]:
        server.say(text, key)
    edit_answer(somebody().log_in("analyst"), "two to four working days", "one to nine working days")
    server.say("how long does the delivery take", key)
    tab = quinn.tab
    tab.set_viewport_size({"width": 1360, "height": 850})

    quinn.go(timeline(key))
    card = tab.locator("#turn-2")
    expect(card).to_contain_text("GREETING / Idle → Cancel an order / Collect")
    picture(tab, "reading/timeline")
    card.get_by_text("What happened").click()
    told = card.locator(".ce-account")
    expect(told).to_contain_text(
        re.compile(
            r"Recognised the intent “Cancel an order”, because the message is the phrase “.+” "
            r"\(phrase (“.+”|\d+) ce_intent_classifier \d+"
        )
    )
    expect(told).to_contain_text(re.compile(r"Still missing in form “.+” ce_output_schema \d+: order number"))
    picture(tab, "reading/opened", told)
    no_violations(tab)

    card.get_by_role("link", name="Turn 2", exact=True).click()
    decisions = tab.get_by_role("region", name="Decisions").locator("details.ce-decision")
    decision = decisions.filter(has=tab.get_by_text("Intent", exact=True))
    decision.locator("summary").first.click()
    expect(decision.locator(".ce-won")).to_contain_text("chosen")
    picture(tab, "reading/decision", decision)
    tab.get_by_text("Filter this turn").click()
    tab.get_by_label("Part").select_option("RULE")
    with tab.expect_navigation():
        tab.get_by_role("button", name="Filter", exact=True).click()
    events = tab.locator(".ce-events tbody tr")
    first = events.first
    expect(first).to_contain_text("RULE_")
    first.get_by_role("link").click()
    expect(tab.locator(".ce-opened")).to_contain_text("_meta")
    no_violations(tab)

    # The row that answered turn 5, which was edited since.
    quinn.go(f"/admin/audit/ceaudit/{key}/turn/5/")
    tab.locator(".ce-account").get_by_role("link", name=re.compile("^answer “")).click()
    expect(tab.get_by_text("changed since then")).to_be_visible()
    expect(tab.locator("del").first).to_be_visible()
    picture(tab, "reading/row")
    no_violations(tab)

    quinn.go(timeline(key))
    tab.get_by_role("link", name=re.compile("The configuration changed")).click()
    expect(tab.get_by_role("heading", name="What changed between turn 6 and turn 7")).to_be_visible()
    expect(tab.locator("ins").first).to_contain_text("one")
    picture(tab, "reading/between")
    no_violations(tab)

    quinn.go(timeline(key))
    for number in (5, 7):
        tab.get_by_label(f"Compare turn {number}", exact=True).check()
    tab.get_by_role("button", name="Compare the two selected turns").click()
    expect(tab.get_by_role("heading", name=re.compile(r"\d+ of \d+ steps are different"))).to_be_visible()
    expect(tab.get_by_role("row").filter(has_text="one to nine").first).to_be_visible()
    picture(tab, "reading/compare")
    no_violations(tab)


def edit_answer(analyst: Visitor, old: str, new: str) -> None:
    """An analyst changes what is answered."""
    analyst.open_response(old)
    text = analyst.page.locator("#id_exact_text")
    said = text.input_value()
    assert old in said
    text.fill(said.replace(old, new))
    analyst.save()


@SCREENS
def test_a_turn_is_opened_narrowed_and_left_by_keyboard(
    quinn: Visitor, conversation: str, width: int, scheme: str
) -> None:
    tab = quinn.at(width, scheme).page
    quinn.go(timeline(conversation))
    summary = tab.locator("#turn-3 summary").first
    tab.get_by_role("link", name="Turn 3", exact=True).focus()
    quinn.tab_to(summary)
    tab.keyboard.press("Enter")
    told = tab.locator("#turn-3 .ce-account")
    expect(told).to_contain_text("The user wrote “48392”")
    inside = tab.locator("#turn-3 .ce-in-turn")
    tab.locator("#turn-3").get_by_text("Filter this turn").click()
    inside.get_by_label("Text").fill("CONFIRM")
    tab.keyboard.press("Enter")
    expect(told.first).not_to_contain_text("The user wrote")
    expect(inside.get_by_label("Text")).to_be_focused()
    assert quinn.fits
    no_violations(tab)

    # As a turn looks that failed.
    tab.locator("#turn-1").evaluate("one => one.classList.add('ce-undone')")
    assert not violations(tab, "#turn-1")

    tab.get_by_label("Turn", exact=True).fill("6")
    with tab.expect_navigation():
        tab.keyboard.press("Enter")
    expect(tab.locator("#turn-6")).to_contain_text("Blocked by a policy")
    expect(tab.locator("#turn-7 .ce-user .ce-text")).to_have_css("direction", "rtl")
    assert quinn.fits
    tab.get_by_role("link", name="Turn 8", exact=True).focus()
    with tab.expect_navigation():
        tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="Turn 8", level=1)).to_be_visible()
    assert quinn.fits
    no_violations(tab)
    quinn.at(500, scheme)
    assert quinn.fits
    # The word without end also stands in the summary of the session.
    assert quinn.go(f"/admin/ce_sessions/ceconversation/{conversation}/change/").fits


@pytest.fixture
def plain(server: Server, browser: Browser) -> Iterator[Visitor]:
    """A member of the quality assurance whose browser runs no script."""
    visitor = Visitor(server, browser.new_context(java_script_enabled=False).new_page())
    yield visitor.log_in("qa")
    visitor.page.context.close()
    assert visitor.troubles == []


def test_everything_is_reached_without_a_script(plain: Visitor, conversation: str) -> None:
    tab = plain.go(timeline(conversation)).page
    tab.locator("#turn-4 summary").click()
    tab.get_by_role("link", name="Open the page of turn 4").click()
    expect(tab.locator(".ce-account")).to_contain_text("The user wrote “no”")
    tab.locator(".ce-account .ce-seqs a").first.click()
    expect(tab.locator(".ce-opened")).to_contain_text("_meta")
    tab.get_by_text("Filter this turn").click()
    tab.get_by_label("Text", exact=True).fill("GUARDRAIL")
    tab.get_by_role("button", name="Filter", exact=True).click()
    expect(tab.get_by_role("heading", name=re.compile(r"Events: \d+ match"))).to_be_visible()
