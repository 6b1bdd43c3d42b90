"""Views of flow documents: list, read, create and update flows."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from config_admin.api.release_views import IF_MATCH, IF_NONE_MATCH, ReleaseView, require_unchanged
from config_admin.api.serializers import (
    FlowDetailsSerializer,
    FlowListSerializer,
    FlowResultSerializer,
    ImportRefusalSerializer,
    WriteFlowSerializer,
    describe_refusal,
)
from config_admin.flows.document import FlowRefused
from config_admin.flows.reading import list_flows, read_flow
from config_admin.flows.saving import create_flow, update_flow
from config_admin.releases.active import snapshots
from config_admin.transfer.apply_import import ImportFailed, ImportRefused, ImportResult
from config_admin.transfer.import_report import serialize_plan
from convengine.engine.errors import RequestInvalid
from convengine.engine.text.compare import code
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.api.schema import extend_schema


class FlowsView(ReleaseView):
    """`GET` and `POST /api/v1/config/flows`."""

    address = "config/flows"

    @extend_schema(operation_id="listFlows", parameters=[IF_NONE_MATCH], responses={200: FlowListSerializer})
    def get(self, request: Request) -> Response:
        """The flows of the release in force. Intents with rows of another shape are not listed."""
        snapshot = snapshots.current()
        flows = [
            {**{key: flow[key] for key in ("code", "title", "kind")}, "enabled": flow.get("enabled", True)}
            for flow in list_flows(snapshot)
        ]
        return Response(FlowListSerializer({"configVersion": snapshot.config_version, "flows": flows}).data)

    @extend_schema(
        operation_id="createFlow",
        request=WriteFlowSerializer,
        responses={201: FlowResultSerializer, 422: ImportRefusalSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create a flow from its document as one release, or not at all."""
        return _store_flow(request, create_flow, 201)


class FlowView(ReleaseView):
    """`GET` and `PUT /api/v1/config/flows/{code}`."""

    address = "config/flows/<str:flow_code>"

    @extend_schema(operation_id="getFlow", parameters=[IF_NONE_MATCH], responses={200: FlowDetailsSerializer})
    def get(self, request: Request, flow_code: str) -> Response:
        """The document of a flow, and the rows of its intents that the document does not describe."""
        snapshot = snapshots.current()
        reading = read_flow(snapshot, flow_code)
        if reading is None:
            raise NotFound(_describe_missing(flow_code))
        answer = {
            "configVersion": snapshot.config_version,
            "flow": reading.document,
            "otherRows": [{"table": row.table, "row": row.pk} for row in reading.other_rows],
        }
        return Response(FlowDetailsSerializer(answer).data)

    @extend_schema(
        operation_id="updateFlow",
        parameters=[IF_MATCH],
        request=WriteFlowSerializer,
        responses={200: FlowResultSerializer, 422: ImportRefusalSerializer},
    )
    def put(self, request: Request, flow_code: str) -> Response:
        """Change a flow to match this document. Rows that differ are added, changed or deleted, as one release."""
        if read_flow(snapshots.current(), flow_code) is None:
            raise NotFound(_describe_missing(flow_code))
        return _store_flow(request, update_flow, 200, code(flow_code))


def _describe_missing(flow_code: str) -> str:
    return f"There is no flow {flow_code}. GET /api/v1/config/flows lists the flows."


def _read_document(flow_code: str | None, snapshot: Snapshot) -> object:
    reading = read_flow(snapshot, flow_code) if flow_code else None
    return reading and reading.document


def _store_flow(
    request: Request, store: Callable[..., ImportResult], status: int, flow_code: str | None = None
) -> Response:
    given = WriteFlowSerializer().run_validation(request.data)
    flow = given["flow"]
    if flow_code and isinstance(flow, Mapping) and flow.get("code") != flow_code:
        raise RequestInvalid(fields={"flow": [f"The code is not {flow_code}. A flow keeps its code."]})
    try:
        with require_unchanged(request, partial(_read_document, flow_code)):
            result = store(flow, author=f"API key {request.auth}", reason=given["reason"] or "Flow through the API")
    except FlowRefused as refused:
        raise RequestInvalid(fields={"flow": refused.problems}) from None
    except ImportFailed as error:
        raise RequestInvalid(str(error)) from None
    except ImportRefused as error:
        return Response(describe_refusal(serialize_plan(error.plan)), 422)
    plan = serialize_plan(result.plan)
    answer: dict[str, Any] = {
        "release": result.release.config_version if result.release else None,
        "diff": plan["diff"],
        "findings": plan["findings"],
    }
    return Response(FlowResultSerializer(answer).data, status)
