"""An analyst makes the second demonstration again with the pages, and gets the bundle that is shipped."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.bicycle_workshop import BUNDLE, USER, make_workshop, serve_empty
from tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]


def drop_numbers(bundle: dict[str, Any]) -> dict[str, list[str]]:
    """The rows by table, without their numbers and in an order of their own."""
    return {
        table: sorted(
            json.dumps({name: value for name, value in row.items() if not name.endswith("_id")}, sort_keys=True)
            for row in rows
        )
        for table, rows in bundle["tables"].items()
    }


def test_the_pages_make_the_workshop_that_is_shipped(tmp_path: Path, browser: Browser) -> None:
    with serve_empty(tmp_path) as server:
        context = browser.new_context()
        analyst = Visitor(server, context.new_page()).sign_in(USER)
        bundle = make_workshop(analyst)
        context.close()

    assert not analyst.troubles
    assert drop_numbers(bundle) == drop_numbers(json.loads(BUNDLE.read_text()))
