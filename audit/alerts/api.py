"""Alerts through the API: `GET /api/v1/alerts`, `GET /api/v1/alerts/{id}`, and the silence of one."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.alerts.current_alerts import LONGEST_REASON, SilenceRefused, end_silence, find_rule, silence_rule
from audit.api.parameters import NUMBER, parse_number, read_choice, read_number, read_page_size
from audit.api.serializers import BlankAsNullSerializer
from audit.models import CeAlert
from convengine.engine.errors import ConversationNotFound, RequestInvalid
from convengine.server.api.authentication import get_api_key
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ClosedSerializer, StrictTextField

STATUSES, ENDS = CeAlert.Status.values, CeAlert.End.values
_PAGE, _LARGEST_PAGE = 50, 200
_ID = OpenApiParameter("alert_id", NUMBER, OpenApiParameter.PATH)


class AlertSilenceSerializer(ClosedSerializer):
    """Until when nothing is sent about the alert, and why."""

    until = serializers.DateTimeField()
    reason = StrictTextField(max_length=LONGEST_REASON)


class AlertSerializer(BlankAsNullSerializer):
    """A time in which a number was beyond its limit."""

    id = serializers.IntegerField(source="alert_id")
    title = serializers.CharField()
    rule = serializers.CharField(source="sentence", help_text="The rule in words.")
    ruleId = serializers.IntegerField(source="rule_id", allow_null=True, help_text="Null if the rule was deleted.")
    status = serializers.ChoiceField(choices=STATUSES)
    measure = serializers.CharField(help_text="Such as not_understood; shares are in percent, times in milliseconds.")
    limit = serializers.FloatField(source="bound")
    firstValue = serializers.FloatField(source="first_value", help_text="When it fired.")
    worstValue = serializers.FloatField(source="worst_value")
    value = serializers.FloatField(help_text="The newest value beyond the limit.")
    turns = serializers.IntegerField(help_text="Turns behind the newest value.")
    since = serializers.DateTimeField(help_text="The beginning of the time that this value is about.")
    until = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(source="started_at")
    endedAt = serializers.DateTimeField(source="ended_at", allow_null=True)
    end = serializers.ChoiceField(choices=ENDS, allow_null=True, help_text="Why it ended.")
    silencedUntil = serializers.DateTimeField(
        source="silenced_until", allow_null=True, help_text="Null while messages are sent."
    )


class AlertPageSerializer(serializers.Serializer[Any]):
    """A page of alerts, newest first."""

    next = serializers.IntegerField(allow_null=True, help_text="Send it as `before` for the next page.")
    results = AlertSerializer(many=True)


class AlertsView(ApiView):
    """`GET /api/v1/alerts`."""

    address = "alerts"
    scope = "audit"

    @extend_schema(
        operation_id="listAlerts",
        parameters=[
            OpenApiParameter("status", str, enum=STATUSES, description="FIRING or ENDED. Both if absent."),
            OpenApiParameter("before", NUMBER, description="The `next` of the page before."),
            OpenApiParameter("limit", {**NUMBER, "maximum": _LARGEST_PAGE}, description="How many alerts a page has."),
        ],
        responses={200: AlertPageSerializer},
    )
    def get(self, request: Request) -> Response:
        """The alerts of rules for the workspace of the key, newest first."""
        alerts = CeAlert.objects.filter(workspace_id=get_api_key(request).workspace_id).select_related("rule")
        if status := read_choice(request, "status", STATUSES):
            alerts = alerts.filter(status=status)
        if before := read_number(request, "before"):
            alerts = alerts.filter(pk__lt=before)
        size = read_page_size(request, _PAGE, _LARGEST_PAGE)
        rows = list(alerts.order_by("-alert_id")[: size + 1])
        has_more = len(rows) > size
        page = {"next": rows[size - 1].pk if has_more else None, "results": rows[:size]}
        return Response(AlertPageSerializer(page).data)


class AlertView(ApiView):
    """`GET /api/v1/alerts/{id}`."""

    address = "alerts/<str:alert_id>"
    scope = "audit"

    @extend_schema(operation_id="getAlert", parameters=[_ID], responses={200: AlertSerializer})
    def get(self, request: Request, alert_id: str) -> Response:
        """An alert of the workspace of the key."""
        return Response(AlertSerializer(_get_alert(request, alert_id)).data)


class AlertSilenceView(ApiView):
    """`POST` and `DELETE /api/v1/alerts/{id}/silence`."""

    address = "alerts/<str:alert_id>/silence"
    scope = "config"

    @extend_schema(
        operation_id="createAlertSilence",
        parameters=[_ID],
        request=AlertSilenceSerializer,
        responses={200: AlertSerializer},
    )
    def post(self, request: Request, alert_id: str) -> Response:
        """Send no more mail and webhooks about a firing alert until a time."""
        alert, key = _get_alert(request, alert_id), get_api_key(request)
        sent = AlertSilenceSerializer().run_validation(request.data)
        if not (sent["reason"] or "").strip():
            raise RequestInvalid(fields={"reason": ["Say why. The history shows it."]})
        try:
            silence_rule(find_rule(alert), sent["until"], sent["reason"], f"API key {key.prefix}")
        except SilenceRefused as refused:
            raise RequestInvalid(str(refused)) from None
        return Response(AlertSerializer(alert).data)

    @extend_schema(operation_id="deleteAlertSilence", parameters=[_ID], request=None, responses={200: AlertSerializer})
    def delete(self, request: Request, alert_id: str) -> Response:
        """Send mail and webhooks about a firing alert again."""
        alert = _get_alert(request, alert_id)
        try:
            end_silence(find_rule(alert))
        except SilenceRefused as refused:
            raise RequestInvalid(str(refused)) from None
        return Response(AlertSerializer(alert).data)


def _get_alert(request: Request, alert_id: str) -> CeAlert:
    """Raises RequestInvalid, and ConversationNotFound, also for one of another workspace."""
    number = parse_number(alert_id, "id")
    alert = CeAlert.objects.filter(pk=number, workspace_id=get_api_key(request).workspace_id).first()
    if alert is None:
        raise ConversationNotFound("This alert does not exist.")
    return alert
