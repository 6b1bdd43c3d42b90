"""The coverage of a bot as one HTML page."""

from html import escape

from convengine.play.coverage import Coverage, CoveredItem

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Coverage</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1f2937}
table {border-collapse: collapse; width: 100%} th, td {text-align: left; padding: .3rem .6rem; vertical-align: top}
tr {border-bottom: 1px solid #e5e7eb} .missed td:first-child {border-left: 4px solid #b91c1c}
.reached td:first-child {border-left: 4px solid #15803d} summary {cursor: pointer; font-weight: 600; margin: 1rem 0}
</style></head><body>
"""


def render_coverage(coverage: Coverage) -> str:
    """The page: a section for each kind, what no scenario reaches first."""
    sections = "".join(_render_kind(kind, items) for kind, items in coverage.list_kinds())
    return (
        f"{_HEAD}<h1>Coverage: {coverage.percent:.1f} %</h1>\n"
        "<p>What the scenarios of this run reach in the configuration.</p>\n"
        f"{sections}</body></html>\n"
    )


def _render_kind(kind: str, items: list[CoveredItem]) -> str:
    """The section of one kind, what no scenario reaches first; it is open if there is such a thing."""
    reached = sum(bool(item.scenarios) for item in items)
    rows = "".join(map(_render_item, sorted(items, key=lambda item: bool(item.scenarios))))
    is_open = "" if reached == len(items) else " open"
    return (
        f"<details{is_open}><summary>{escape(kind)}: {reached} of {len(items)}</summary>"
        f"<table><thead><tr><th scope='col'>Name</th><th scope='col'>Reached by</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></details>\n"
    )


def _render_item(item: CoveredItem) -> str:
    scenarios = escape(", ".join(item.scenarios)) or "no scenario"
    style = "reached" if item.scenarios else "missed"
    return f"<tr class='{style}'><td>{escape(item.name)}</td><td>{scenarios}</td></tr>\n"
