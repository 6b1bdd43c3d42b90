"""Trust in the record: is it as it was written; an anchor elsewhere; a person erased, never by a slip."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import ROOT, SCREENS, Server, Visitor
from tests.browser.pictures import picture

pytestmark = pytest.mark.browser
RECORD = "/admin/audit/ceaudit"


def hold_conversation(server: Server, participant: str) -> str:
    """A conversation of a participant; gives its id."""
    for text in ("cancel my order", "48392", "no"):
        told = server.say_as(participant, text)
    return str(told["session_id"])


@contextmanager
def forge_turn(server: Server, conversation: str) -> Iterator[None]:
    """What the user wrote in turn 2 reads otherwise, as somebody could have it who owns the database."""
    with closing(sqlite3.connect(Path(server.environment["CE_VAR_DIR"]) / "convengine.sqlite3", timeout=30)) as base:
        key = conversation.replace("-", "")
        wanted = "turn_no = 2 AND replace(conversation_id, '-', '') = ?"
        (written,) = base.execute(f"SELECT events FROM ce_conversation_history WHERE {wanted}", [key]).fetchone()

        def write(text: str) -> None:
            with base:
                base.execute("DROP TRIGGER IF EXISTS ce_conversation_history_sealed")
                base.execute(f"UPDATE ce_conversation_history SET events = ? WHERE {wanted}", [text, key])

        write(written.replace("48392", "48329"))
        try:
            yield
        finally:
            write(written)


def manage(server: Server, *words: str) -> tuple[int, str]:
    """What a command ends with, and what it says."""
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    done = subprocess.run(command, cwd=ROOT, env=server.environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def press(visitor: Visitor, name: str, role: str = "link") -> None:
    """Go to a link or button by keyboard, and press it."""
    visitor.tab_to(visitor.page.get_by_role(role, name=name, exact=True))  # type: ignore[arg-type]
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Enter")


def usable(visitor: Visitor) -> None:
    """The page fits the screen, also a telephone's, and everybody can use it."""
    no_violations(visitor.page)
    assert visitor.fits
    wide = visitor.page.viewport_size or {"width": 0, "height": 0}
    visitor.page.set_viewport_size({"width": 500, "height": 900})
    assert visitor.fits
    visitor.page.set_viewport_size(wide)


@pytest.mark.long
@SCREENS
def test_damage_is_told_by_turn_and_event(ada: Visitor, server: Server, width: int, scheme: str) -> None:
    conversation = hold_conversation(server, f"+49160777{width}")
    tab = ada.at(width, scheme).go(f"{RECORD}/{conversation}/timeline/").page
    press(ada, "Integrity and export")
    expect(tab.get_by_role("heading", name="The record is unchanged", exact=True)).to_be_visible()
    expect(tab.get_by_text("3 turns compared with their seals")).to_be_visible()
    if width > 1000:
        picture(tab, "trust/intact")
    usable(ada)

    with forge_turn(server, conversation):
        tab.reload()
        expect(tab.get_by_role("heading", name="The record was changed")).to_be_visible()
        wrong = tab.get_by_label("Findings", exact=True).get_by_role("listitem")
        expect(wrong).to_have_count(1)
        expect(wrong).to_contain_text("EVENT_CHANGED")
        if width > 1000:
            picture(tab, "trust/damaged")
        usable(ada)
        press(ada, "Turn 2")
        expect(tab.get_by_role("heading", name="Turn 2", level=1)).to_be_visible()


@pytest.mark.long
def test_the_nightly_look_and_an_anchor_find_it_too(ada: Visitor, server: Server, tmp_path: Path) -> None:
    conversation, anchor = hold_conversation(server, "+491607770001"), str(tmp_path / "heads.anchor")
    code, said = manage(server, "audit_anchor", anchor)
    assert (code, "chains written" in said) == (0, True), said
    assert manage(server, "audit_verify", "--conversation", conversation, "--anchor", anchor)[0] == 0

    with forge_turn(server, conversation):
        code, said = manage(server, "audit_verify", "--conversation", conversation, "--anchor", anchor)
        assert code == 1
        assert "EVENT_CHANGED" in said
        text = newest_run(ada)
        assert "NOT INTACT" in text
        assert f"{conversation}, turn 2" in text
        usable(ada)

    assert "NOT INTACT" not in newest_run(ada)


