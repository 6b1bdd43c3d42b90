"""Every list costs the same number of queries, however many rows there are, and shows them in the order that wins."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.releases.change_set import change_set
from tests.cases import for_each
from tests.config_admin.admin.pages import a_response, address
from tests.config_admin.builders import EACH_MODEL, EXAMPLES, MODELS, make, new

pytestmark = pytest.mark.django_db

#: Rows of a list of four pages, of 15 rows each.
FOUR_PAGES = 60
#: Columns that may not repeat, as a number makes them.
DISTINCT: dict[type[Any], Any] = {
    m.CeIntent: lambda n: {"intent_code": f"I{n}"},
    m.CeStateGraph: lambda n: {"to_state": f"S{n}"},
    m.CeMcpSqlGuardrail: lambda n: {"match_value": f"f{n}"},
    m.CeMcpTool: lambda n: {"tool_code": f"t{n}"},
    m.CeMcpServer: lambda n: {"name": f"s{n}"},
    m.CeConfig: lambda n: {"config_key": f"K{n}"},
    m.CeAnswerDocument: lambda n: {"title": f"Rules {n}"},
}


def add(model: type[Any], numbers: range) -> None:
    with change_set():
        if model in (m.CeMcpDbTool, m.CeMcpHttpTool):
            add(m.CeMcpTool, numbers)
            tools = m.CeMcpTool.objects.filter(tool_code__in=[f"t{n}" for n in numbers])
            model.objects.bulk_create([model(**EXAMPLES[model][0], tool=tool) for tool in tools])
        else:
            distinct = DISTINCT.get(model, lambda n: {})
            model.objects.bulk_create([new(model, **distinct(n)) for n in numbers])


def queries(client: Client, model: Any) -> int:
    client.get(address(model))
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(address(model)).status_code == 200
    return len(captured)


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.db_table)
def test_a_list_of_four_pages_costs_as_many_queries_as_one_of_ten_rows(model: Any, ada: Client) -> None:
    add(model, range(10))
    few = queries(ada, model)
    add(model, range(10, FOUR_PAGES))

    assert queries(ada, model) == few
    assert few <= 10


@for_each("model", MODELS)
def test_the_list_and_the_form_of_every_table_open(ada: Client, model: Any) -> None:
    with transaction.atomic():
        for url in (address(model), address(model, "change", make(model).pk)):
            assert ada.get(url).status_code == 200, url
        transaction.set_rollback(True)


@EACH_MODEL
def test_every_page_of_a_row_opens(model: Any, ada: Client) -> None:
    row = make(model)

    for url in (
        address(model),
        f"{address(model)}?q=loan",
        address(model, "add"),
        *(address(model, page, row.pk) for page in ("change", "history", "delete")),
    ):
        assert ada.get(url).status_code == 200, url


def test_rules_stand_in_the_order_of_a_turn(ada: Client) -> None:
    make(m.CeIntent)
    last = make(m.CeRule, phase="PRE_RESPONSE_RESOLUTION", priority=1)
    wide = make(m.CeRule, phase="POST_DIALOGUE_ACT", intent_code="ANY", state_code="ANY", priority=1)
    state = make(m.CeRule, phase="POST_DIALOGUE_ACT", state_code="ANY", priority=1)
    late = make(m.CeRule, phase="POST_DIALOGUE_ACT", priority=9)
    soon = make(m.CeRule, phase="POST_DIALOGUE_ACT", priority=1)

    shown = list(ada.get(address(m.CeRule)).context["cl"].result_list)

    assert shown == [soon, late, state, wide, last]


def test_responses_stand_in_the_order_in_which_they_win(ada: Client) -> None:
    widest = a_response(intent_code="ANY", state_code="ANY")
    by_intent = a_response(state_code="ANY")
    by_state = a_response(intent_code="ANY")
    second = a_response()
    first = a_response(priority=1)

    shown = [row for row in ada.get(address(m.CeResponse)).context["cl"].result_list if row.state_code != "UNKNOWN"]

    assert shown == [first, second, by_state, by_intent, widest]


def test_a_row_of_a_disabled_intent_says_so(ada: Client) -> None:
    make(m.CeIntent, enabled=False)
    make(m.CeRule)

    assert "inactive (intent disabled)" in ada.get(address(m.CeRule)).content.decode()


@pytest.mark.parametrize(
    ("use", "descriptions"), [("on", ["used"]), ("off", ["switched off"]), ("inactive", ["in vain"])]
)
def test_rows_are_found_by_their_use(use: str, descriptions: list[str], ada: Client) -> None:
    make(m.CeIntent, enabled=False)
    make(m.CeRule, intent_code="ANY", description="used")
    make(m.CeRule, intent_code="ANY", description="switched off", enabled=False)
    make(m.CeRule, description="in vain")

    shown = ada.get(f"{address(m.CeRule)}?use={use}").context["cl"].result_list

    assert [row.description for row in shown] == descriptions


def test_rows_are_found_by_intent_and_state(ada: Client) -> None:
    make(m.CeIntent)
    wanted = make(m.CeRule)
    make(m.CeRule, intent_code="ANY")
    make(m.CeRule, state_code="ANY")

    shown = ada.get(f"{address(m.CeRule)}?intent_code=LOAN&state_code=COLLECT").context["cl"].result_list

    assert list(shown) == [wanted]


def test_an_empty_list_offers_to_add_and_an_empty_search_to_show_all(ada: Client) -> None:
    assert "No rules yet" in ada.get(address(m.CeRule)).content.decode()
    assert "No rules match this search" in ada.get(f"{address(m.CeRule)}?q=nothing").content.decode()
