"""Runs in the thread of the test, which alone sees what a test has written."""

import pytest

from audit.what_if.jobs import what_ifs
from tests.api import Caller
from tests.worlds import create_help_desk


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    return Caller()


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_ifs, "submit", lambda key, perform: True)