def newest_run(visitor: Visitor) -> str:
    """Has the job that verifies the record run now; gives what the page of the run says."""
    tab = visitor.go("/admin/ce_jobs/cejob/verify_record/change/").page
    runs = tab.locator("#content-main .ce-table tbody tr")
    before = runs.count()
    tab.get_by_role("button", name="Run now").click()
    for _ in range(60):
        if runs.count() > before and not runs.first.get_by_text("running").count():
            break
        tab.wait_for_timeout(500)
        tab.reload()
    runs.first.get_by_role("link").first.click()
    tab.get_by_role("heading", level=1).wait_for()
    return visitor.text


@pytest.mark.long
@SCREENS
def test_a_person_is_erased_with_a_reason_and_never_by_a_slip(
    ada: Visitor, server: Server, tmp_path: Path, width: int, scheme: str
) -> None:
    participant = f"+49160888{width}"
    conversation, anchor = hold_conversation(server, participant), str(tmp_path / "heads.anchor")
    manage(server, "audit_anchor", anchor)
    tab = ada.at(width, scheme).go(f"{RECORD}/{conversation}/trust/").page
    press(ada, "Erase …")
    expect(tab.get_by_label(f"All conversations of {participant} on whatsapp: 1 conversation")).not_to_be_checked()

    # The browser asks for reason and confirmation; who goes past it is told by the server.
    tab.get_by_role("button", name="Erase").press("Enter")
    expect(tab.get_by_label("Reason", exact=True)).to_be_focused()
    tab.locator("form.ce-spaced").evaluate("form => { form.noValidate = true; }")
    press(ada, "Erase", "button")
    expect(tab.get_by_role("alert")).to_contain_text("Confirm that you understand")
    expect(tab.get_by_role("alert")).to_contain_text("Enter a reason")
    if width > 1000:
        picture(tab, "trust/erase")
    usable(ada)
    refused = [trouble for trouble in ada.troubles if "400" in trouble]
    assert refused == ada.troubles
    ada.troubles.clear()
    expect(ada.go(f"{RECORD}/{conversation}/turn/2/").page.locator(".ce-user")).to_contain_text("48392")

    ada.go(f"{RECORD}/{conversation}/erase/")
    ada.tab_to(tab.get_by_role("radio", name="This conversation"))
    tab.keyboard.press("ArrowDown")
    ada.tab_to(tab.get_by_label("Reason", exact=True))
    tab.keyboard.type("Article 17, ticket 4711")
    ada.tab_to(tab.get_by_label("I understand that this cannot be undone."))
    tab.keyboard.press("Space")
    press(ada, "Erase", "button")
    expect(tab.get_by_role("heading", name="The record is unchanged", exact=True)).to_be_visible()
    expect(tab.get_by_role("region", name="Erased")).to_contain_text("by admin: Article 17, ticket 4711")
    usable(ada)
    assert participant not in ada.go(f"{RECORD}/{conversation}/timeline/").page.content()
    expect(tab.get_by_text("The messages of this conversation were erased.")).to_be_visible()
    expect(tab.get_by_text("48392")).to_have_count(0)
    ada.go("/admin/audit/ceerasure/")
    expect(tab.get_by_role("row").filter(has_text=conversation)).to_contain_text("proven")
    assert manage(server, "audit_verify", "--conversation", conversation, "--anchor", anchor)[0] == 0


def test_who_may_not_erase_is_not_led_there(server: Server, somebody: Callable[[], Visitor]) -> None:
    conversation = hold_conversation(server, "+491607770002")
    quinn = somebody().log_in("qa").go(f"{RECORD}/{conversation}/trust/")

    expect(quinn.page.get_by_role("link", name="Printable page")).to_be_visible()
    expect(quinn.page.get_by_role("link", name="Erase …")).to_have_count(0)
