"""Coverage of tests: equal to a count of its own over the events of the same turns."""

from dataclasses import replace

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.test_cases import coverage_page
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


def test_the_page_says_100_percent_of_nothing_that_lacks_an_item(ben: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = measure_coverage(configuration().current())
    (key, unreached), *others = measured.coverage.items.items()
    kind = replace(unreached, scenarios={"Hours": None})
    measured.coverage.items |= {key: replace(unreached, scenarios={}), **{other: kind for other, _ in others}}
    measured.coverage.items |= {(*key, str(number)): kind for number in range(1000)}
    measured.intents = dict.fromkeys(measured.coverage.items, "FEES")
    monkeypatch.setattr(coverage_page, "measure_coverage", lambda _: measured)

    shown = ben.get("/admin/config_admin/cetestcase/coverage/").context

    assert (shown["percent"], [each["percent"] for each in shown["intents"]]) == (99, [99])


def test_the_page_lists_what_is_not_reached_by_intent(ben: Client) -> None:
    make_test("Hours", {"user": "hours"})
    run_tests()
    page = ben.get("/admin/config_admin/cetestcase/coverage/?intent=FEES")
    assert b"Not reached by any test of" in page.content
    assert {item["kind"] for item in page.context["items"]} >= {"Phrases", "Answers"}
    assert ben.get("/admin/config_admin/cetestcase/coverage/?configuration=draft:9").status_code == 200


def test_a_long_page_has_pages_of_intents_and_of_what_is_not_reached(
    ben: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coverage_page, "ITEMS_PER_PAGE", 2)
    monkeypatch.setattr(coverage_page, "INTENTS_PER_PAGE", 1)
    address = "/admin/config_admin/cetestcase/coverage/"
    first = ben.get(address)
    second = ben.get(address, {"page": "2", "intents": "2"})

    assert len(first.context["items"]) == len(second.context["items"]) == 2
    assert first.context["items"] != second.context["items"]
    assert [page.context["intents"][0]["code"] for page in (first, second)] == ["FEES", "HOURS"]
    text = second.content.decode()
    assert "Items 3 to 4 of" in text
    # Each list goes on from where the other one stays.
    assert "?intents=2&amp;page=3#unreached-title" in text
    assert "?page=2&amp;intents=1#intents-title" in text
