"""A flow is switched off and on again by one click, while customers talk."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Server, Visitor

pytestmark = pytest.mark.browser
WISH = "I want to rent a tandem"
FLOW = {
    "code": "TANDEM",
    "title": "Rent a tandem",
    "kind": "collect",
    "phrases": [WISH],
    "fields": [
        {"name": "guest", "title": "Name", "type": "text", "question": "What is your name?"},
        {"name": "days", "title": "Days", "type": "number", "question": "For how many days?"},
    ],
    "answer": "A tandem for {{ guest }}.",
}


def send(chat: Visitor, text: str) -> str:
    """Write in the chat of the demonstration; gives the answer."""
    answers = chat.tab.locator(".item.bot:has(.rating)")
    count = answers.count()
    chat.tab.locator("#field").fill(text)
    chat.tab.locator("#field").press("Enter")
    expect(answers).to_have_count(count + 1)
    return answers.last.inner_text()


def test_one_click_switches_a_flow_off_and_one_on_while_who_is_in_it_finishes(
    somebody: Callable[[], Visitor], server: Server, tmp_path: Path
) -> None:
    (tmp_path / "flow.json").write_text(json.dumps(FLOW))
    server.manage("start_flow", str(tmp_path / "flow.json"))
    ann = somebody().go("/chat/")
    assert "What is your name?" in send(ann, WISH)
    ben = somebody().log_in("analyst").go("/admin/config_admin/ceintent/TANDEM/flow/")

    with ben.tab.expect_navigation():
        ben.tab.get_by_role("button", name="Switch off", exact=True).click()
    expect(ben.tab.get_by_text("This flow is off.")).to_be_visible()
    no_violations(ben.tab)

    assert "What is your name?" not in send(somebody().go("/chat/"), WISH)
    assert "For how many days?" in send(ann, "Ann Hill")
    send(ann, "2")
    assert "A tandem for Ann Hill." in send(ann, "yes")
    assert "What is your name?" not in send(ann, WISH)

    ben.go("/admin/config_admin/ceintent/?q=TANDEM")
    with ben.tab.expect_navigation():
        ben.tab.get_by_role("button", name="Switch on: Rent a tandem").click()
    ben.go("/admin/config_admin/ceintent/TANDEM/flow/")
    expect(ben.tab.get_by_text("This flow is on.")).to_be_visible()
    assert "What is your name?" in send(somebody().go("/chat/"), WISH)
