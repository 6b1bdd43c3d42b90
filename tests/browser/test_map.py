"""The map in a real browser: opened, walked through, searched and saved, by mouse and by keyboard."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor

pytestmark = pytest.mark.browser

MAP = "/admin/config_admin/ceintent/CANCEL_ORDER/map/"


@SCREENS
def test_boxes_and_arrows_are_walked_through_by_keyboard(
    somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page = ben.page
    ben.go("/admin/config_admin/ceintent/map/")
    box = page.get_by_role("button", name="CANCEL_ORDER.", exact=False).last
    box.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Open the map of its states").press("Enter")

    page.get_by_label("Find in the map").fill("confirm")
    page.keyboard.press("Enter")
    expect(page.locator(".ce-mapbox.ce-found").filter(has_text="CONFIRM")).to_be_focused()
    page.keyboard.press("Enter")
    shown = page.locator(".ce-map-told")
    expect(shown.get_by_role("heading", name="CONFIRM")).to_be_visible()
    expect(shown.get_by_role("link", name="Pending action")).to_be_visible()

    page.get_by_role("button", name="COLLECT to CONFIRM").press("Enter")
    expect(shown).to_contain_text("When the data for CANCEL_ORDER is complete in state COLLECT, go to CONFIRM.")
    before = page.locator(".ce-drawn").get_attribute("viewBox")
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    assert page.locator(".ce-drawn").get_attribute("viewBox") != before
    no_violations(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_map_is_saved_as_a_picture(somebody: Callable[[], Visitor], tmp_path: Path) -> None:
    page = somebody().log_in("analyst").go(MAP).page
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as told:
            page.get_by_role("button", name=kind).click()
        told.value.save_as(tmp_path / kind)
        assert told.value.suggested_filename == f"Map of Cancel an order.{kind.lower()}"
        assert (tmp_path / kind).read_bytes().startswith(begins)


def test_three_hundred_states_are_laid_out_in_two_seconds(somebody: Callable[[], Visitor]) -> None:
    page = somebody().log_in("analyst").go(MAP).page
    took = page.evaluate(
        """() => {
            const boxes = Array.from({length: 300}, (_, n) => ({key: `s${n}`, width: 120, height: 40}));
            const arrows = Array.from({length: 450}, (_, n) => ({start: `s${n % 300}`, end: `s${(n * 7 + 1) % 300}`}));
            const begun = performance.now();
            ceLayout(boxes, arrows);
            return performance.now() - begun;
        }"""
    )
    print(f"{took:.0f} ms")
    assert took < 2000
