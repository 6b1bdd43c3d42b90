"""The page *Forms* of the reports: how far each form comes, field by field and state by state."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from audit.record.form_steps import FormStep
from audit.reports.funnel import ENDS, FIELD_STEPS, FieldSteps, Funnel, make_step, read_funnels
from audit.reports.measures import TURNS
from audit.reports.report import Selection
from audit.reports.report_request import CSV, ReportNumber, ReportRequest, link_turns
from audit.reports.traffic import read_visits
from convengine.server.admin_site.pages import page
from convengine.server.interfaces.turn_reports import StateVisits

TITLE = "Reports: forms"


class FunnelView(NamedTuple):
    """A form on the page."""

    funnel: Funnel
    #: The started and the ended forms: label and number.
    whole: Sequence[tuple[str, ReportNumber]]
    #: Each field with the numbers of its steps.
    rows: Sequence[tuple[FieldSteps, Sequence[ReportNumber]]]
    #: The states of its intent, with the turns that entered each.
    states: Sequence[tuple[StateVisits, ReportNumber]]


@page("reports/forms/", of="audit.CeAudit", name="forms", from_replica=True)
def funnel_page(request: HttpRequest) -> HttpResponse:
    """How far forms come, as a page or as CSV."""
    wanted = ReportRequest(request)
    funnels = read_funnels(wanted.selection)
    if wanted.format == CSV:
        header = ("form", "intent", "field", *(step.value.lower() for step in FormStep), "unanswered")
        return wanted.answer_csv("forms", header, (line for funnel in funnels for line in _list_lines(funnel)))
    # The intent of a turn may be another after the form ended.
    turns = replace(wanted.selection, intent="")
    visits = read_visits(turns, {funnel.intent for funnel in funnels})
    context = {
        "funnels": [_build_view(turns, funnel, visits.get(funnel.intent, [])) for funnel in funnels],
        "field_steps": FIELD_STEPS,
        "inbox_url": f"{reverse('admin:audit_ceaudit_inbox')}?kind=REFUSED_VALUE",
    }
    return wanted.render("audit/report_forms.html", TITLE, context)


def _build_view(turns: Selection, funnel: Funnel, visits: Sequence[StateVisits]) -> FunnelView:
    steps = (FormStep.STARTED, FormStep.FILLED, FormStep.DECLINED, FormStep.COMPLETED)
    whole = [(step.label, _link(turns, funnel, step)) for step in steps]
    # No search lists the ends at any field.
    whole += [(step.label, ReportNumber(TURNS, funnel.steps.get(step, 0))) for step in ENDS]
    rows = [(known, [_link(turns, funnel, step, known) for step in FIELD_STEPS]) for known in funnel.fields]
    states = [(visit, ReportNumber(TURNS, visit.entered, visit.url)) for visit in visits if visit.entered]
    return FunnelView(funnel, whole, rows, states)


def _link(selection: Selection, funnel: Funnel, step: FormStep, known: FieldSteps | None = None) -> ReportNumber:
    """A number of turns with the search for this step."""
    turns = (known.steps if known else funnel.steps).get(step, 0)
    return link_turns(selection, turns, step=str(make_step(funnel, step, known.path if known else "")))


def _list_lines(funnel: Funnel) -> Iterator[tuple[Any, ...]]:
    """The form as a whole, then each field."""
    parts = [("", funnel.steps, ""), *((known.path, known.steps, known.unanswered) for known in funnel.fields)]
    for path, steps, unanswered in parts:
        yield funnel.schema, funnel.intent, path, *(steps.get(step, 0) for step in FormStep), unanswered
