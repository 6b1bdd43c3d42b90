"""Views that export and import configuration."""

from base64 import b64decode
from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config_admin.api.release_views import IF_NONE_MATCH, ReleaseView
from config_admin.api.serializers import (
    ImportRefusalSerializer,
    ImportResultSerializer,
    ImportSerializer,
    describe_refusal,
)
from config_admin.drafts.open_draft import DraftEnded, RowsCollide, open_draft
from config_admin.releases.queries import NoSuchRelease
from config_admin.transfer.apply_import import ImportFailed, run_import
from config_admin.transfer.document import Document, FileRefused, check_value_count
from config_admin.transfer.files import (
    CONTENT_TYPES,
    CSV,
    JSON,
    READING_OPTIONS,
    XLSX,
    export_configuration,
    read_bytes,
)
from config_admin.transfer.import_plan import Progress, ignore_progress
from config_admin.transfer.import_progress import NDJSON, WorkFailed, stream_lines
from config_admin.transfer.import_report import serialize_result
from convengine.engine.errors import RequestInvalid
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.server.api.authentication import get_api_key
from convengine.server.api.parsers import OrjsonParser, OrjsonRenderer
from convengine.server.api.schema import extend_schema
from convengine.server.deployment import conf
from convengine.server.turns.failure import envelope, error_body

#: The fields of the data to import; exactly one is needed.
_FILES = ("bundle", "sql", "file")
#: The formats of an export.
_FORMS = (JSON, CSV, XLSX)


class ImportParser(OrjsonParser):
    """A JSON body with the size limit of configuration files."""

    @property
    def limit(self) -> int:
        """The limit in bytes."""
        limit: int = conf.get("MAX_IMPORT_BYTES")
        return limit

    def check_body(self, body: bytes) -> None:
        """Raises RequestInvalid for very many values."""
        try:
            check_value_count("The body", body)
        except FileRefused as error:
            raise RequestInvalid(fields={"body": [str(error)]}) from None


class LinesRenderer(OrjsonRenderer):
    """JSON documents line by line, for callers who want the progress of an import."""

    media_type = NDJSON
    format = "ndjson"


