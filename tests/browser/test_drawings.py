"""No word of a drawing of the manual leaves its box, the drawing, or lies upon another word."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

DRAWINGS = sorted((Path(__file__).resolve().parents[2] / "static/docs/pictures").glob("*.svg"))
#: The words that leave a shape in which their middle is, or that begin upon other words. The first shape is the paper.
_MISPLACED = """() => {
    const read = (name) => [...document.querySelectorAll(name)].map((element) => {
        const { x, y, width, height } = element.getBBox();
        const [right, bottom, words] = [x + width, y + height, element.textContent];
        return { left: x, right, top: y, bottom, middle: y + height / 2, words };
    });
    const [texts, shapes] = [read("text"), read("rect")];
    const has = (box, x, y) => x > box.left && x < box.right && y > box.top && y < box.bottom;
    const leaves = (text) => shapes.some((shape) => has(shape, (text.left + text.right) / 2, text.middle)
        && !(has(shape, text.left - 2, text.middle) && has(shape, text.right + 2, text.middle)));
    const covers = (text) => texts.some((other) => other !== text && has(other, text.left + 1, text.middle));
    return texts.filter((text) => leaves(text) || covers(text)).map((text) => text.words);
}"""


def test_all_words_of_drawings_fit(browser: Browser) -> None:
    page = browser.new_page()
    misplaced = {}
    for file in DRAWINGS:
        page.goto(file.as_uri())
        misplaced[file.stem] = page.evaluate(_MISPLACED)
    page.close()

    assert misplaced == {file.stem: [] for file in DRAWINGS}
