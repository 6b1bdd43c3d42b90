"""Counts of turns, as the job makes them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from django.db import transaction
from django.template.response import SimpleTemplateResponse
from django.test import Client
from django.utils import timezone

from audit.reports.cause import CauseEvidence
from audit.reports.count_batch import NEW_COUNTS, CountChange, collect_counts, insert_rows


class CountKey(NamedTuple):
    """What a count is about, in the order of the table of new counts."""

    hour: datetime
    workspace_id: str
    channel: str
    config_version: int
    intent_code: str
    kind: str
    value: str


def add_counts(counts: Iterable[tuple[CountKey, int, Decimal]]) -> None:
    """Add some counts. Needs an open transaction."""
    with collect_counts(CountChange.ADD) as cursor:
        insert_rows(cursor, NEW_COUNTS, [(*key, turns, str(amount)) for key, turns, amount in counts])


def count(kind: str, value: str, turns: int, *, days: float, release: int, intent: str = "HOURS") -> None:
    """A count of the hour that was so many days ago."""
    hour = (timezone.now() - timedelta(days=days)).replace(minute=0, second=0, microsecond=0)
    key = CountKey(hour.astimezone(UTC), "default", "api", release, intent, kind, value)
    with transaction.atomic():
        add_counts([(key, turns, Decimal(0))])


def count_turns(turns: int, not_understood: int, *, days: float, release: int) -> None:
    """So many turns, and how many of them nobody understood."""
    count("TURN", "OK", turns, days=days, release=release)
    if not_understood:
        count("STAGE", "NOT_UNDERSTOOD", not_understood, days=days, release=release)


def blame_releases(patch_attribute: pytest.MonkeyPatch) -> None:
    """Counts without turns cannot run again: each release is why the turns are worse."""
    for name in ("find_bad_turns", "find_moved_turns"):
        patch_attribute.setattr(f"audit.reports.effect.{name}", lambda *about, **options: CauseEvidence(20, 20, 20))


def count_listed_turns(reader: Client, address: str) -> int:
    """The lines of a list as its template gets them: writing the page of each number would take most of the time."""
    with patch.object(SimpleTemplateResponse, "rendered_content", ""):
        page: Any = reader.get(address, follow=True)
    return len(page.context_data["lines"])
