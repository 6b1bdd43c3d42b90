"""What axe-core finds on a page that keeps people from using it. Its script comes from a package, not from the net."""

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

#: Violations of less weight are advice: they are no reason to fail.
GRAVE = ("serious", "critical")
CONTRAST = "color-contrast"
#: An icon is a word until its font is there.
RUN = """([part, only, without]) => document.fonts.ready.then(() => axe.run(part ? {include: [[part]]} : document, {
    resultTypes: ["violations"], elementRef: false, preload: false,
    ...(only ? {runOnly: {type: "rule", values: [only]}} : {}),
    ...(without ? {rules: {[without]: {enabled: false}}} : {}),
})).then((found) => found.violations)"""


def violations(page: Page, part: str = "", *, only: str = "", without: str = "") -> list[str]:
    """Serious and critical violations of the page as it stands: rule, selector, page and what to do.

    The whole page, or what a selector finds; all rules, `only` one, or all `without` one: comparing colours is slow.
    """
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    return [
        f"{one['id']} ({one['impact']}) at {node['target'][-1]} of {page.url}: {node['failureSummary']}"
        for one in page.evaluate(RUN, [part, only, without])
        if one["impact"] in GRAVE
        for node in one["nodes"]
    ]


def no_violations(page: Page) -> None:
    """Fail when axe-core finds something serious or critical, naming rule, selector and page."""
    found = violations(page)
    assert not found, "\n\n".join(found)
