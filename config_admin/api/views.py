"""Views that read the configuration in force."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config_admin.api.release_views import IF_NONE_MATCH, ReleaseView
from config_admin.api.serializers import (
    ConfigRowPageSerializer,
    ConfigTableListSerializer,
    HealthReportSerializer,
    RunningCheckSerializer,
)
from config_admin.health.background import runs
from config_admin.health.check import build_report
from config_admin.health.stored_findings import store_run
from config_admin.releases.active import snapshots
from config_admin.validation.installation import describe_installation
from config_admin.validation.secret_columns import mask_row
from convengine.engine.errors import RequestInvalid
from convengine.engine.pipeline.engine import InternalError
from convengine.engine.text.compare import code
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.rows import ROW_TYPE_OF, ROW_TYPES, Row
from convengine.server.api.schema import extend_schema

_PAGE, _MOST = 50, 500
#: How long a caller waits for the check in seconds, and the header that asks it to try again.
WAITED, _AGAIN = 30.0, {"Retry-After": "2"}
_TEXTS = ("intent", "state", "after")


class TablesView(ReleaseView):
    """`GET /api/v1/config`."""

    address = "config"

    @extend_schema(
        operation_id="listConfigurationTables", parameters=[IF_NONE_MATCH], responses={200: ConfigTableListSerializer}
    )
    def get(self, request: Request) -> Response:
        """The tables of the release in force, with how many rows each has."""
        snapshot = snapshots.current()
        tables = [{"table": row_type.table, "rows": len(snapshot.rows(row_type))} for row_type in ROW_TYPES]
        return Response(ConfigTableListSerializer({"configVersion": snapshot.config_version, "tables": tables}).data)


class HealthView(ReleaseView):
    """`GET /api/v1/config-health`."""

    address = "config-health"

    @extend_schema(
        operation_id="checkConfiguration",
        parameters=[
            IF_NONE_MATCH,
            OpenApiParameter("table", str, description="Only findings about this table."),
            OpenApiParameter("code", str, description="Only findings with this code."),
        ],
        responses={200: HealthReportSerializer, 202: RunningCheckSerializer},
    )
    def get(self, request: Request) -> Response:
        """Check the release in force, once and in full. While the check runs, the answer is 202: ask again later."""
        table, wanted = (request.query_params.get(name) for name in ("table", "code"))
        if table and table not in ROW_TYPE_OF:
            raise NotFound(f"Unknown table {table}. GET /api/v1/config lists the tables.")
        snapshot = snapshots.current()
        run = runs.of(snapshot, describe_installation())
        health = run.wait(WAITED)
        if run.failed:
            raise InternalError
        if health is None:
            answer = RunningCheckSerializer({"configVersion": snapshot.config_version, "progress": run}).data
            return Response(answer, 202, headers=_AGAIN)
        store_run(run)
        findings = [
            finding
            for finding in health.findings
            if table in (None, "", finding.table) and code(wanted) in ("", finding.code)
        ]
        # The report of `manage.py config_check` too.
        return Response(build_report(health, findings, snapshot))


class RowsView(ReleaseView):
    """`GET /api/v1/config/{table}`."""

    address = "config/<str:table>"

    @extend_schema(
        operation_id="listConfigurationRows",
        parameters=[
            IF_NONE_MATCH,
            OpenApiParameter("intent", str, description="Only rows of this intent, and rows of ANY."),
            OpenApiParameter("state", str, description="Only rows of this state, and rows of ANY."),
            OpenApiParameter("after", str, description="The `next` of the page before."),
            OpenApiParameter(
                "limit", {"type": "integer", "minimum": 1, "maximum": _MOST}, description=f"Default {_PAGE}."
            ),
        ],
        responses={200: ConfigRowPageSerializer},
    )
    def get(self, request: Request, table: str) -> Response:
        """Rows of the release in force, ordered by primary key. Rows that are switched off are included."""
        row_type = ROW_TYPE_OF.get(table)
        if row_type is None:
            raise NotFound(f"Unknown table {table}. GET /api/v1/config lists the tables.")
        snapshot, size = snapshots.current(), _read_limit(request)
        intent, state, after = (request.query_params.get(name) for name in _TEXTS)
        matching = [row for row in snapshot.rows(row_type) if _is_in_scope(row, intent, state)]
        rest = _skip_to(matching, after) if after else matching
        page = rest[:size]
        answer = {
            "configVersion": snapshot.config_version,
            "table": table,
            "next": page[-1].pk if len(rest) > size else None,
            "rows": [mask_row(table, asdict(row)) for row in page],
        }
        return Response(ConfigRowPageSerializer(answer).data)


def _is_in_scope(row: Row, intent: str | None, state: str | None) -> bool:
    return all(
        not wanted or code(getattr(row, column, "ANY")) in (code(wanted), "ANY")
        for wanted, column in ((intent, "intent_code"), (state, "state_code"))
    )


def _skip_to(rows: list[Any], after: str) -> list[Any]:
    """The rows after the one with key `after`, even if that no longer exists."""
    number = parse_whole_number(after)
    return [
        row
        for row in rows
        if (row.pk > number if isinstance(row.pk, int) and number is not None else str(row.pk) > after)
    ]


def _read_limit(request: Request) -> int:
    text = request.query_params.get("limit")
    if text is None:
        return _PAGE
    limit = parse_whole_number(text, _MOST)
    if not limit:
        raise RequestInvalid(fields={"limit": [f"{text!r} received; use a whole number from 1 to {_MOST}."]})
    return limit
