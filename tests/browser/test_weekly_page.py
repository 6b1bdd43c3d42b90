"""The weekly page: reached from Home, and printed on exactly one sheet."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_the_week_is_printed_on_one_sheet(ada: Visitor) -> None:
    ada.server.say("do you sell gift cards")
    ada.go("/admin/audit/ceaudit/reports/week/")
    expect(ada.page.get_by_role("heading", level=1)).to_contain_text("The week to")
    pdf = ada.page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(re.findall(rb"/Type\s*/Page[^s]", pdf)) == 1
