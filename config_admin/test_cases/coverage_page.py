"""The page of coverage: phrases, rules, answers, states and moves that no test reaches."""

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from config_admin.editing.links import find_readable_url
from config_admin.test_cases.coverage import GENERAL, TestCoverage, count_by_intent, measure_coverage
from config_admin.test_cases.run_pages import RUN
from config_admin.validation.labels import row_name
from convengine.engine.turn.labels import code_label
from convengine.play.coverage import MOVES, STATES
from convengine.server.admin_site.configuration_choice import get_current_name, list_choices, read_name_for
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.interfaces.configuration import named_configurations

#: Items and intents on one page.
ITEMS_PER_PAGE, INTENTS_PER_PAGE = 50, 20


@page(
    "coverage/",
    of="config_admin.CeTestCase",
    right="config_admin.view_cetestcase",
    entry=SidebarEntry("Try & test", "Coverage of tests", "What no test reaches.", 4),
)
def show(request: HttpRequest) -> HttpResponse:
    """What the tests reach on a configuration, by kind and by intent."""
    chosen, problem = request.GET.get("configuration") or get_current_name(request), ""
    try:
        name = read_name_for(request, chosen)
    except ValueError as refused:
        problem, chosen = str(refused), "live"
        name = read_name_for(request, chosen)
    measured = measure_coverage(named_configurations().read(name))
    intent, kind = request.GET.get("intent"), request.GET.get("kind", "")
    items = [
        (key, item)
        for key, item in measured.unreached
        if intent in (None, measured.intents[key]) and kind in ("", item.kind)
    ]
    shown = Paginator(items, ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "title": "Coverage of tests",
        "problem": problem,
        "choices": list_choices(request),
        "chosen": chosen,
        "measured": measured,
        "percent": int(measured.coverage.percent),
        "kinds": [
            (each, sum(bool(item.scenarios) for item in members), len(members))
            for each, members in measured.coverage.list_kinds()
        ],
        "kind": kind,
        "intents": Paginator(_describe_intents(measured), INTENTS_PER_PAGE).get_page(request.GET.get("intents")),
        "intent": intent,
        "intent_label": code_label(intent) if intent else "no single intent",
        "page": shown,
        "items": [_describe_item(request, key, item.kind, item.name) for key, item in shown],
        # Each of the two lists keeps the page of the other one.
        "query_of_items": _write_query(request, "page"),
        "query_of_intents": _write_query(request, "intents"),
        "may_run": request.user.has_perm(RUN),
    }
    return TemplateResponse(request, "config_admin/test_coverage.html", context)


def _write_query(request: HttpRequest, without: str) -> str:
    return urlencode({name: text for name, text in request.GET.items() if name != without})


def _describe_intents(measured: TestCoverage) -> list[dict[str, Any]]:
    return [
        {
            "code": intent,
            "label": "No single intent" if intent == GENERAL else code_label(intent),
            "reached": reached,
            "total": total,
            "percent": 100 * reached // total,
        }
        for intent, (reached, total) in count_by_intent(measured).items()
    ]


def _describe_item(request: HttpRequest, key: tuple[str, ...], kind: str, name: str) -> dict[str, str]:
    if key[0] in (STATES, MOVES):
        return {"kind": kind, "name": name, "url": ""}
    table, pk = key
    about = name.removesuffix(f" ({table} {pk})")
    return {"kind": kind, "name": f"{row_name(table, pk)} · {about}", "url": find_readable_url(request, table, pk)}
