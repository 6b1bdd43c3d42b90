"""No page loads or runs what its policy forbids: the console says so, and `test_every_page` walks through all pages."""

import pytest

from tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
#: Notes each refusal of the browser.
_WATCH = """
window.refusals = [];
document.addEventListener('securitypolicyviolation', (event) => window.refusals.push(
    `${location.pathname}: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile} ${event.lineNumber}`));
"""


def read_refusals(visitor: Visitor) -> list[str]:
    return list(visitor.page.evaluate("window.refusals ?? ['the page was not watched']"))


def test_the_description_of_the_api_shows_itself(ada: Visitor) -> None:
    ada.page.add_init_script(_WATCH)
    ada.go("/api/docs/")
    ada.page.get_by_text("createTurn").or_(ada.page.get_by_text("/api/v1/conversation/message")).first.wait_for()
    ada.page.get_by_text("/api/v1/conversation/message").first.click()
    ada.page.get_by_text("Try it out").first.wait_for()

    assert read_refusals(ada) == []


def test_an_injected_script_does_not_run(ada: Visitor) -> None:
    ada.page.add_init_script(_WATCH)
    for path in ("/admin/", "/docs/", "/api/docs/"):
        ada.go(path)
        ada.page.evaluate(
            """() => {
                const script = document.createElement('script');
                script.textContent = 'window.injected = true';
                document.body.append(script);
                const image = '<img src="/nothing.png" onerror="window.injected = true">';
                document.body.insertAdjacentHTML('beforeend', image);
                document.body.insertAdjacentHTML('beforeend', '<base href="https://evil.example/">');
            }"""
        )
        ada.page.wait_for_timeout(200)
        assert ada.page.evaluate("window.injected ?? false") is False
        assert any("script-src" in refusal for refusal in read_refusals(ada))
    ada.troubles.clear()