class BundleView(ReleaseView):
    """`GET /api/v1/config/bundle`."""

    address = "config/bundle"

    @extend_schema(
        operation_id="exportConfiguration",
        parameters=[
            IF_NONE_MATCH,
            OpenApiParameter("release", int, description="The release to export. The current one if absent."),
            OpenApiParameter("table", str, many=True, description="Only this table. Repeatable."),
            OpenApiParameter("form", str, enum=_FORMS, description="json by default. csv needs exactly one table."),
        ],
        responses={
            (200, CONTENT_TYPES[JSON]): OpenApiResponse(
                OpenApiTypes.OBJECT,
                "The bundle, with format, version and tables; or a file in the format that was asked for.",
            ),
            (200, CONTENT_TYPES[CSV]): OpenApiTypes.STR,
            (200, CONTENT_TYPES[XLSX]): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """The configuration as one bundle. The same rows give the same bytes."""
        given, tables = request.query_params.get("release"), request.query_params.getlist("table")
        release = None if given is None else parse_whole_number(given)
        if given is not None and release is None:
            raise RequestInvalid(fields={"release": [f"{given!r} is not valid. Use a release number."]})
        for table in tables:
            if table not in ROW_TYPE_OF:
                raise NotFound(f"Unknown table {table}. GET /api/v1/config lists the tables.")
        form = request.query_params.get("form", JSON)
        if form not in _FORMS:
            raise RequestInvalid(fields={"form": [f"{form!r} received; use one of {', '.join(_FORMS)}."]})
        try:
            data = export_configuration(release, tables=tables, form=form)
        except NoSuchRelease as error:
            raise NotFound(str(error)) from None
        except ValueError as error:
            raise RequestInvalid(fields={"form": [str(error)]}) from None
        return HttpResponse(data, content_type=CONTENT_TYPES[form])


class ImportView(ReleaseView):
    """`POST /api/v1/config/import`."""

    address = "config/import"

    parser_classes = [ImportParser]
    renderer_classes = [OrjsonRenderer, LinesRenderer]

    @extend_schema(
        operation_id="importConfiguration",
        request=ImportSerializer,
        responses={
            (200, "application/json"): ImportResultSerializer,
            (200, NDJSON): OpenApiResponse(OpenApiTypes.STR, "The progress, and last the result."),
            422: ImportRefusalSerializer,
        },
    )
    def post(self, request: Request) -> Response | StreamingHttpResponse:
        """Check a bundle, seed SQL or another file. With `apply`, import it as one release, or not at all.

        With `Accept: application/x-ndjson` the answer tells how far it is, line by line, and last `status` and
        `result`: what the answer would be otherwise.
        """
        given = ImportSerializer().run_validation(request.data)
        try:
            document = _read_document(given)
        except FileRefused as error:
            raise RequestInvalid(
                fields={next(name for name in _FILES if name in given): error.describe_problems()}
            ) from None
        author = f"API key {request.auth}"
        work = partial(_judge_or_import, document, given, author)
        if draft_id := given.get("draft"):
            work = partial(_import_into_draft, work, draft_id, given, get_api_key(request).made_by or author)
        if isinstance(request.accepted_renderer, LinesRenderer):
            lines = stream_lines(work, lambda progress: {"progress": progress}, _final_line, _describe_failure)
            return StreamingHttpResponse(lines, content_type=NDJSON, headers={"X-Accel-Buffering": "no"})
        status, body = work(ignore_progress)
        return Response(body, status)


def _judge_or_import(
    document: Document, given: dict[str, Any], author: str, progress: Progress
) -> tuple[int, dict[str, Any]]:
    """Judge the rows and import them if requested; returns the status and body of the answer."""
    reason = given["reason"] or "Import through the API"
    try:
        done = run_import(
            document, apply=given["apply"], author=author, reason=reason, rest=given["rest"], progress=progress
        )
    except ImportFailed as error:
        return 400, error_body(RequestInvalid(str(error)))
    body = serialize_result(done)
    return (422, describe_refusal(body)) if given["apply"] and not done.is_applied else (200, body)


def _import_into_draft(
    work: Callable[[Progress], tuple[int, dict[str, Any]]],
    draft_id: int,
    given: dict[str, Any],
    author: Any,
    progress: Progress,
) -> tuple[int, dict[str, Any]]:
    """Import into a draft: the imported rows become its edits."""
    try:
        reason = given["reason"] or "Import through the API"
        with open_draft(draft_id, author, reason, writing=given["apply"], decides=False):
            return work(progress)
    except DraftEnded:
        return 400, error_body(RequestInvalid(fields={"draft": [f"There is no open draft {draft_id}."]}))
    except RowsCollide as error:
        return 400, error_body(RequestInvalid(fields={"draft": [f"A new row of it is live meanwhile: {error}"]}))


def _describe_failure(failed: WorkFailed) -> dict[str, Any]:
    error = failed.error
    body = error_body(error) if error else envelope("INTERNAL_ERROR", str(failed))
    return _final_line((error.status if error else 500, body))


def _final_line(answer: tuple[int, dict[str, Any]]) -> dict[str, Any]:
    status, result = answer
    return {"status": status, "result": result}


def _read_document(given: dict[str, Any]) -> Document:
    """The rows that were sent. Raises FileRefused, and RequestInvalid for none or several kinds."""
    if sum(name in given for name in _FILES) != 1:
        raise RequestInvalid(fields={"bundle": ["Send one of bundle, sql and file."]})
    if "bundle" in given:
        name, data = "x.json", dumps(given["bundle"]).encode()
    elif "sql" in given:
        name, data = "x.sql", given["sql"].encode()
    else:
        try:
            name, data = given["file"]["name"], b64decode(given["file"]["base64"], validate=True)
        except ValueError as error:
            raise RequestInvalid(fields={"file": [f"The base64 text is not valid: {error}"]}) from None
    return read_bytes(name, data, **{option: given[option] for option in READING_OPTIONS if option in given})
