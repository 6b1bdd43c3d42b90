"""The map in a real browser: opened, walked through, searched and saved, by mouse and by keyboard."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor
from tests.pace import allow

pytestmark = [pytest.mark.browser, pytest.mark.long]

MAP = "/admin/config_admin/ceintent/CANCEL_ORDER/map/"


@SCREENS
def test_boxes_and_arrows_are_walked_through_by_keyboard(
    somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page = ben.tab
    ben.go("/admin/config_admin/ceintent/map/")
    box = page.get_by_role("button", name="Cancel an order.", exact=False).last
    box.focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Open the map of its states").press("Enter")

    page.get_by_label("Find in the map").fill("confirm")
    page.keyboard.press("Enter")
    expect(page.locator(".ce-mapbox.ce-found").filter(has_text="CONFIRM")).to_be_focused()
    page.keyboard.press("Enter")
    shown = page.locator(".ce-map-details")
    expect(shown.get_by_role("heading", name="CONFIRM")).to_be_visible()
    expect(shown.get_by_role("listitem").filter(has_text="Pending action")).to_be_visible()

    page.get_by_role("button", name="COLLECT to CONFIRM").press("Enter")
    expect(shown).to_contain_text("When the form of CANCEL_ORDER is complete in state COLLECT, set state to CONFIRM.")
    before = page.locator(".ce-drawn").get_attribute("viewBox")
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    assert page.locator(".ce-drawn").get_attribute("viewBox") != before
    no_violations(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


#: The labels of arrows with a point inside a box; the boxes where an arrow begins and ends are only touched.
CROSSINGS = """() => {
    const boxes = [...document.querySelectorAll('.ce-mapbox')].map((box) => {
        const {e, f} = box.transform.baseVal.consolidate().matrix;
        const {width, height} = box.querySelector('rect').getBBox();
        return {left: e + 1, right: e + width - 1, top: f + 1, bottom: f + height - 1};
    });
    return [...document.querySelectorAll('.ce-arrow')].filter((arrow) => {
        const path = arrow.querySelector('.ce-arrow-line'), size = path.getTotalLength();
        return Array.from({length: Math.floor(size / 3)}, (_, n) => path.getPointAtLength(n * 3)).some(({x, y}) =>
            boxes.some((box) => x > box.left && x < box.right && y > box.top && y < box.bottom));
    }).map((arrow) => arrow.getAttribute('aria-label'));
}"""


@pytest.mark.parametrize("path", ["map/", "map/?states=1", "REFUND/map/", "MOVE_CONNECTION/map/"])
def test_no_arrow_runs_through_a_box(somebody: Callable[[], Visitor], path: str) -> None:
    page = somebody().log_in("analyst").go(f"/admin/config_admin/ceintent/{path}").page

    assert page.locator(".ce-arrow").count() > 3
    assert page.evaluate(CROSSINGS) == []


def test_the_map_is_saved_as_a_picture(somebody: Callable[[], Visitor], tmp_path: Path) -> None:
    page = somebody().log_in("analyst").go(MAP).page
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as told:
            page.get_by_role("button", name=kind).click()
        told.value.save_as(tmp_path / kind)
        assert told.value.suggested_filename == f"Map of Cancel an order.{kind.lower()}"
        assert (tmp_path / kind).read_bytes().startswith(begins)


def test_all_states_of_all_intents_are_found_and_opened(somebody: Callable[[], Visitor]) -> None:
    ben = somebody().log_in("analyst")
    page = ben.go("/admin/config_admin/ceintent/map/").page
    page.get_by_role("link", name="All states").click()
    page.get_by_label("Find in the map").fill("cancel_order collect")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator(".ce-map-details")).to_contain_text("Cancel an order / COLLECT")
    arrow = page.get_by_role("button", name="Cancel an order / COLLECT to Cancel an order / CONFIRM")
    arrow.press("Enter")
    expect(page.locator(".ce-map-details")).to_contain_text("set state to CONFIRM")
    no_violations(page)
    frames = page.locator(".ce-map-frame").evaluate_all(
        "all => all.map((one) => one.getBBox()).map(({x, y, width, height}) => ({x, y, width, height}))"
    )
    apart = [
        one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
        for place, one in enumerate(frames) for other in frames[:place]
    ]  # fmt: skip
    assert len(frames) > 5
    assert all(apart)


def draw_groups(groups: int) -> str:
    """A drawing of 300 states and 450 moves, in some groups."""
    size = 300 // groups
    key = [f"{n // size}/{n % size}" for n in range(300)]
    no_rows: dict[str, object] = {"rows": [], "marks": [], "remarks": []}
    nodes = [
        {"key": key[n], "name": f"STATE_{n}", "called": f"STATE_{n}", "kind": "STATE", "url": "", **no_rows}
        | {"group": f"I{n // size}" if groups > 1 else ""}
        for n in range(300)
    ]
    ends = [(key[n % 300], key[n // size % groups * size + (n * 7 + 1) % size]) for n in range(450)]
    moves = [
        {"start": start, "end": end, "from": start, "to": end, "shared": False, "turns": n, **no_rows}
        for n, (start, end) in enumerate(ends)
    ]
    return json.dumps({"nodes": nodes, "moves": moves, "words": {}})


@pytest.mark.parametrize("groups", [1, 30])
def test_three_hundred_states_can_be_worked_with_in_two_seconds(somebody: Callable[[], Visitor], groups: int) -> None:
    def answer(route: Route) -> None:
        text = route.fetch().text()
        begin = text.index(">", text.index('id="ce-drawing"')) + 1
        route.fulfill(body=text[:begin] + draw_groups(groups) + text[text.index("</script>", begin) :])

    page = somebody().log_in("analyst").page
    page.route(f"**{MAP}", answer)
    page.goto(page.url.removesuffix("/admin/") + MAP)
    page.get_by_label("Find in the map").fill("STATE_299")
    page.keyboard.press("Enter")
    expect(page.locator(".ce-mapbox:focus")).to_contain_text("STATE_299")
    took = page.evaluate("performance.getEntriesByType('navigation')[0]")
    took = took["domContentLoadedEventEnd"] - took["responseEnd"]
    print(f"{took:.0f} ms")
    assert took < allow(2000)
