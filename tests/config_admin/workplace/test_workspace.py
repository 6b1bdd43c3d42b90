"""The page of one intent: what it shows, what it costs, and the way there and back."""

import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import CeTurnIndex
from config_admin import models as m
from config_admin.editing.links import workspace_url
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address, fill, send_again
from tests.config_admin.builders import EXAMPLES, MODELS, make, new

pytestmark = pytest.mark.django_db

PAGE = "/admin/config_admin/ceintent/LOAN/workspace/"


def text(client: Client, url: str = PAGE) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return str(response.content.decode())


def store_decisions(row: Any, *days_ago: float) -> None:
    for days in days_ago:
        moment = timezone.now() - timedelta(days=days)
        CeTurnIndex.objects.create(turn_id=uuid4(), kind=row._meta.db_table, value=row.pk, role="R", at=moment)


def many_rules(count: int) -> None:
    phases = ["POST_DIALOGUE_ACT", "POST_SCHEMA_EXTRACTION", "PRE_RESPONSE_RESOLUTION"]
    with change_set():
        m.CeRule.objects.bulk_create(
            new(
                m.CeRule,
                phase=phases[number % 3],
                rule_type="JSON_PATH",
                match_pattern=f"$[?(@.context.field{number} == {number})]",
                intent_code="LOAN" if number % 2 else "ANY",
            )
            for number in range(count)
        )


def test_everything_that_concerns_the_intent_is_on_its_page(ada: Client) -> None:
    with change_set():
        make(m.CeIntent)
        for model in MODELS:
            if EXAMPLES[model][0].get("intent_code") == "LOAN" and model is not m.CeIntent:
                make(model)
    shown = text(ada)

    for words in (
        "loan",
        "Always in state COLLECT of intent LOAN, set state to DONE.",
        "How much?",
        "PAY: bank (pay)",
        "A → B",
    ):
        assert words in shown, words
    assert 'id="part-ce_output_schema"' in shown


def test_an_intent_without_a_row_says_so_and_offers_the_first(ada: Client) -> None:
    make(m.CeIntent)
    shown = text(ada)

    assert "No phrases yet. Add one first." in shown
    assert "cerule/add/?intent_code=LOAN&amp;phase=POST_DIALOGUE_ACT&amp;workspace=LOAN" in shown


def test_each_row_tells_how_often_it_fired_when_last_or_never(ada: Client) -> None:
    make(m.CeIntent)
    often, once, never = (make(m.CeRule, action_value=state) for state in ("A", "B", "C"))
    store_decisions(often, 1, 2, 30)
    store_decisions(once, 30)

    groups = next(part for part in ada.get(PAGE).context["parts"] if part.key == "ce_rule").groups
    fired = {line.url.split("/")[4]: line.fired for group in groups for line in group.lines}

    assert fired[str(often.pk)] == "2×"
    assert fired[str(once.pk)].startswith("last on ")
    assert fired[str(never.pk)] == "never used"


def test_rules_of_every_intent_are_there_and_marked(ada: Client) -> None:
    make(m.CeIntent)
    make(m.CeRule, intent_code="ANY")

    assert "every intent" in text(ada)
    assert "Always in state COLLECT, set state to DONE." in text(ada, "/admin/config_admin/ceintent/ANY/workspace/")


def test_a_state_that_ends_without_an_answer_is_told(ada: Client) -> None:
    make(m.CeIntent)
    make(m.CeRule, action_value="DONE")
    a_response(intent_code="LOAN", state_code="COLLECT")

    assert ada.get(PAGE).context["unanswered"][0][1] == "DONE"
    assert "Missing answers" in text(ada)


def test_a_form_that_was_opened_here_leads_back(ada: Client) -> None:
    with change_set():
        make(m.CeIntent)
        row = a_response(intent_code="LOAN", state_code="ANY")
    url = f"{address(m.CeResponse, 'change', row.pk)}?{urlencode({'workspace': 'LOAN'})}"

    assert fill(ada, url, exact_text="How much, please?")["Location"] == PAGE
    assert f'href="{PAGE}"' in text(ada, address(m.CeResponse, "change", row.pk))
    assert ada.post(url.replace("/change/", "/delete/"), {"post": "yes", "reason": "Because"})["Location"] == PAGE


def test_a_new_intent_is_filled_in_next(ada: Client) -> None:
    warned = fill(ada, address(m.CeIntent, "add"), intent_code="REFUND", description="Wants money back.")
    response = send_again(ada, warned, _confirm="1")

    assert response["Location"] == workspace_url("REFUND")


def test_the_list_leads_to_the_workspace(ada: Client) -> None:
    make(m.CeIntent)

    assert f'href="{PAGE}' in text(ada, address(m.CeIntent))


def test_who_may_only_read_is_offered_nothing_to_add(somebody: Any) -> None:
    make(m.CeIntent)
    quinn = somebody("quinn", "qa")

    assert "/add/" not in text(quinn)
    assert "Edit the intent" not in text(quinn)
    assert "data-here" not in text(quinn)
    assert somebody("nobody").get(PAGE).status_code == 403


def test_an_intent_that_is_not_there_has_no_page(ada: Client) -> None:
    assert ada.get("/admin/config_admin/ceintent/NOWHERE/workspace/").status_code == 404


@pytest.mark.nightly
def test_five_thousand_rules_cost_as_many_queries_as_ten(ada: Client) -> None:
    def queries() -> int:
        text(ada)
        with CaptureQueriesContext(connection) as captured:
            text(ada)
        return len(captured)

    make(m.CeIntent)
    many_rules(10)
    few = queries()
    many_rules(5000)
    # One of them says whether a gradual release runs, so that changes go to a draft.
    assert queries() == few <= 9

    begun = time.thread_time()
    shown = text(ada)
    # 300 ms, and what a busy machine may add.
    assert time.thread_time() - begun < 0.45
    assert "more in the list" in shown
