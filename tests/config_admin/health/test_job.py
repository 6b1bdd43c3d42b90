"""The job that checks new releases."""

import pytest

from config_admin import models as m
from config_admin.health.job import JOB, check_release
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from convengine.server.jobs.running import all_jobs
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db


def test_each_release_is_checked_once() -> None:
    with change_set():
        make(m.CeIntent)
        make(m.CeResponse, intent_code="LOAN", state_code="NOWHERE")

    (counts,) = check_release()
    assert counts["findings"] == m.CeHealthFinding.objects.count() > 0
    assert m.CeHealthReport.objects.get().config_version == snapshots.current().config_version
    assert list(check_release()) == []
    assert all_jobs()["check_health"] is JOB
