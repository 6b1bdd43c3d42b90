"""Releases on the time lines: marked in the chart and in the table beside it, with a link to their effect."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.reports.chart import mark_releases
from audit.reports.report import Period, Totals
from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from tests.audit.reports.counts import count_turns
from tests.config_admin.builders import make
from tests.sign_in import sign_in_superuser

pytestmark = pytest.mark.django_db


def release(reason: str) -> int:
    with change_set(Origin.ADMIN, "ben", reason) as change:
        make(m.CeIntent, intent_code=f"LOAN{m.CeIntent.objects.count()}")
    assert change.release
    return change.release.pk


def test_the_releases_of_a_period_have_one_mark() -> None:
    first, second = release("Softer words"), release("Shorter words")
    now = timezone.now()
    hours = [Period(now - timedelta(hours=2), now - timedelta(hours=1), Totals())]
    hours.append(Period(now - timedelta(hours=1), now + timedelta(seconds=1), Totals()))
    none, mark = mark_releases(hours)
    assert none is None
    assert mark is not None
    assert (mark.short, mark.name) == (f"R{first}–{second}", f"Releases {first} to {second}")
    assert mark.title.endswith(f"Release {second} by ben: Shorter words")
    assert mark.url == reverse("admin:audit_ceaudit_effect", args=[second])


def test_the_chart_and_the_table_of_the_report_show_it() -> None:
    number = release("Softer words")
    count_turns(100, 10, days=0, release=number)
    client = sign_in_superuser()
    page = client.get(reverse("admin:audit_ceaudit_reports")).content.decode()
    assert re.search(rf"<text[^>]*>R{number}</text>", page)
    assert re.search(rf'<a class="ce-link"[^>]*>Release {number}</a>', page)
