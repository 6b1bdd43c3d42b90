"""Counts of turns, and a rule on them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction

from audit.models import CeAlertRule, CeCountProgress
from tests.audit.reports.counts import CountKey, add_counts

#: What the clock shows in these tests.
NOW = datetime(2026, 3, 10, 10, 20, tzinfo=UTC)


def count(hours_ago: int, turns: int, missed: int = 0, now: datetime = NOW, **columns: Any) -> None:
    """Turns of an hour, of which some were not understood."""
    hour = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=hours_ago)
    columns = {"workspace_id": "default", "channel": "api", "config_version": 3, "intent_code": "HOURS"} | columns
    for kind, value, number in (("TURN", "OK", turns), ("STAGE", "NOT_UNDERSTOOD", missed)):
        with transaction.atomic():
            add_counts([(CountKey(hour, kind=kind, value=value, **columns), number, Decimal(100 * turns))])


def count_until(now: datetime = NOW) -> None:
    """Let the job that counts have looked at this time."""
    CeCountProgress.objects.update_or_create(pk=1, defaults={"seen_at": now})


def make_rule(**values: Any) -> CeAlertRule:
    """“Not understood over 15 % for an hour”."""
    return CeAlertRule.objects.create(
        **{"title": "Not understood", "measure": "not_understood", "bound": Decimal(15), "addresses": [], **values}
    )
