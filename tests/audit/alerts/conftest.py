"""The deployment of the tests of alerts."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from audit.models import CeTurnCount
from tests.audit.alerts.counts import NOW


@pytest.fixture
def set_clock(settings: Any) -> Callable[[datetime], None]:
    """Sets the clock of the database."""

    def set_time(moment: datetime) -> None:
        settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_AT": moment}

    return set_time


@pytest.fixture(autouse=True)
def deployment(settings: Any, set_clock: Callable[[datetime], None], monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CONVENGINE = {
        **settings.CONVENGINE,
        "NOTIFICATION_FROM": "Desk <desk@example.com>",
        "NOTIFICATION_RECIPIENTS": ["@example.com"],
        "NOTIFICATION_WEBHOOKS": ["hook"],
    }
    set_clock(NOW)
    # The clock of this process shows another time.
    monkeypatch.setattr(CeTurnCount, "HOURS_KEPT", 3650)
