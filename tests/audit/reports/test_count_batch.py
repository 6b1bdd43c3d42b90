"""Counts of a batch, added to those of hours and days."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from audit.models import CeTurnCount
from tests.audit.reports.counts import CountKey, add_counts

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def test_channels_that_differ_in_a_control_character_only_are_counted_apart() -> None:
    channels = ["a b", "a\x1eb", "a\x1fb", ""]
    hour = datetime(2026, 1, 1, tzinfo=UTC)
    add_counts((CountKey(hour, "default", channel, 1, "FEES", "TURN", "OK"), 2, Decimal("0.5")) for channel in channels)
    rows = CeTurnCount.objects.filter(is_hour=False).values_list("channel", "turns", "amount")
    assert sorted(rows) == sorted((channel, 2, Decimal("0.5")) for channel in channels)
