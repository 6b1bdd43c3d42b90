"""Calls that undo; and what all calls share: the release as an entity tag, and writes only if nothing changed."""

import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config_admin.api.serializers import (
    ReleaseListSerializer,
    RestoreReleaseSerializer,
    RestoreResultSerializer,
    TopicRefusalSerializer,
    describe_refusal,
)
from config_admin.releases.active import snapshots
from config_admin.releases.head import lock_head
from config_admin.releases.models import CeRelease
from config_admin.releases.queries import NoSuchRelease
from config_admin.releases.restore_rows import RestoreRefused, RowsBelongTogether
from config_admin.releases.undo import RevertConflict
from config_admin.transfer.import_report import serialize_differences, serialize_stranded
from config_admin.transfer.restore_release import plan_restore, restore_release
from convengine.engine.errors import PreconditionFailed, RequestInvalid
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.api.base_view import ApiView
from convengine.server.api.schema import extend_schema

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="The `ETag` of an earlier answer. The answer is 304 without a body if nothing changed.",
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    {"type": "string", "pattern": r'^"\d{1,9}(-[0-9a-f]{8})?"$'},
    OpenApiParameter.HEADER,
    description="The `ETag` of the answer that was edited. 412 if it changed since; nothing is stored then.",
)
_TAG = re.compile(r'^"(\d{1,9})(?:-[0-9a-f]{8})?"$')


class ReleaseView(ApiView):
    """A view of the configuration, for keys with the scope `config`. Its answers have entity tags."""

    scope = "config"

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """The answer with its `ETag`, or 304 for a caller who has it."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if request.method not in ("GET", "HEAD") or response.status_code != 200 or response.streaming:
            return response
        if not getattr(response, "is_rendered", True):
            response.render()
        tag = f'"{snapshots.current().config_version}-{zlib.crc32(response.content):08x}"'
        known = request.headers.get("If-None-Match", "").split(",")
        # It compares weakly.
        if tag in [each.strip().removeprefix("W/") for each in known]:
            response = HttpResponse(status=304)
        response.headers["ETag"] = tag
        return response


@contextmanager
def require_unchanged(request: Request, read: Callable[[Snapshot], object]) -> Iterator[None]:
    """Let no other write come between the check of `If-Match` and the write inside. `read` gives what is compared.

    Raises PreconditionFailed, and RequestInvalid for a tag that no answer has.
    """
    tag = request.headers.get("If-Match")
    if tag is None:
        yield
        return
    match = _TAG.match(tag)
    if match is None:
        raise RequestInvalid(fields={"If-Match": [f"{tag!r} is not valid. Send the ETag of an answer."]})
    with transaction.atomic():
        lock_head()
        try:
            before = snapshots.at(int(match[1]))
        except NoSuchRelease:
            raise PreconditionFailed() from None
        current = snapshots.current()
        if before.config_version != current.config_version and read(before) != read(current):
            raise PreconditionFailed(f"It changed since release {before.config_version}. Read it again.")
        yield


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
