"""No page loads or runs what its policy forbids."""

import pytest

from tests.browser.conftest import Server, Visitor
from tests.browser.test_every_page import walk_pages

pytestmark = [pytest.mark.browser, pytest.mark.long]
#: Notes each refusal of the browser.
_WATCH = """
window.refusals = [];
document.addEventListener('securitypolicyviolation', (event) => window.refusals.push(
    `${location.pathname}: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile} ${event.lineNumber}`));
"""


def read_refusals(visitor: Visitor) -> list[str]:
    return list(visitor.page.evaluate("window.refusals ?? ['the page was not watched']"))


def test_no_page_does_what_its_policy_forbids(ada: Visitor, server: Server) -> None:
    for message in ("I want to cancel my order", "10021", "yes"):
        server.say(message, "0b7b8c9a-5f0e-4a57-9d2a-0c6f6b1f5a11")
    ada.page.add_init_script(_WATCH)
    pages, refusals = 0, []
    for _ in walk_pages(ada, "/admin/"):
        pages += 1
        refusals += read_refusals(ada)

    assert pages > 60
    assert refusals == []


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
