"""Views of releases: list them, roll back to one, and take one back."""

from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config_admin.api.release_view import IF_MATCH, IF_NONE_MATCH, ReleaseView, require_unchanged
from config_admin.api.serializers import (
    ReleaseListSerializer,
    RestoreReleaseSerializer,
    RestoreResultSerializer,
    TopicRefusalSerializer,
    describe_refusal,
)
from config_admin.releases.models import CeRelease
from config_admin.releases.queries import NoSuchRelease
from config_admin.releases.restore_rows import RestoreRefused, RowsBelongTogether
from config_admin.releases.revert import RevertConflict
from config_admin.transfer.import_report import serialize_differences, serialize_stranded
from config_admin.transfer.restore_release import plan_restore, restore_release
from convengine.server.api.schema import extend_schema

_RESULTS = {200: RestoreResultSerializer, 422: TopicRefusalSerializer}
#: How many releases the list has.
_LISTED = 100


class ReleasesView(ReleaseView):
    """`GET /api/v1/config/releases`."""

    address = "config/releases"

    @extend_schema(operation_id="listReleases", parameters=[IF_NONE_MATCH], responses={200: ReleaseListSerializer})
    def get(self, request: Request) -> Response:
        """The newest 100 releases, newest first. The first one is in force."""
        releases = CeRelease.objects.order_by("-pk").defer("manifest")[:_LISTED]
        return Response(ReleaseListSerializer({"releases": releases}).data)


class RestoreReleaseView(ReleaseView):
    """`POST /api/v1/config/releases/{n}/restore`."""

    address = "config/releases/<int:config_version>/restore"

    @extend_schema(
        operation_id="restoreRelease", parameters=[IF_MATCH], request=RestoreReleaseSerializer, responses=_RESULTS
    )
    def post(self, request: Request, config_version: int) -> Response:
        """Restore all rows as they were in a release. This makes a new release."""
        return _restore(request, config_version, only=False)


class UndoReleaseView(ReleaseView):
    """`POST /api/v1/config/releases/{n}/undo`."""

    address = "config/releases/<int:config_version>/undo"

    @extend_schema(
        operation_id="undoRelease", parameters=[IF_MATCH], request=RestoreReleaseSerializer, responses=_RESULTS
    )
    def post(self, request: Request, config_version: int) -> Response:
        """Undo what one release changed and keep later changes. This makes a new release."""
        return _restore(request, config_version, only=True)


def _restore(request: Request, config_version: int, *, only: bool) -> Response:
    """What restoring changes, which is done unless `apply` is false. `only`: undo just what this release changed."""
    given = RestoreReleaseSerializer().run_validation(request.data)
    try:
        with require_unchanged(request, lambda snapshot: snapshot.config_version):
            plan, release = plan_restore(config_version, only=only), None
            if given["apply"]:
                author, reason = f"API key {request.auth}", given["reason"]
                release = restore_release(config_version, only=only, author=author, reason=reason)
    except NoSuchRelease as error:
        raise NotFound(str(error)) from None
    except RestoreRefused as error:
        findings = [finding.as_dict() for finding in error.findings]
        return Response(describe_refusal({"problems": [], "findings": findings}), 422)
    except (RevertConflict, RowsBelongTogether) as error:
        return Response(describe_refusal({"problems": [str(error)], "findings": []}), 422)
    answer = {
        "release": release.config_version if release else None,
        "diff": serialize_differences(plan.differences),
        "stranded": serialize_stranded(plan.stranded),
    }
    return Response(RestoreResultSerializer(answer).data)
