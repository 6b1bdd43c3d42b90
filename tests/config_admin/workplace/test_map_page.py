"""The page of the map: what it shows to whom, and what it costs."""

import json
import re
import time
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.editing.links import chart_url, workspace_url
from config_admin.releases.change_set import change_set
from tests.config_admin.builders import make, new

pytestmark = pytest.mark.django_db


def drawing(client: Client, url: str) -> dict[str, Any]:
    response = client.get(url)
    assert response.status_code == 200
    match = re.search(r'<script id="ce-drawing" type="application/json">(.*?)</script>', response.content.decode())
    return json.loads(match[1]) if match else {}


def states(count: int) -> None:
    """A chain of states, each with its answer and a rule to the next."""
    with change_set():
        m.CeRule.objects.bulk_create(
            new(m.CeRule, intent_code="LOAN", state_code=f"S{n}", action="SET_STATE", action_value=f"S{n + 1}")
            for n in range(count)
        )


def test_boxes_and_arrows_open_their_rows(ada: Client) -> None:
    make(m.CeIntent)
    states(1)
    drawn = drawing(ada, chart_url("LOAN"))

    assert [node["name"] for node in drawn["nodes"]] == ["S0", "S1"]
    (move,) = drawn["moves"]
    assert (move["from"], move["to"], move["turns"]) == ("S0", "S1", 0)
    assert move["rows"][0]["url"].startswith("/admin/config_admin/cerule/")
    assert "set state to S1" in move["rows"][0]["text"]


def test_an_intent_without_rows_and_an_installation_without_any_say_so(ada: Client) -> None:
    make(m.CeIntent)
    assert "There is nothing to draw yet" in ada.get(chart_url("LOAN")).content.decode()
    assert ada.get(chart_url("NOWHERE")).status_code == 404
    assert [node["name"] for node in drawing(ada, chart_url())["nodes"]] == ["Loan"]


def test_a_box_leads_to_the_map_of_an_intent_that_is_there(ada: Client) -> None:
    make(m.CeIntent)
    make(m.CeRule, intent_code="LOAN", action="SET_INTENT", action_value="GONE")
    make(m.CeRule, intent_code="LOAN", state_code="LOST", action="SET_INTENT", action_value="UNKNOWN")
    urls = {node["name"]: node["url"] for node in drawing(ada, chart_url())["nodes"]}

    assert urls["GONE"] == ""
    assert ada.get(urls["UNKNOWN"]).status_code == 200
    assert chart_url("UNKNOWN") in ada.get(workspace_url("UNKNOWN")).content.decode()


def test_three_hundred_states_cost_as_many_queries_as_three(ada: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            drawing(ada, chart_url("LOAN"))
        return len(captured)

    make(m.CeIntent)
    states(3)
    queries()
    few = queries()
    states(300)
    queries()
    begun = time.thread_time()
    assert queries() == few <= 8
    assert time.thread_time() - begun < 2


def test_who_may_not_see_rules_sees_no_map(somebody: Any) -> None:
    make(m.CeIntent)
    assert somebody("olga", "operator").get(chart_url("LOAN")).status_code == 403
    assert somebody("quinn", "qa").get(chart_url("LOAN")).status_code == 200


def test_all_states_of_all_intents_stand_in_one_drawing(ada: Client) -> None:
    make(m.CeIntent)
    states(2)
    drawn = drawing(ada, f"{chart_url()}?states=1")

    assert {(node["group"], node["name"]) for node in drawn["nodes"]} >= {("LOAN", "S0"), ("LOAN", "S2")}
    assert [move["from"] for move in drawn["moves"]] == ["Loan / S0", "Loan / S1"]
    assert "Loan / S1" in ada.get(f"{chart_url()}?states=1").content.decode()
    assert drawing(ada, f"{chart_url()}?states=1&from=LOAN") == drawn
