"""The page *Forms* of the reports: how far each form comes, field by field and state by state."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from audit.record.form_steps import FormStep
from audit.reports.funnel import ENDS, FIELD_STEPS, FieldSteps, Funnel, make_step, read_funnels
from audit.reports.measures import TURNS
from audit.reports.report import Selection
from audit.reports.report_request import CSV, SVG, ChartFile, ReportNumber, ReportRequest, link_turns
from convengine.engine.turn.labels import state_label
from convengine.server.admin_site.pages import page

TITLE = "Reports: forms"
#: The picture in its own units; pages scale it.
WIDTH, _ROW, _NAMES, _NUMBERS = 960, 34, 220, 110


class FunnelBar(NamedTuple):
    """A step of the funnel: how many forms came so far."""

    name: str
    turns: int
    y: int
    width: float
    text_x: float
    title: str


class FieldRow(NamedTuple):
    """A field in the table: its title, and the numbers of its steps."""

    title: str
    numbers: Sequence[ReportNumber]
    asked_back: int
    unanswered: int


class StateRow(NamedTuple):
    """A state in the table."""

    name: str
    entered: ReportNumber
    exited: int
    losses: int


class FunnelView(NamedTuple):
    """A form on the page."""

    funnel: Funnel
    #: The started and the ended forms: label and number.
    whole: Sequence[tuple[str, ReportNumber]]
    bars: Sequence[FunnelBar]
    height: int
    rows: Sequence[FieldRow]
    states: Sequence[StateRow]
    #: The field that loses most; null if none loses any.
    worst: FieldSteps | None
    #: Its drawing as a file.
    file_name: str
    svg_url: str

    @property
    def chart_title(self) -> str:
        """What the drawing shows."""
        return f"How far {self.funnel.title} comes"


@page("reports/forms/", of="audit.CeAudit", name="forms", from_replica=True)
def funnel_page(request: HttpRequest) -> HttpResponse:
    """How far forms come, as a page or as CSV."""
    wanted = ReportRequest(request)
    funnels = read_funnels(wanted.selection)
    views = [_build_view(wanted, funnel) for funnel in funnels]
    if wanted.format == SVG:
        return _answer_chart(wanted, views)
    if wanted.format == CSV:
        header = ("form", "intent", "field", *(step.value.lower() for step in FormStep), "unanswered")
        return wanted.answer_csv("forms", header, (line for funnel in funnels for line in _list_lines(funnel)))
    context = {
        "funnels": views,
        "field_steps": FIELD_STEPS,
        "width": WIDTH,
        "bar_x": _NAMES,
        "inbox_url": f"{reverse('admin:audit_ceaudit_inbox')}?kind=REFUSED_VALUE",
    }
    return wanted.render("audit/report_forms.html", TITLE, context)


def _answer_chart(wanted: ReportRequest, views: Sequence[FunnelView]) -> HttpResponse:
    view = next((view for view in views if view.file_name == wanted.part), None)
    if view is None:
        raise Http404(f"This page has no chart {wanted.part!r}.")
    file = ChartFile(view.file_name, view.chart_title, WIDTH, view.height)
    return wanted.answer_svg(file, "audit/chart_funnel.svg", {"view": view, "bar_x": _NAMES})


def _build_view(wanted: ReportRequest, funnel: Funnel) -> FunnelView:
    selection, name = wanted.selection, f"form-{funnel.schema}"
    rows = [_build_row(selection, funnel, known) for known in funnel.fields]
    steps = (FormStep.STARTED, FormStep.FILLED, FormStep.DECLINED, FormStep.COMPLETED)
    whole = [(step.label, _link(selection, funnel, step)) for step in steps]
    whole += [(step.label, ReportNumber(TURNS, funnel.steps.get(step, 0))) for step in ENDS]
    bars = list(_draw(funnel))
    losing = [known for known in funnel.fields if known.losses]
    return FunnelView(
        funnel,
        whole,
        bars,
        len(bars) * _ROW,
        rows,
        [
            StateRow(state_label(each.state), ReportNumber(TURNS, each.entered, each.url), each.exited, each.losses)
            for each in funnel.states
        ],
        max(losing, key=lambda known: known.losses, default=None),
        name,
        wanted.build_file_url(SVG, name),
    )


def _build_row(selection: Selection, funnel: Funnel, known: FieldSteps) -> FieldRow:
    numbers = [_link(selection, funnel, step, known) for step in FIELD_STEPS]
    return FieldRow(known.title, numbers, known.asked_back, known.unanswered)


def _link(selection: Selection, funnel: Funnel, step: FormStep, known: FieldSteps | None = None) -> ReportNumber:
    """A number of turns with the search for this step. The intent of a turn may be another after the form ended."""
    turns = (known.steps if known else funnel.steps).get(step, 0)
    text = str(make_step(funnel, step, known.path if known else ""))
    return link_turns(_without_intent(selection), turns, step=text)


def _without_intent(selection: Selection) -> Selection:
    return replace(selection, intent="")


def _draw(funnel: Funnel) -> Iterator[FunnelBar]:
    steps = [
        (FormStep.STARTED.label, funnel.steps.get(FormStep.STARTED, 0)),
        *((known.title, known.steps.get(FormStep.GIVEN, 0)) for known in funnel.fields),
        (FormStep.FILLED.label, funnel.steps.get(FormStep.FILLED, 0)),
        (FormStep.COMPLETED.label, funnel.steps.get(FormStep.COMPLETED, 0)),
    ]
    most = max((turns for _, turns in steps), default=0) or 1
    scale = (WIDTH - _NAMES - _NUMBERS) / most
    for index, (name, turns) in enumerate(steps):
        width = round(turns * scale, 1)
        yield FunnelBar(name, turns, index * _ROW, width, round(_NAMES + width + 8, 1), f"{name}: {turns}")


def _list_lines(funnel: Funnel) -> Iterator[tuple[Any, ...]]:
    """The form as a whole, then each field."""
    parts = [("", funnel.steps, ""), *((known.path, known.steps, known.unanswered) for known in funnel.fields)]
    for path, steps, unanswered in parts:
        yield funnel.schema, funnel.intent, path, *(steps.get(step, 0) for step in FormStep), unanswered
