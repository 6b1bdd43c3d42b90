"""The admin in a real browser: an edit and its history, errors and warnings, and a deletion refused."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Server, Visitor

pytestmark = pytest.mark.browser


def suggestions(visitor: Visitor) -> list[str]:
    """What the open list of a picker offers."""
    return visitor.page.locator(".ce-suggestions:visible [role=option]").all_inner_texts()


@pytest.mark.long
def test_an_edit_is_live_and_its_history_tells_who_why_and_what(ada: Visitor) -> None:
    ada.open_response("You are welcome!")
    ada.page.get_by_label("Text", exact=True).fill("You are very welcome!")
    ada.page.get_by_label("Reason for this change").fill("A little warmer")
    ada.save()

    assert "is active. Every conversation uses it from its next message on." in ada.text

    ada.open_response("very welcome")
    ada.page.locator("#main").get_by_role("link", name="History").click()
    ada.page.get_by_text("A little warmer").wait_for()
    newest = ada.page.locator(".ce-history > li").first
    assert "by admin" in newest.inner_text()
    assert newest.locator("del").count() == 0
    assert newest.locator("ins").inner_text().strip() == "very"


@pytest.mark.long
def test_a_version_is_put_back(ada: Visitor) -> None:
    ada.open_response("two-year warranty")
    url = ada.page.url
    text = ada.page.get_by_label("Text", exact=True)
    before = text.input_value()
    text.fill("No warranty at all.")
    ada.save()

    ada.page.goto(url.replace("/change/", "/history/"))
    ada.page.get_by_role("link", name="Restore this version").first.click()
    expect(ada.page.locator("#main")).to_contain_text("Restore Answer")
    with ada.page.expect_navigation():
        ada.page.get_by_role("button", name="Restore").click()

    ada.page.goto(url)
    assert text.input_value() == before


def test_an_unknown_intent_is_told_at_its_field(ada: Visitor) -> None:
    ada.go("/admin/config_admin/ceresponse/add/")
    ada.page.get_by_label("Intent").fill("FAQ_TARIFS")
    ada.page.get_by_label("State").fill("ANY")
    ada.page.get_by_label("Written by").select_option("EXACT")
    ada.page.get_by_label("Text", exact=True).fill("Cheap.")
    ada.save()

    field = ada.page.get_by_label("Intent")
    assert "The intent FAQ_TARIFS does not exist. Did you mean FAQ_TARIFFS?" in ada.text
    assert field.get_attribute("aria-invalid") == "true"
    assert field.input_value() == "FAQ_TARIFS"


def test_a_warning_needs_one_confirmation(ada: Visitor) -> None:
    ada.go("/admin/config_admin/ceresponse/add/")
    ada.page.get_by_label("Intent").fill("THANKS")
    ada.page.get_by_label("State").fill("SOMEWHERE")
    ada.page.get_by_label("Written by").select_option("EXACT")
    ada.page.get_by_label("Text", exact=True).fill("Thank you.")
    ada.save()

    assert "Not saved yet: 1 warning" in ada.text
    assert "No rule, phrase or state graph edge leads to state SOMEWHERE yet." in ada.text
    ada.page.get_by_label("Save anyway").check()
    ada.save()

    assert "was added successfully" in ada.text


def test_suggestions_are_chosen_with_the_keyboard(ada: Visitor) -> None:
    ada.go("/admin/config_admin/ceresponse/add/")
    field = ada.page.get_by_label("Intent")
    field.focus()
    field.press_sequentially("payi")
    assert suggestions(ada) == ["FAQ_PAYMENTPaying"]
    field.press("ArrowDown")
    field.press("Enter")

    assert field.input_value() == "FAQ_PAYMENT"
    assert "How and when to pay." in ada.text
    assert ada.page.get_by_role("listbox").count() == 0


def test_an_action_explains_itself_and_offers_what_fits_it(ada: Visitor) -> None:
    ada.go("/admin/config_admin/cerule/add/")
    ada.page.get_by_label("Action", exact=False).first.select_option("SET_STATE")
    value = ada.page.get_by_label("Action value")
    value.click()
    offered = suggestions(ada)

    assert "Changes the state of the conversation." in ada.text
    assert "CONFIRM" in offered
    assert "GREETING" not in " ".join(offered)


def test_an_intent_in_use_is_not_deleted(ada: Visitor) -> None:
    ada.go("/admin/config_admin/ceintent/THANKS/delete/")

    assert "rows refer to THANKS" in ada.text or "row refers to THANKS" in ada.text
    assert ada.page.get_by_role("button", name="Delete").count() == 0
    ada.page.locator(".ce-box").get_by_role("link", name="Phrase").click()
    ada.page.locator("#id_pattern").wait_for()


@pytest.mark.long
def test_rows_are_switched_off_and_on_together(ada: Visitor) -> None:
    for action, answer in (("disable_selected", "Disable 2 answers"), ("enable_selected", "Enable 2 answers")):
        ada.go("/admin/config_admin/ceresponse/?intent_code=CANCEL_ORDER")
        boxes = ada.page.locator("input.action-select")
        boxes.nth(0).check()
        boxes.nth(1).check()
        ada.page.emulate_media(color_scheme="dark" if action == "enable_selected" else "light")
        no_violations(ada.page)
        ada.page.get_by_label("Select action to run").select_option(action)
        with ada.page.expect_navigation():
            ada.page.get_by_role("button", name="Run").click()
        ada.give_reason()
        with ada.page.expect_navigation():
            ada.page.get_by_role("button", name=answer).click()
        assert "is active" in ada.text


@SCREENS
def test_a_form_with_errors_can_be_used_by_everybody(ada: Visitor, width: int, scheme: str) -> None:
    ada.at(width, scheme)
    for table in ("ceoutputschema", "cemcphttptool"):
        ada.go(f"/admin/config_admin/{table}/add/")
        ada.page.locator("#main form").last.evaluate("form => { form.noValidate = true; }")
        ada.save()
        assert ada.page.locator("[aria-invalid=true]").count()
        no_violations(ada.page)


def test_a_key_is_made_shown_once_and_opens_the_api(ada: Visitor, server: Server) -> None:
    secret = ada.make_key("browser")

    assert server.say("thanks", key=secret)["success"]

    ada.go("/admin/ce_api/ceapikey/")
    assert secret not in ada.page.content()


def test_the_pages_of_the_record_open(ada: Visitor, server: Server) -> None:
    for path in ("ce_sessions/ceconversation", "ce_sessions/ceconversationhistory", "audit/ceaudit"):
        ada.go(f"/admin/{path}/")
        ada.page.locator("#changelist").wait_for()


def test_a_reader_finds_nothing_to_change(somebody: Callable[[], Visitor]) -> None:
    quinn = somebody().log_in("qa")
    quinn.go("/admin/config_admin/ceresponse/")
    quinn.page.locator("#result_list tbody th a, #result_list tbody .field-answer a").first.click()
    quinn.page.get_by_text("Last change").wait_for()

    assert quinn.page.get_by_role("button", name="Save").count() == 0
    assert quinn.page.get_by_role("link", name="API keys").count() == 0
