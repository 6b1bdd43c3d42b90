"""The page *Forms* of the reports: how far each form comes, field by field and state by state."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from audit.record.form_steps import FormStep
from audit.record.outcomes import FORM_ENDS, FORM_LOSSES, FormOutcome
from audit.reports.funnel import FIELD_STEPS, FieldSteps, Funnel, build_filter, read_funnels
from audit.reports.measures import TURNS
from audit.reports.report import ReportSelection
from audit.reports.report_request import CSV, ReportNumber, ReportRequest, link_turns
from audit.reports.traffic import read_visits
from convengine.server.admin_site.pages import page
from convengine.server.interfaces.turn_reports import StateVisits

TITLE = "Reports: forms"
#: The steps whose turns the file has; what became of the forms is in columns of its own.
_STEPS = tuple(step for step in FormStep if step not in FORM_ENDS)
_COLUMNS: tuple[FormStep | FormOutcome, ...] = (*_STEPS, *FormOutcome)


class FunnelView(NamedTuple):
    funnel: Funnel
    #: The forms that began, then what became of them, which adds up to these: label, help and number.
    whole: Sequence[tuple[str, str, ReportNumber]]
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
        header = (
            "form",
            "intent",
            "field",
            *map(str.lower, _STEPS),
            *(f"forms_{each.lower()}" for each in FormOutcome),
        )
        return wanted.answer_csv("forms", header, (line for funnel in funnels for line in _list_lines(funnel)))
    # The intent of a turn may be another after the form ended.
    turns = replace(wanted.selection, intent="")
    visits = read_visits(turns, {funnel.intent for funnel in funnels})
    context = {
        "funnels": [_build_view(turns, funnel, visits.get(funnel.intent, [])) for funnel in funnels],
        "columns": (*FIELD_STEPS, *FORM_LOSSES),
        "inbox_url": f"{reverse('admin:audit_ceaudit_inbox')}?kind=REFUSED_VALUE",
    }
    return wanted.render("audit/report_forms.html", TITLE, context)


def _build_view(turns: ReportSelection, funnel: Funnel, visits: Sequence[StateVisits]) -> FunnelView:
    """A form with its numbers as links to the turns that they count."""
    outcomes = [(outcome.label, outcome.help, _link(turns, funnel, outcome)) for outcome in FormOutcome]
    whole = [(FormStep.STARTED.label, FormStep.STARTED.help, ReportNumber(TURNS, funnel.started)), *outcomes]
    columns = (*FIELD_STEPS, *FORM_LOSSES)
    rows = [(known, [_link(turns, funnel, kind, known) for kind in columns]) for known in funnel.fields]
    states = [(visit, ReportNumber(TURNS, visit.entered, visit.url)) for visit in visits if visit.entered]
    return FunnelView(funnel, whole, rows, states)


def _link(
    selection: ReportSelection, funnel: Funnel, kind: FormStep | FormOutcome, known: FieldSteps | None = None
) -> ReportNumber:
    """The number of turns of a step or an outcome, of a field or without `known` of the whole form, with its search."""
    turns = (known.counts if known else funnel.counts).get(kind)
    return link_turns(selection, turns, **build_filter(funnel, kind, known.path if known else None))


def _list_lines(funnel: Funnel) -> Iterator[tuple[Any, ...]]:
    """The form as a whole, then each field."""
    fields = [(known.path, known.counts) for known in funnel.fields if known.path]
    for path, counts in [("", funnel.counts), *fields]:
        yield funnel.schema, funnel.intent, path, *(counts.get(kind) for kind in _COLUMNS)
