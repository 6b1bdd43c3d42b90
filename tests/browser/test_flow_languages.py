"""The page of a flow in two languages, in a real browser."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Dialog, expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Server, Visitor

pytestmark = pytest.mark.browser
_SET = """
from config_admin import models as m
from config_admin.releases.change_set import change_set
with change_set(reason="languages"):
    m.CeConfig.objects.filter(config_type="Session", config_key="LANGUAGES").delete()
    for value in {values}:
        m.CeConfig.objects.create(config_type="Session", config_key="LANGUAGES", config_value=value)
"""


@pytest.fixture
def languages(server: Server) -> Iterator[None]:
    server.manage("shell", "-v0", "-c", _SET.format(values=["en-GB, de-DE"]))
    yield
    server.manage("shell", "-v0", "-c", _SET.format(values=[]))


@SCREENS
def test_texts_of_another_language_stand_beside_the_first_one(
    languages: None, somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page = ben.tab
    ben.go("/admin/config_admin/ceintent/start/?kind=collect")
    page.locator("#id_title").fill(f"Lend a {scheme} bike")
    page.locator("#id_phrases").fill(f"lend me a {scheme} bike")
    title = page.get_by_role("textbox", name="Field", exact=True)
    title.fill("Size")
    page.get_by_label("Type", exact=True).select_option("choice")
    page.get_by_label("Choice, row 1").first.fill("large")
    german = page.get_by_role("textbox", name="Field (German)")
    expect(german).to_be_hidden()

    page.get_by_role("radio", name="English").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="German")).to_be_checked()
    german.fill("Größe")
    choices = page.get_by_role("table", name="Choices (German)")
    expect(choices.get_by_label("Choice, row 1")).to_have_value("large")
    choices.get_by_label("Shown to users as, row 1").fill("groß")
    page.get_by_role("button", name="Add a field").click()
    expect(page.get_by_role("textbox", name="Field (German)")).to_have_count(2)
    no_violations(page)

    page.get_by_role("group", name="Field 1").get_by_label("Texts for answers").or_(
        page.get_by_role("group", name="Field 1").get_by_text("Texts for answers that are not understood")
    ).first.click()
    again = page.get_by_role("group", name="Field 1").get_by_label("not understood (German)")
    again.fill("Wie bitte?")
    page.get_by_role("radio", name="English").check()
    page.get_by_role("button", name="Preview").last.click()
    page.get_by_role("link", name="in the first language, too").click()
    expect(again).to_be_focused()
    again.fill("")

    page.get_by_label("Reason for this change").fill("two languages")
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url("**/flow/?saved=1")
    page.get_by_role("radio", name="German").check()
    expect(german.first).to_have_value("Größe")


def test_leaving_the_page_of_all_texts_with_one_unsaved_is_asked_about(
    languages: None, somebody: Callable[[], Visitor]
) -> None:
    ben = somebody().log_in("analyst")
    page = ben.tab
    ben.go("/admin/config_admin/ceresponse/languages/")
    missing = page.locator("td, th", has_text="Missing").locator(".ce-how").first
    expect(missing).to_have_class("ce-how ce-how-removed")
    questions: list[str] = []

    def answer(dialog: Dialog) -> None:
        questions.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", answer)
    page.get_by_role("link", name="Next ›").click()
    page.wait_for_url("**page=2**")
    assert not questions

    page.locator("textarea").first.fill("Guten Tag.")
    page.get_by_role("link", name="Previous").click()
    expect(page.locator("textarea").first).to_have_value("Guten Tag.")
    assert questions == ["beforeunload"]
    page.get_by_role("button", name="Save translations").click()
    expect(page.get_by_role("heading", name="Translate texts into German")).to_be_visible()
    assert questions == ["beforeunload"]
