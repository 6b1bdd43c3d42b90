"""Views that export and import configuration (R76)."""

from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config_admin.api.serializers import ImportSerializer
from config_admin.releases.queries import NoSuchRelease
from config_admin.transfer.apply_import import ImportFailed, ImportRefused, import_document
from config_admin.transfer.document import Document, FileRefused
from config_admin.transfer.files import CONTENT_TYPES, CSV, JSON, XLSX, export_configuration, read_bytes
from config_admin.transfer.import_plan import Plan, Progress, ignore_progress, plan_import
from config_admin.transfer.import_progress import NDJSON, WorkFailed, WorkProgress, follow_work
from config_admin.transfer.import_report import serialize_plan
from convengine.engine.errors import RequestInvalid
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.server.api.authentication import KeyThrottle
from convengine.server.api.errors import envelope, error_body
from convengine.server.api.parsers import OrjsonParser, OrjsonRenderer
from convengine.server.api.serializers import FailureSerializer
from convengine.server.deployment import conf

#: The fields of the data to import; exactly one is needed.
_FILES = ("bundle", "sql", "file")
#: The formats of an export.
_FORMS = (JSON, CSV, XLSX)
_FAILURES = dict.fromkeys((400, 401, 403, 404, 429), FailureSerializer)


class ImportParser(OrjsonParser):
    """A JSON body with the size limit of configuration files."""

    @property
    def limit(self) -> int:
        """The limit in bytes."""
        limit: int = conf.get("MAX_IMPORT_BYTES")
        return limit


class LinesRenderer(OrjsonRenderer):
    """JSON documents line by line, for callers who want the progress of an import."""

    media_type = NDJSON
    format = "ndjson"


class BundleView(APIView):
    """`GET /api/v1/config/bundle`."""

    scope = "config"
    throttle_classes = [KeyThrottle]

    @extend_schema(
        operation_id="export_config",
        parameters=[
            OpenApiParameter("release", int, description="Release to export. Default: the current release."),
            OpenApiParameter("table", str, many=True, description="Only this table. Repeatable."),
            OpenApiParameter("form", str, enum=_FORMS, description="Default: json. csv needs exactly one table."),
        ],
        responses={
            200: OpenApiResponse(description="The bundle: format, version, tables; or the file of the asked form."),
            **_FAILURES,
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """The configuration as one bundle: for the same rows the same bytes."""
        release, tables = request.query_params.get("release"), request.query_params.getlist("table")
        if release is not None and not (release.isascii() and release.isdecimal() and len(release) < 18):
            raise RequestInvalid(fields={"release": [f"{release!r} is not valid. Use a release number."]})
        for table in tables:
            if table not in ROW_TYPE_OF:
                raise NotFound(f"Unknown table {table}. GET /api/v1/config lists the tables.")
        form = request.query_params.get("form", JSON)
        if form not in _FORMS:
            raise RequestInvalid(fields={"form": [f"{form!r} received; use one of {', '.join(_FORMS)}."]})
        try:
            data = export_configuration(int(release) if release else None, tables=tables, form=form)
        except NoSuchRelease as error:
            raise NotFound(str(error)) from None
        except ValueError as error:
            raise RequestInvalid(fields={"form": [str(error)]}) from None
        return HttpResponse(data, content_type=CONTENT_TYPES[form])


class ImportView(APIView):
    """`POST /api/v1/config/import`."""

    scope = "config"
    throttle_classes = [KeyThrottle]
    parser_classes = [ImportParser]
    renderer_classes = [OrjsonRenderer, LinesRenderer]

    @extend_schema(
        operation_id="import_config",
        request=ImportSerializer,
        responses={
            200: OpenApiResponse(description="What the import would change, or has changed, with all findings."),
            422: OpenApiResponse(description="The same. Rows were rejected, so nothing was changed."),
            **_FAILURES,
        },
    )
    def post(self, request: Request) -> Response | StreamingHttpResponse:
        """Judge a bundle, seed SQL or a file of any form; with `apply`, import it as one release, or not at all.

        With `Accept: application/x-ndjson` the answer tells how far it is, line by line, and last `status` and
        `result`: what the answer would be otherwise.
        """
        serializer = ImportSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        given = serializer.validated_data
        try:
            document = _read_document(given)
        except FileRefused as error:
            raise RequestInvalid(
                fields={next(name for name in _FILES if name in given): error.describe_problems()}
            ) from None
        work = partial(_judge_or_import, document, given, f"API key {request.auth}")
        if isinstance(request.accepted_renderer, LinesRenderer):
            return StreamingHttpResponse(
                _report_progress(work), content_type=NDJSON, headers={"X-Accel-Buffering": "no"}
            )
        status, body = work(ignore_progress)
        return Response(body, status)


def _judge_or_import(
    document: Document, given: dict[str, Any], author: str, progress: Progress
) -> tuple[int, dict[str, Any]]:
    """Judge the rows and import them if requested; returns the status and body of the answer."""
    rest, reason = given["rest"], given["reason"] or "Import through the API"
    try:
        if not given["apply"]:
            return 200, _serialize_plan(plan_import(document, rest=rest, progress=progress))
        done = import_document(document, author=author, reason=reason, rest=rest, progress=progress)
    except ImportRefused as error:
        return 422, _serialize_plan(error.plan)
    except ImportFailed as error:
        return 400, error_body(RequestInvalid(str(error)))
    return 200, _serialize_plan(done.plan, applied=True, release=done.release.config_version if done.release else None)


def _serialize_plan(import_plan: Plan, *, applied: bool = False, release: int | None = None) -> dict[str, Any]:
    return {**serialize_plan(import_plan), "applied": applied, "release": release}


def _report_progress(work: Callable[[Progress], tuple[int, dict[str, Any]]]) -> Iterator[bytes]:
    """`{"progress": …}` during the work, then `{"status", "result"}`."""
    try:
        for news in follow_work(work):
            line = {"progress": asdict(news)} if isinstance(news, WorkProgress) else _final_line(*news.result)
            yield dumps(line).encode() + b"\n"
    except WorkFailed as error:
        yield dumps(_final_line(500, envelope("INTERNAL_ERROR", str(error)))).encode() + b"\n"


def _final_line(status: int, result: dict[str, Any]) -> dict[str, Any]:
    return {"status": status, "result": result}


def _read_document(given: dict[str, Any]) -> Document:
    """The rows that were sent. Raises FileRefused, and RequestInvalid for none or several kinds."""
    if sum(name in given for name in _FILES) != 1:
        raise RequestInvalid(fields={"bundle": ["Send one of bundle, sql and file."]})
    name, data = _read_file(given)
    return read_bytes(name, data, mode=given.get("mode"), blank_as_any=given["blankAsAny"])


def _read_file(given: dict[str, Any]) -> tuple[str, bytes]:
    if "bundle" in given:
        return "x.json", dumps(given["bundle"]).encode()
    if "sql" in given:
        return "x.sql", given["sql"].encode()
    try:
        return given["file"]["name"], b64decode(given["file"]["base64"], validate=True)
    except ValueError as error:
        raise RequestInvalid(fields={"file": [f"The base64 text is not valid: {error}"]}) from None
