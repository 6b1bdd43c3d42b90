"""Views of flow documents: list, read, create and update flows (dialogue 10)."""

from collections.abc import Callable, Mapping
from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config_admin.api.serializers import FlowResultSerializer, FlowSerializer, FlowsSerializer, FlowWriteSerializer
from config_admin.flows.flows import FlowRefused
from config_admin.flows.reading import list_flows, read_flow
from config_admin.flows.saving import create_flow, update_flow
from config_admin.snapshot.active import snapshots
from config_admin.transfer.apply_import import ImportFailed, ImportRefused, ImportResult
from config_admin.transfer.import_report import serialize_plan
from convengine.engine.errors import RequestInvalid
from convengine.engine.text.compare import code
from convengine.server.api.authentication import KeyThrottle
from convengine.server.api.serializers import FailureSerializer

_FAILURES = dict.fromkeys((400, 401, 403, 404, 429), FailureSerializer)
_REFUSED = OpenApiResponse(description="Rows of the flow have errors, so nothing was changed: the plan with findings.")


class FlowsView(APIView):
    """`GET` and `POST /api/v1/config/flows`."""

    scope = "config"
    throttle_classes = [KeyThrottle]

    @extend_schema(operation_id="list_flows", responses={200: FlowsSerializer, **_FAILURES})
    def get(self, request: Request) -> Response:
        """The flows of the release in force. Intents with rows of another shape are not listed."""
        snapshot = snapshots.current()
        flows = [{key: flow[key] for key in ("code", "title", "kind")} for flow in list_flows(snapshot)]
        return Response(FlowsSerializer({"configVersion": snapshot.config_version, "flows": flows}).data)

    @extend_schema(
        operation_id="create_flow",
        request=FlowWriteSerializer,
        responses={201: FlowResultSerializer, 422: _REFUSED, **_FAILURES},
    )
    def post(self, request: Request) -> Response:
        """Create a flow from its document as one release, or not at all."""
        return _store_flow(request, create_flow, 201)


class FlowView(APIView):
    """`GET` and `PUT /api/v1/config/flows/{code}`."""

    scope = "config"
    throttle_classes = [KeyThrottle]

    @extend_schema(operation_id="read_flow", responses={200: FlowSerializer, **_FAILURES})
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
        return Response(FlowSerializer(answer).data)

    @extend_schema(
        operation_id="update_flow",
        request=FlowWriteSerializer,
        responses={200: FlowResultSerializer, 422: _REFUSED, **_FAILURES},
    )
    def put(self, request: Request, flow_code: str) -> Response:
        """Let a flow become this document: rows are added, changed and deleted by difference, as one release."""
        if read_flow(snapshots.current(), flow_code) is None:
            raise NotFound(_describe_missing(flow_code))
        return _store_flow(request, update_flow, 200, code(flow_code))


def _describe_missing(flow_code: str) -> str:
    return f"There is no flow {flow_code}. GET /api/v1/config/flows lists the flows."


def _store_flow(
    request: Request, store: Callable[..., ImportResult], status: int, flow_code: str | None = None
) -> Response:
    serializer = FlowWriteSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    given = serializer.validated_data
    flow = given["flow"]
    if flow_code and isinstance(flow, Mapping) and flow.get("code") != flow_code:
        raise RequestInvalid(fields={"flow": [f"The code is not {flow_code}. A flow keeps its code."]})
    try:
        result = store(flow, author=f"API key {request.auth}", reason=given["reason"] or "Flow through the API")
    except FlowRefused as refused:
        raise RequestInvalid(fields={"flow": refused.problems}) from None
    except ImportFailed as error:
        raise RequestInvalid(str(error)) from None
    except ImportRefused as error:
        return Response(serialize_plan(error.plan), 422)
    plan = serialize_plan(result.plan)
    answer: dict[str, Any] = {
        "release": result.release.config_version if result.release else None,
        "diff": plan["diff"],
        "findings": plan["findings"],
    }
    return Response(FlowResultSerializer(answer).data, status)
