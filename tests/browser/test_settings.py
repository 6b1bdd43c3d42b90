"""The page of all settings: found while typing, changed in place, by keyboard; reserved ones are left alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SCREENS, Visitor

pytestmark = pytest.mark.browser


def at_settings(visitor: Visitor) -> Visitor:
    """Come by the sidebar."""
    visitor.page.locator(".ce-nav").get_by_role("link", name="Rules & settings").click()
    visitor.page.locator(".ce-nav").get_by_role("link", name="All settings").click()
    visitor.page.get_by_label("Find a setting").wait_for()
    return visitor


@pytest.mark.long
@SCREENS
def test_a_setting_is_changed_in_place_with_the_mouse(somebody: Callable[[], Visitor], width: int, scheme: str) -> None:
    ben = somebody().log_in("analyst").at(width, scheme).go("/admin/config_admin/ceconfig/effective/?q=idle")
    ben.page.get_by_role("link", name="Change Offer to resume after idle hours").click()
    ben.page.locator("#id_config_value").fill("31" if scheme == "dark" else "30")
    ben.save()

    assert "“Offer to resume after idle hours” is now 3" in ben.text
    assert ben.fits


@pytest.mark.long
def test_typing_narrows_the_page(somebody: Callable[[], Visitor]) -> None:
    ben = at_settings(somebody().log_in("analyst"))
    ben.page.get_by_label("Find a setting").press_sequentially("idle hours")

    expect(ben.page.locator("[data-found]")).to_contain_text("1 of ")
    assert ben.page.locator(".ce-setting:visible h3").all_inner_texts() == [
        "Offer to resume after idle hours IDLE_TIMEOUT_HOURS"
    ]

    ben.page.get_by_label("Find a setting").fill("nothing of the kind")
    expect(ben.page.locator("[data-none]")).to_be_visible()


@SCREENS
def test_a_setting_is_changed_in_place_with_the_keyboard_and_put_back(
    somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme).go("/admin/config_admin/ceconfig/effective/?q=idle")
    ben.page.get_by_role("link", name="Change Offer to resume after idle hours").focus()
    with ben.page.expect_navigation():
        ben.page.keyboard.press("Enter")
    value = ben.page.get_by_label("Offer to resume after idle hours", exact=True)
    expect(value.and_(ben.page.locator("input"))).to_be_focused()

    ben.page.keyboard.press("Control+A")
    ben.page.keyboard.type("48")
    ben.page.keyboard.press("Tab")
    ben.page.keyboard.type("People come back on the second day")
    with ben.page.expect_navigation():
        ben.page.keyboard.press("Enter")

    assert "“Offer to resume after idle hours” is now 48." in ben.text
    setting = ben.page.get_by_role("article", name="Offer to resume after idle hours")
    expect(setting).to_contain_text("by analyst")
    expect(setting).to_contain_text("Default: 24.")

    setting.get_by_role("link", name="Reset to default: Offer to resume after idle hours").click()
    with ben.page.expect_navigation():
        ben.page.get_by_role("button", name="Delete").click()
    ben.page.get_by_text("Sessions: end, resume and timeout").click()
    expect(ben.page.get_by_role("article", name="Offer to resume after idle hours")).to_contain_text(
        "Built-in default."
    )


@pytest.mark.long
def test_a_value_out_of_bounds_stays_at_its_field(somebody: Callable[[], Visitor]) -> None:
    ben = somebody().log_in("analyst").go("/admin/config_admin/ceconfig/effective/?edit=DialogueActStep/LLM_THRESHOLD")
    field = ben.page.locator("#id_config_value")
    field.fill("7")
    ben.page.get_by_role("button", name="Save").click()
    assert field.evaluate("input => input.validity.rangeOverflow")

    ben.page.locator("form.ce-edit").evaluate("form => { form.noValidate = true; }")
    ben.save()
    expect(ben.page.locator("#id_config_value_error")).to_contain_text(
        "“Ask the model below this confidence” must be a number from 0 to 1."
    )


@pytest.mark.long
def test_reserved_settings_offer_an_analyst_no_change(somebody: Callable[[], Visitor]) -> None:
    ben = at_settings(somebody().log_in("analyst"))
    ben.page.get_by_text("RulesStep", exact=True).click()
    setting = ben.page.get_by_role("article").filter(has_text="MAX_PASSES")

    expect(setting).to_contain_text("reserved")
    assert setting.get_by_role("link").count() == 0
