"""Configuration out of and into the API: bundles, judged first (R76)."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config_admin.api.serializers import ImportSerializer
from config_admin.releases.queries import NoSuchRelease
from config_admin.transfer.applying import ImportFailed, ImportRefused, bring
from config_admin.transfer.document import Document, FileRefused
from config_admin.transfer.files import JSON, bundle_of, read_bytes
from config_admin.transfer.planning import plan
from config_admin.transfer.telling import plan_as_json
from convengine import conf
from convengine.api.authentication import KeyThrottle
from convengine.api.parsers import OrjsonParser
from convengine.api.serializers import FailureSerializer
from convengine.codec import dumps
from convengine.domain.rows import ROW_TYPE_OF
from convengine.errors import RequestInvalid

_FAILURES = dict.fromkeys((400, 401, 403, 404, 429), FailureSerializer)


class ImportParser(OrjsonParser):
    """A JSON body as large as a file of configuration may be."""

    @property
    def limit(self) -> int:
        """Bytes."""
        found: int = conf.get("MAX_IMPORT_BYTES")
        return found


class BundleView(APIView):
    """`GET /api/v1/config/bundle`."""

    scope = "config"
    throttle_classes = [KeyThrottle]

    @extend_schema(
        operation_id="export_config",
        parameters=[
            OpenApiParameter("release", int, description="Of this release; default: what is in force."),
            OpenApiParameter("table", str, many=True, description="Only this table; may be given several times."),
        ],
        responses={200: OpenApiResponse(description="The bundle: format, version, tables."), **_FAILURES},
    )
    def get(self, request: Request) -> HttpResponse:
        """The configuration as one bundle: for the same rows the same bytes."""
        release, tables = request.query_params.get("release"), request.query_params.getlist("table")
        if release is not None and not (release.isascii() and release.isdecimal() and len(release) < 18):
            raise RequestInvalid(fields={"release": [f"{release!r} received; use the number of a release."]})
        for table in tables:
            if table not in ROW_TYPE_OF:
                raise NotFound(f"There is no table {table}; GET /api/v1/config lists them.")
        try:
            data = bundle_of(int(release) if release else None, tables=tables, form=JSON)
        except NoSuchRelease as error:
            raise NotFound(str(error)) from None
        return HttpResponse(data, content_type="application/json")


class ImportView(APIView):
    """`POST /api/v1/config/import`."""

    scope = "config"
    throttle_classes = [KeyThrottle]
    parser_classes = [ImportParser]

    @extend_schema(
        operation_id="import_config",
        request=ImportSerializer,
        responses={
            200: OpenApiResponse(description="What the import would change, or has changed, with all findings."),
            422: OpenApiResponse(description="The same; rows were refused, so nothing was changed."),
            **_FAILURES,
        },
    )
    def post(self, request: Request) -> Response:
        """Judge a bundle or seed SQL; with `apply`, import it as one release, or not at all."""
        serializer = ImportSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        given = serializer.validated_data
        try:
            document = _document(given)
            if not given["apply"]:
                return Response({**plan_as_json(plan(document, rest=given["rest"])), "applied": False, "release": None})
            done = bring(
                document,
                author=f"API key {request.auth}",
                reason=given["reason"] or "Import through the API",
                rest=given["rest"],
            )
        except FileRefused as error:
            raise RequestInvalid(fields={"bundle" if "bundle" in given else "sql": [str(error)]}) from None
        except ImportRefused as error:
            return Response({**plan_as_json(error.plan), "applied": False, "release": None}, status=422)
        except ImportFailed as error:
            raise RequestInvalid(str(error)) from None
        number = done.release.config_version if done.release else None
        return Response({**plan_as_json(done.plan), "applied": True, "release": number})


def _document(given: dict[str, Any]) -> Document:
    """The rows that were sent. Raises FileRefused, and RequestInvalid when there is none, or both kinds."""
    if ("bundle" in given) == ("sql" in given):
        raise RequestInvalid(fields={"bundle": ["Send either a bundle or sql."]})
    name, text = ("x.json", dumps(given["bundle"])) if "bundle" in given else ("x.sql", given["sql"])
    return read_bytes(name, text.encode(), mode=given.get("mode"), blank_as_any=given["blankAsAny"])
