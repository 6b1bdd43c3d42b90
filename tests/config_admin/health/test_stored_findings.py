"""Findings keep their age while they last, whatever else changes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.health.check import Health, check_all
from config_admin.health.stored_findings import list_new_findings, read_ages, store_findings, summarise_findings
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from config_admin.validation.world import World
from tests.config_admin.builders import make, rules

pytestmark = pytest.mark.django_db


def check(**values: object) -> int:
    """Check the release in force and store what is found; the release."""
    snapshot = snapshots.current()
    health = check_all(snapshot, World())
    store_findings(Health(health.config_version, health.findings, **values), snapshot)  # type: ignore[arg-type]
    return snapshot.config_version


def list_ages(code: str) -> list[int]:
    return [finding.since_version for finding in m.CeHealthFinding.objects.filter(code=code).order_by("since_version")]


def test_a_finding_of_the_first_check_is_as_old_as_the_last_change_of_its_rows() -> None:
    with change_set():
        make(m.CeIntent)
        make(m.CeResponse, intent_code="LOAN", state_code="NOWHERE")
    made = snapshots.current().config_version
    with change_set():
        make(m.CeIntent, intent_code="CARD")
    assert check() > made

    assert list_ages("UNREACHABLE_STATE") == [made]


def test_a_finding_keeps_its_age_when_its_row_changes_and_goes_with_its_cause() -> None:
    with change_set():
        make(m.CeIntent)
        answer = make(m.CeResponse, intent_code="LOAN", state_code="NOWHERE")
    since = check()
    with change_set():
        m.CeResponse.objects.filter(pk=answer.pk).update(exact_text="Other words")
    check()
    assert list_ages("UNREACHABLE_STATE") == [since]

    with change_set():
        m.CeResponse.objects.filter(pk=answer.pk).delete()
    check(left_out={"rows": 1})
    assert list_ages("UNREACHABLE_STATE") == [since]
    check()
    assert list_ages("UNREACHABLE_STATE") == []


def test_a_finding_that_old_rows_cause_since_the_last_check_dates_from_the_next_release() -> None:
    with change_set():
        make(m.CeIntent)
        make(m.CeResponse, intent_code="LOAN", state_code="LATER")
        rule = make(m.CeRule, intent_code="ANY", state_code="ANY", action_value="LATER", match_pattern="go")
    checked = check()
    assert list_ages("UNREACHABLE_STATE") == []
    with change_set():
        m.CeRule.objects.filter(pk=rule.pk).delete()
    with change_set():
        make(m.CeIntent, intent_code="CARD")
    check()

    assert list_ages("UNREACHABLE_STATE") == [checked + 1]
    assert [finding.code for finding in list_new_findings(checked + 1, 5)] == ["UNREACHABLE_STATE"]
    assert checked + 1 in read_ages().values()


def test_accepted_findings_are_not_in_the_summary() -> None:
    with change_set():
        make(m.CeIntent)
        make(m.CeResponse, intent_code="LOAN", state_code="NOWHERE")
    assert summarise_findings(5).config_version == 0
    check()
    total = summarise_findings(5).total
    finding = m.CeHealthFinding.objects.get(code="UNREACHABLE_STATE")
    m.CeHealthAcknowledgement.objects.create(pk=finding.fingerprint, code=finding.code, reason="later", made_by="ada")

    assert summarise_findings(5).total == total - 1


def test_many_findings_are_stored_with_as_many_queries_as_few() -> None:
    def queries(count: int) -> int:
        with change_set():
            for rule in (invalid := rules(count)):
                rule.intent_code, rule.rule_type, rule.match_pattern = "LOAN", "REGEX", "("
            m.CeRule.objects.bulk_create(invalid)
        snapshot = snapshots.current()
        health = check_all(snapshot, World())
        with CaptureQueriesContext(connection) as captured:
            store_findings(health, snapshot)
        return len(captured)

    with change_set():
        make(m.CeIntent)
    queries(1)

    assert queries(10) == queries(40)
