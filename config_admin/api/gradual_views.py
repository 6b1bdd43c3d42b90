"""Views of the gradual release: both sides, stop, give to more or to all."""

from collections.abc import Callable
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config_admin.api.release_views import IF_NONE_MATCH, ReleaseView
from config_admin.history.gradual.sides import describe_gradual_release
from config_admin.releases.audience import (
    MOST_NAMES,
    AudienceInvalid,
    AudienceSpec,
    NotGradual,
    change_audience,
    find_gradual_release,
    give_to_all,
)
from config_admin.releases.models import CeGradualRelease, GradualStatus, GuardMetric
from config_admin.releases.undo import stop_gradual_release
from convengine.server.api.schema import extend_schema
from convengine.server.api.serializers import ClosedSerializer

_Texts = serializers.ListField


class GuardSerializer(ClosedSerializer):
    """The guard of a gradual release."""

    metric = serializers.CharField(
        default="", allow_blank=True, help_text=f"{', '.join(GuardMetric.values)}; blank for no guard."
    )
    bound = serializers.IntegerField(default=5, min_value=0, max_value=100, help_text="In percentage points.")
    turns = serializers.IntegerField(
        default=100, min_value=1, max_value=1_000_000, help_text="How many are needed on each side."
    )

    def validate_metric(self, value: str) -> str:
        """A rate that exists."""
        if value and value not in GuardMetric.values:
            raise serializers.ValidationError(f"Unknown rate. Choose one of: {', '.join(GuardMetric.values)}.")
        return value


class AudienceSerializer(ClosedSerializer):
    """Who gets the release."""

    share = serializers.IntegerField(default=0, min_value=0, max_value=99, help_text="A percentage of participants.")
    participants = _Texts(child=serializers.CharField(max_length=255), default=list, max_length=MOST_NAMES)
    channels = _Texts(child=serializers.CharField(max_length=255), default=list, max_length=MOST_NAMES)
    guard = GuardSerializer(required=False)


class SideSerializer(serializers.Serializer[Any]):
    """The counts of one side."""

    conversations = serializers.IntegerField()
    completed = serializers.IntegerField()
    turns = serializers.IntegerField()
    not_understood = serializers.IntegerField()
    failed = serializers.IntegerField()
    handed_over = serializers.IntegerField()
    positive = serializers.IntegerField()
    negative = serializers.IntegerField()


class SidesSerializer(serializers.Serializer[Any]):
    """Both sides."""

    release = SideSerializer()
    others = SideSerializer()


class GradualReleaseSerializer(AudienceSerializer):
    """A release that a part of the conversations gets."""

    release = serializers.IntegerField()
    # The name means something else in the framework, and belongs to the API.
    parent = serializers.IntegerField(help_text="The release of all others.")  # type: ignore[assignment]
    status = serializers.CharField(help_text=f"{', '.join(GradualStatus.values)}.")
    startedBy = serializers.CharField(allow_blank=True)
    startedAt = serializers.DateTimeField()
    endedBy = serializers.CharField(allow_blank=True)
    endedAt = serializers.DateTimeField(allow_null=True)
    endedReason = serializers.CharField(allow_blank=True)
    sides = SidesSerializer()


class StopSerializer(ClosedSerializer):
    """Why the release is stopped."""

    reason = serializers.CharField(default="", allow_blank=True, max_length=2000)


class GradualReleaseView(ReleaseView):
    """`/api/v1/config/gradual`."""

    address = "config/gradual"

    @extend_schema(
        operation_id="getGradualRelease", parameters=[IF_NONE_MATCH], responses={200: GradualReleaseSerializer}
    )
    def get(self, request: Request) -> Response:
        """The gradual release with the counts of both sides; 404 when none is running."""
        row = find_gradual_release()
        if row is None:
            raise NotFound(str(NotGradual()))
        return Response(describe_gradual_release(row))

    @extend_schema(
        operation_id="updateGradualRelease", request=AudienceSerializer, responses={200: GradualReleaseSerializer}
    )
    def put(self, request: Request) -> Response:
        """Give the release to more or fewer conversations. Without `guard`, the guard does not change."""
        given = AudienceSerializer().run_validation(request.data)
        audience = AudienceSpec.read(given)
        try:
            audience.validate()
        except AudienceInvalid as invalid:
            raise serializers.ValidationError({"share": [str(invalid)]}) from None
        return _answer(lambda: change_audience(audience, keeps_guard="guard" not in given))


class StopGradualReleaseView(ReleaseView):
    """`POST /api/v1/config/gradual/stop`."""

    address = "config/gradual/stop"

    @extend_schema(
        operation_id="cancelGradualRelease", request=StopSerializer, responses={200: GradualReleaseSerializer}
    )
    def post(self, request: Request) -> Response:
        """Stop the gradual release: make a release equal to the one that all other conversations have."""
        given = StopSerializer().run_validation(request.data)
        return _answer(lambda: stop_gradual_release(f"API key {request.auth}", given["reason"]))


class GiveToAllView(ReleaseView):
    """`POST /api/v1/config/gradual/all`."""

    address = "config/gradual/all"

    @extend_schema(operation_id="closeGradualRelease", request=None, responses={200: GradualReleaseSerializer})
    def post(self, request: Request) -> Response:
        """Give the release to every conversation."""
        return _answer(lambda: give_to_all(f"API key {request.auth}"))


def _answer(change: Callable[[], CeGradualRelease]) -> Response:
    try:
        return Response(describe_gradual_release(change()))
    except NotGradual as error:
        raise NotFound(str(error)) from None
