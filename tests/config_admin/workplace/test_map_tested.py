"""The map marks what no test plays."""

from typing import Any

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.editing.links import chart_url
from config_admin.releases.change_set import change_set
from tests.config_admin.builders import make
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.config_admin.workplace.test_map_page import drawing
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def desk() -> None:
    """Two intents; a test plays one of them. A rule that never applies leads from its state to another one."""
    create_help_desk()
    with change_set():
        make(m.CeRule, intent_code="HOURS", state_code="CLOSED", action="SET_STATE", action_value="OPEN")
        make(m.CeResponse, intent_code="HOURS", state_code="OPEN", response_type="EXACT", exact_text="We are open.")
    make_test("Hours", {"user": "hours", "expect": {"intent": "HOURS"}})
    run_tests()


def list_untested(drawn: dict[str, Any]) -> set[str]:
    names = {node["called"] for node in drawn["nodes"] if "UNTESTED" in node["marks"]}
    return names | {f"{move['from']} → {move['to']}" for move in drawn["moves"] if "UNTESTED" in move["marks"]}


def test_states_moves_and_rows_that_no_test_plays_are_marked(ada: Client) -> None:
    url = chart_url("HOURS")
    assert list_untested(drawing(ada, url)) == set()
    drawn = drawing(ada, f"{url}?tests=1")
    assert list_untested(drawn) == {"OPEN", "CLOSED → OPEN", "VIP", "IDLE → VIP"}
    notes = {row["text"]: row["note"] for node in drawn["nodes"] for row in node["rows"]}
    by_answer = {text.strip("“”"): note for text, note in notes.items()}
    assert (by_answer["We are open."], by_answer["Nine to five."]) == ("not tested", ""), notes
    page = ada.get(f"{url}?tests=1").content.decode()
    assert "1 of 1 test ran on this state of the configuration. Not tested: 2 boxes and 2 arrows." in page
    assert "No test plays this." in page


def test_the_switch_is_kept_on_the_way_to_other_maps(ada: Client) -> None:
    drawn = drawing(ada, f"{chart_url()}?tests=1")
    assert list_untested(drawn) >= {"Fees"}
    assert {node["url"] for node in drawn["nodes"] if node["called"] == "Hours"} == {f"{chart_url('HOURS')}?tests=1"}
    by_state = ada.get(f"{chart_url()}?states=1&tests=1")
    assert by_state.context["switch_url"] == f"{chart_url()}?states=1"
    assert by_state.context["tested"].unplayed_states > 1


def test_before_a_run_the_page_says_that_no_test_ran(ada: Client) -> None:
    m.CeTestRun.objects.all().delete()
    page = ada.get(f"{chart_url('HOURS')}?tests=1").content.decode()
    assert "No test ran on this state of the configuration yet, so everything counts as not tested." in page
    assert "/admin/config_admin/cetestcase/run/" in page


def test_who_may_not_see_tests_has_no_switch(somebody: Any) -> None:
    integrator = somebody("ida", "integrator")
    page = integrator.get(f"{chart_url('HOURS')}?tests=1")
    if page.status_code == 200:
        assert page.context["tested"] is None
        assert b"Show tests" not in page.content
