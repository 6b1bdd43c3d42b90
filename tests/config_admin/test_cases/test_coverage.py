"""Coverage of tests: equal to a count of its own over the events of the same turns."""

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.test_cases.coverage import count_by_intent, measure_coverage
from convengine.server.interfaces.configuration import configuration
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def desk() -> None:
    create_help_desk()


def list_unreached(kind: str) -> set[str]:
    measured = measure_coverage(configuration().current())
    return {key[1] for key, item in measured.unreached if item.kind == kind}


def test_it_equals_an_independent_count() -> None:
    answers = {row.exact_text: str(row.pk) for row in m.CeResponse.objects.all()}
    phrases = {row.intent_code: str(row.pk) for row in m.CeIntentClassifier.objects.all()}
    assert list_unreached("Answers") == set(answers.values())
    make_test("Hours", {"user": "hours"}, {"user": "hours", "input_params": {"vip": True}})
    make_test("Nothing", {"user": "xyz"})
    run_tests()
    # The answers that these turns give, and the phrases in them.
    assert list_unreached("Answers") == {answers["No fees."]}
    assert list_unreached("Phrases") == {phrases["FEES"]}
    assert list_unreached("Rules") == set()
    assert list_unreached("Moves") == set()
    assert count_by_intent(measure_coverage(configuration().current()))["FEES"][0] == 0


def test_it_is_of_exactly_this_state_and_of_tests_as_they_are() -> None:
    case = make_test("Hours", {"user": "hours"})
    run_tests()
    assert measure_coverage(configuration().current()).ran == 1
    m.CeTestCase.objects.filter(pk=case.pk).update(document_hash="other")
    assert measure_coverage(configuration().current()).ran == 0
    m.CeTestCase.objects.filter(pk=case.pk).update(document_hash=case.document_hash)
    with change_set():
        m.CeIntent.objects.filter(pk="FEES").update(description="what it costs")
    assert measure_coverage(configuration().current()).ran == 0


def test_the_page_lists_what_is_not_reached_by_intent(ben: Client) -> None:
    make_test("Hours", {"user": "hours"})
    run_tests()
    page = ben.get("/admin/config_admin/cetestcase/coverage/?intent=FEES")
    assert b"Not reached by any test of" in page.content
    assert {item["kind"] for item in page.context["items"]} >= {"Phrases", "Answers"}
    assert ben.get("/admin/config_admin/cetestcase/coverage/?configuration=draft:9").status_code == 200
