"""The reports for programs, within the caller's workspace."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.parameters import require_valid
from audit.record.form_steps import FormStep
from audit.record.outcomes import FORM_ENDS, FORM_LOSSES, FormOutcome
from audit.reports.funnel import Funnel, read_funnels
from audit.reports.measures import MEASURES, read_values
from audit.reports.report import Dimension, Report, ReportSelection, build_report
from audit.reports.report_request import ReportForm
from audit.reports.topics import ANSWER, CHANNEL, DIMENSIONS, ERROR, INTENT, MODEL, RELEASE, STATE, STEP, UNKNOWN_STATE
from convengine.engine.errors import RequestInvalid
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import IsoDateTimeField
from convengine.server.database.sql import database_time

_KINDS: dict[str, Any] = {
    "days": {"type": "integer", "enum": [1, 7, 30, 90]},
    "first": OpenApiTypes.DATE,
    "last": OpenApiTypes.DATE,
    "release": {"type": "integer", "minimum": 0},
}


#: How many groups of a dimension there are at most.
MOST = 50
_GROUPS = {
    "intents": INTENT,
    "releases": RELEASE,
    "channels": CHANNEL,
    "notUnderstoodStates": UNKNOWN_STATE,
    "steps": STEP,
    "models": MODEL,
    "answers": ANSWER,
}


class ReportNumbersSerializer(serializers.Serializer[Any]):
    """Each measure by name."""

    def get_fields(self) -> dict[str, Any]:
        return {name: serializers.FloatField(allow_null=True, help_text=known.help) for name, known in MEASURES.items()}


class ReportPeriodSerializer(serializers.Serializer[Any]):
    """An hour, a day or a month."""

    since = IsoDateTimeField()
    until = IsoDateTimeField(help_text="Not included.")
    numbers = ReportNumbersSerializer()


class ReportGroupSerializer(serializers.Serializer[Any]):
    """The turns with one intent, release or anything else. Numbers that are not counted for such a group are null."""

    name = serializers.CharField()
    numbers = ReportNumbersSerializer()


class ReportValueSerializer(serializers.Serializer[Any]):
    """A state or an error code."""

    name = serializers.CharField()
    turns = serializers.IntegerField(source="totals.turns")


class ReportFieldSerializer(serializers.Serializer[Any]):
    """A field of a form."""

    field = serializers.CharField()
    steps = serializers.DictField(child=serializers.IntegerField(), help_text="Turns by step, such as ASKED.")
    outcomes = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Forms that ended at the field or wait for it, by outcome, such as LEFT.",
    )


class ReportFormSerializer(serializers.Serializer[Any]):
    """How far the forms of one kind came."""

    schemaId = serializers.IntegerField()
    intent = serializers.CharField(help_text="Blank for a form that no longer exists.")
    completion = serializers.FloatField(allow_null=True, help_text="Percent of the started forms.")
    started = serializers.IntegerField(help_text="The sum of the outcomes.")
    outcomes = serializers.DictField(
        child=serializers.IntegerField(), help_text="The started forms by what became of them, such as COMPLETED."
    )
    steps = serializers.DictField(child=serializers.IntegerField(), help_text="Turns by step, such as FILLED.")
    formFields = ReportFieldSerializer(many=True)


class ReportSerializer(serializers.Serializer[Any]):
    """The report of a period."""

    since = IsoDateTimeField()
    until = IsoDateTimeField(help_text="Not included.")
    recount = serializers.CharField(
        allow_null=True, help_text="Always null: the numbers stay complete while turns are counted again."
    )
    total = ReportNumbersSerializer()
    periods = ReportPeriodSerializer(many=True)
    intents = ReportGroupSerializer(many=True, help_text="The most frequent ones.")
    releases = ReportGroupSerializer(many=True, help_text="The most frequent ones.")
    channels = ReportGroupSerializer(many=True, help_text="The most frequent ones.")
    notUnderstoodStates = ReportGroupSerializer(many=True, help_text="The states after the turns.")
    steps = ReportGroupSerializer(many=True, help_text="Steps of the pipeline, with the time that they took in a turn.")
    models = ReportGroupSerializer(many=True, help_text="Called models, named with their connections.")
    answers = ReportGroupSerializer(many=True, help_text="Rated answers, as table and key of the row.")
    states = ReportValueSerializer(many=True, help_text="The most frequent ones.")
    errorCodes = ReportValueSerializer(many=True, help_text="The most frequent ones.")
    forms = ReportFormSerializer(many=True)


class ReportsView(ApiView):
    """`GET /api/v1/reports`."""

    address = "reports"
    scope = "audit"

    @extend_schema(
        operation_id="getReport",
        parameters=[
            OpenApiParameter(
                name, _KINDS.get(name, OpenApiTypes.STR), description=f"{known.label}. {known.help_text}".strip()
            )
            for name, known in ReportForm.base_fields.items()
        ],
        responses={200: ReportSerializer},
    )
    def get(self, request: Request) -> Response:
        """The numbers of a period: in total and by hour, day or month; by intent, release, channel, state, step, model,
        answer and error; and how far forms came.

        Without `days`, `first` and `last`, the period is the last seven days.
        """
        return Response(ReportSerializer(_build_document(_read_selection(request))).data)


def _read_selection(request: Request) -> ReportSelection:
    """The selection of a request, in the workspace of its key. Raises RequestInvalid, also for unknown parameters."""
    given = request.query_params
    if unknown := sorted(set(given) - set(ReportForm.base_fields)):
        names = ", ".join(ReportForm.base_fields)
        raise RequestInvalid(fields={name: [f"Unknown parameter. Use {names}."] for name in unknown})
    form = ReportForm(given)
    require_valid(form)
    return form.select(database_time(), get_api_key(request).workspace_id)


def _build_document(selection: ReportSelection) -> dict[str, Any]:
    """The report as ReportSerializer reads it; of the groups, those with the most turns."""
    report = build_report(selection, DIMENSIONS.values(), has_durations=True)
    return {
        "since": selection.since,
        "until": selection.until,
        "recount": None,
        "total": read_values(report.totals),
        "periods": [
            {"since": period.since, "until": period.until, "numbers": read_values(period.totals)}
            for period in report.periods
        ],
        **{key: _describe_groups(report, dimension) for key, dimension in _GROUPS.items()},
        "states": report.groups[STATE][:MOST],
        "errorCodes": report.groups[ERROR][:MOST],
        "forms": list(map(_describe_funnel, read_funnels(selection))),
    }


def _describe_groups(report: Report, dimension: Dimension) -> list[dict[str, Any]]:
    groups = report.groups[dimension][:MOST]
    return [{"name": group.name, "numbers": read_values(group.totals, dimension.measures)} for group in groups]


def _describe_funnel(funnel: Funnel) -> dict[str, Any]:
    """A form as ReportFormSerializer reads it: steps of the whole form with 0, those of a field only if counted."""
    return {
        "schemaId": funnel.schema,
        "intent": funnel.intent,
        "completion": funnel.completion,
        "started": funnel.started,
        "outcomes": {outcome.value: funnel.counts.get(outcome) for outcome in FormOutcome},
        "steps": {step.value: funnel.counts.get(step) for step in FormStep if step not in FORM_ENDS},
        "formFields": [
            {
                "field": known.path,
                "steps": {step.value: known.counts.steps[step] for step in FormStep if step in known.counts.steps},
                "outcomes": {outcome.value: known.counts.get(outcome) for outcome in FORM_LOSSES},
            }
            for known in funnel.fields
        ],
    }
