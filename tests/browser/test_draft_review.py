"""A draft of two people: made on pages and by an import, commented, approved, scheduled, published, taken back."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import ROOT, SCREENS, Server, Visitor, check_page

pytestmark = [pytest.mark.browser, pytest.mark.long]


def press(visitor: Visitor, button: Locator) -> None:
    """Press a button by keyboard."""
    button.focus()
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Enter")


def write(visitor: Visitor, row: str, text: str) -> None:
    visitor.go(f"/admin/config_admin/{row}/change/")
    visitor.page.locator("#id_description").fill(text)
    visitor.page.get_by_label("Reason for this change").fill("Ticket 9")
    visitor.save()


def run_command(server: Server, *arguments: str) -> None:
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True, timeout=120)


def let_time_pass(server: Server, column: str) -> None:
    """Everything that is scheduled is due, and the job runs."""
    code = (
        "from datetime import timedelta; from django.utils import timezone;"
        "from config_admin.models import CeDraftSchedule;"
        f"CeDraftSchedule.objects.update({column}=timezone.now() - timedelta(minutes=1))"
    )
    run_command(server, "shell", "-c", code)
    run_command(server, "jobs", "--once", "publish_scheduled_drafts")


@SCREENS
def test_a_draft_is_reviewed_scheduled_published_and_taken_back(
    somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    analyst, qa = somebody().log_in("analyst").at(width, scheme), somebody().log_in("qa").at(width, scheme)
    admin = somebody().log_in().at(width, scheme)
    page, title = analyst.page, f"Opening hours {width}"
    analyst.go("/admin/config_admin/cedraft/add/")
    page.get_by_label("Title").fill(title)
    analyst.save()
    draft_url = page.url.removeprefix(analyst.server.url)
    check_page(analyst)

    # Three pages and an import.
    write(analyst, "ceresponse/7", f"an answer of the draft {width}")
    write(analyst, "cerule/7", f"a rule of the draft {width}")
    write(analyst, "cepolicy/1", f"a policy of the draft {width}")
    admin.go(draft_url)
    admin.page.get_by_role("button", name="Work in this draft").click()
    admin.look_at({"ce_response": [{"response_id": 8, "description": f"from a file {width}"}]})
    admin.page.get_by_label("Reason for this change").fill("Ticket 9")
    admin.page.get_by_role("button", name="Import into the draft").click()
    expect(admin.page.locator("#main")).to_contain_text("It is saved in the draft")
    admin.go(draft_url)
    expect(admin.page.get_by_role("complementary", name="Draft")).to_contain_text("4 changes")

    # A live edit of the same field: decided on the page of the draft.
    admin.page.get_by_role("complementary", name="Draft").get_by_role("button", name="Leave").click()
    write(admin, "ceresponse/7", f"a live answer {width}")
    analyst.go(draft_url)
    expect(page.locator("#main")).to_contain_text("decide before publishing")
    check_page(analyst)
    press(analyst, page.get_by_role("button", name="Keep the draft's version"))
    expect(page.locator("#main")).not_to_contain_text("decide before publishing")

    # Sent, commented, returned, sent again, approved.
    page.get_by_text("Send for review", exact=True).first.click()
    page.get_by_label("qa", exact=True).check()
    page.get_by_label("Comment for the reviewers").fill("Please look at the texts.")
    check_page(analyst)
    press(analyst, page.get_by_role("button", name="Send for review"))
    expect(page.get_by_role("region", name="Review")).to_contain_text("Sent for review by analyst to qa")

    qa.go("/admin/")
    # What turns of other tests did may be more urgent.
    expect(qa.page.locator("#main")).to_contain_text(title)
    check_page(qa)
    press(qa, qa.page.get_by_role("link", name="Review it"))
    expect(qa.page.get_by_role("region", name="Health")).to_contain_text("with the draft")
    row = qa.page.get_by_role("row", name="Policy 1")
    row.get_by_text("Comment", exact=True).click()
    qa.page.get_by_label("Comment on Policy 1").fill("Is this still true?")
    check_page(qa)
    press(qa, row.get_by_role("button", name="Add the comment"))
    qa.page.get_by_label("Comment on the whole draft").fill("Good work.")
    press(qa, qa.page.get_by_role("button", name="Approve"))
    expect(qa.page.get_by_role("region", name="Review")).to_contain_text("Approved by qa")
    check_page(qa)

    # Scheduled, published, taken back.
    analyst.go(draft_url)
    expect(page.get_by_role("region", name="Review")).to_contain_text("Good work.")
    press(analyst, page.get_by_role("link", name="Schedule", exact=True))
    check_page(analyst)
    page.get_by_label("Publish at").fill("2099-12-24T08:00")
    page.get_by_label("Take back at").fill("2099-12-27T08:00")
    press(analyst, page.get_by_role("button", name="Schedule"))
    expect(page.locator("#main")).to_contain_text("24 Dec 2099 08:00")
    check_page(analyst)
    analyst.go("/admin/")
    expect(page.get_by_role("region", name="Drafts")).to_contain_text(title)
    check_page(analyst)

    let_time_pass(analyst.server, "publish_at")
    analyst.go(draft_url)
    press(analyst, page.get_by_role("link", name="Release").first)
    expect(page.locator("#main")).to_contain_text("(approved by qa)")
    check_page(analyst)
    analyst.go("/admin/config_admin/ceresponse/7/change/")
    expect(page.locator("#id_description")).to_have_value(f"an answer of the draft {width}")

    let_time_pass(analyst.server, "take_back_at")
    analyst.go("/admin/config_admin/ceresponse/7/change/")
    expect(page.locator("#id_description")).to_have_value(f"a live answer {width}")
    analyst.go(draft_url)
    expect(page.get_by_role("region", name="Review")).to_contain_text("Taken back as scheduled")
    check_page(analyst)
