"""The OpenAPI document and its view: keys, tags, failures, headers and examples of every call.

drf-spectacular finds the classes by their definition.
"""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from http import HTTPStatus
from inspect import isfunction
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema as describe
from drf_spectacular.views import SpectacularAPIView
from rest_framework.fields import CharField
from rest_framework.request import Request

from convengine.engine.turn.params import KEY_SHAPE
from convengine.json_value import Json
from convengine.server.api.authentication import KeyThrottle
from convengine.server.api.failures import describe_common_statuses, describe_statuses
from convengine.server.api.serializers import ClosedSerializer, FailureSerializer

F = TypeVar("F", bound=Callable[..., Any])
_DOCUMENT = json.loads(Path(__file__).with_name("examples.json").read_text())
#: An example of each call, as a small help desk answers, by operation: `response`, with its media `type` if that is not
#: JSON, and `request` if it has a body.
EXAMPLES: dict[str, dict[str, Any]] = _DOCUMENT["operations"]
#: Of parameters in addresses.
PARAMETERS: dict[str, Any] = _DOCUMENT["parameters"]
#: The parts of the API, by the beginning of the address; the first that fits counts, and all others read the record.
_TAGS = (
    ("/api/v1/conversation/message", "Turns"),
    ("/api/v1/conversation/feedback", "Turns"),
    ("/api/v1/conversation/token", "Turns"),
    ("/api/v1/conversation/transcript", "Turns"),
    ("/api/v1/chat", "Turns"),
    ("/api/v1/sessions", "Sessions"),
    ("/api/v1/conversation/stream", "Streams"),
    ("/api/v1/replay", "Replays"),
    ("/api/v1/what-if", "Replays"),
    ("/api/v1/config/flows", "Flows"),
    ("/api/v1/config/topics", "Topics"),
    ("/api/v1/config", "Configuration"),
)
#: Where requests have names of parameters.
_PARAMS = (("TurnRequest", "inputParams"), ("SendMessageRequest", "input_params"))
_HEADERS = {
    "RequestId": ("The ID of the call: as it was sent, or a new one. The log and the turn have it too.", "string"),
    "RateLimitLimit": (
        "How many calls the key may make in the time window. Only if the deployment sets a rate.",
        "integer",
    ),
    "RateLimitRemaining": ("How many calls are left in the window.", "integer"),
    "RateLimitReset": ("Seconds until a call of the window becomes free.", "integer"),
    "RetryAfter": ("Seconds after which the same call may succeed.", "integer"),
    "Authenticate": ("The schemes of `Authorization`.", "string"),
    "ETag": ("The release of the answer, for `If-None-Match` and `If-Match`.", "string"),
    "Location": ("The address of what was created.", "string"),
    "IdempotentReplay": ("`true`: the stored answer of an earlier call with this `Idempotency-Key`.", "string"),
}


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Api-Key …` or `Authorization: Bearer …`."""

    target_class = "convengine.server.api.authentication.ApiKeyAuthentication"
    match_subclasses = True
    name = ["ApiKey", "Bearer"]

    def get_security_definition(self, auto_schema: Any) -> Any:
        return [
            {
                "type": "apiKey",
                "in": "header",
                "name": "Authorization",
                "description": "`Api-Key <key>`; keys are made in the admin.",
            },
            {"type": "http", "scheme": "bearer", "description": "An API key, or a conversation token."},
        ]

    def get_security_requirement(self, auto_schema: Any) -> Any:
        """One of the two is enough."""
        return [{name: []} for name in self.name]


class SignedInScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The session of a signed-in user."""

    target_class = "audit.api.run_view.SignedInAuthentication"
    name = "Session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid", "description": "A user signed in to the admin."}


def extend_schema(*, example: Mapping[str, Json] | None = None, **described: Any) -> Callable[[F], F]:
    """The library's decorator, for calls of this API: their descriptions extend ours, not that of the project.

    An `example` has a `response`, and a `request` if the call has a body; long ones are in `examples.json`.
    The media types of the responses are those that callers may accept.
    """
    extend = describe(**described)
    statuses = described.get("responses") or ()
    media_types = [status[1].partition(";")[0] for status in statuses if isinstance(status, tuple)]
    if example is not None:
        EXAMPLES[described["operation_id"]] = dict(example)

    def decorate(call: F) -> F:
        if isfunction(call) and not hasattr(call, "kwargs"):
            call.kwargs = {"schema": ApiSchema}  # type: ignore[attr-defined]
        decorated: F = extend(call)
        decorated.media_types = media_types  # type: ignore[attr-defined]
        return decorated

    return decorate


#: With one of these, the description of a text says already what it may be.
_LIMITING = frozenset({"enum", "format", "pattern"})


class ApiSchema(AutoSchema):
    """What all calls have in common."""

    def get_tags(self) -> list[str]:
        return [next((tag for prefix, tag in _TAGS if self.path.startswith(prefix)), "Audit")]

    def get_summary(self) -> str | None:
        """The first sentence of the description."""
        text = self.get_description().split("\n\n")[0].replace("\n", " ")
        return text.split(". ")[0].split("; ")[0].split(": ")[0].rstrip(".")

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Json:
        schema: dict[str, Json] = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        return {**schema, "additionalProperties": False} if isinstance(serializer, ClosedSerializer) else schema

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        """Say of texts that may not be blank that white space alone is blank, too."""
        schema: Any = super()._map_serializer_field(field, direction, bypass_extensions)  # type: ignore[no-untyped-call]
        is_filled = isinstance(field, CharField) and field.trim_whitespace and not field.allow_blank
        if direction == "request" and is_filled and schema.get("type") == "string" and _LIMITING.isdisjoint(schema):
            schema["pattern"] = r"\S"
        return schema

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Json] | None:
        operation: dict[str, Json] | None = super().get_operation(*args, **kwargs)
        if operation is not None:
            self._add_failures(operation)
            self._add_headers(operation)
            _add_examples(operation)
            _exclude_nul(operation)
        return operation

    def _add_failures(self, operation: dict[str, Json]) -> None:
        schema = self.resolve_serializer(FailureSerializer, "response").ref
        names = {parameter["name"] for parameter in operation.get("parameters", ())}
        takes_turn = "Idempotency-Key" in names
        described = describe_statuses() if takes_turn else describe_common_statuses(has_body=self.method != "GET")
        if not takes_turn and self.method != "GET" and getattr(self.view, "scope", "") == "sessions":
            described[409] = describe_statuses()[409]
        if "If-Match" in names:
            described[412] = "- `PRECONDITION_FAILED`: it changed since the release in `If-Match`. Read it again."
        for status, text in described.items():
            failure = {"description": text, "content": {"application/json": {"schema": schema}}}
            operation["responses"].setdefault(str(status), failure)
        operation["responses"] = dict(sorted(operation["responses"].items()))

    def _add_headers(self, operation: dict[str, Json]) -> None:
        is_limited = any(isinstance(throttle, KeyThrottle) for throttle in self.view.get_throttles())
        names = {parameter["name"] for parameter in operation.get("parameters", ())}
        for status, response in operation["responses"].items():
            headers = {"X-Request-ID": "RequestId"}
            if is_limited and status not in ("401", "503"):
                headers |= {f"RateLimit-{name}": f"RateLimit{name}" for name in ("Limit", "Remaining", "Reset")}
            if status in ("409", "429", "503"):
                headers["Retry-After"] = "RetryAfter"
            if status == "401":
                headers["WWW-Authenticate"] = "Authenticate"
            if status in ("200", "304") and "If-None-Match" in names:
                headers["ETag"] = "ETag"
            if status in ("201", "202") and self.path.startswith(("/api/v1/replay", "/api/v1/config/flows")):
                headers["Location"] = "Location"
            if status == "200" and "Idempotency-Key" in names:
                headers["X-Idempotent-Replay"] = "IdempotentReplay"
            response["headers"] = {
                **{name: {"$ref": f"#/components/headers/{component}"} for name, component in headers.items()},
                **response.get("headers", {}),
            }


def _exclude_nul(operation: dict[str, Json]) -> None:
    """Say of texts in a query that NUL is refused (`refuse_unstorable_parameters`)."""
    for parameter in operation.get("parameters", ()):
        schema = parameter["schema"].get("items", parameter["schema"])
        if parameter["in"] == "query" and schema.get("type") == "string" and schema.keys().isdisjoint(_LIMITING):
            schema["pattern"] = r"^[^\u0000]*$"


def _add_examples(operation: dict[str, Json]) -> None:
    # A call of a deployment has none.
    example = EXAMPLES.get(operation["operationId"], {})
    if "request" in example:
        for content in operation["requestBody"]["content"].values():
            content["example"] = example["request"]
    success = next(response for status, response in operation["responses"].items() if status.startswith("2"))
    media_type = example.get("type", "application/json")
    if "response" in example:
        success["content"][media_type]["example"] = example["response"]
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path" and parameter["name"] in PARAMETERS:
            parameter["example"] = PARAMETERS[parameter["name"]]


def complete_document(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """What no single call declares: descriptions of tags, headers, and what serializers cannot say."""
    components = result.get("components", {})
    schemas = components.get("schemas", {})
    if "TurnRequest" not in schemas:
        # The project's own document, written at the same time as ours.
        return result
    for name, field in _PARAMS:
        schemas[name]["properties"][field]["propertyNames"] = {"pattern": KEY_SHAPE.pattern}
    schemas["FeedbackRequest"]["properties"]["messageId"]["maxLength"] = 128
    components["headers"] = {
        name: {"description": text, "schema": {"type": kind}} for name, (text, kind) in _HEADERS.items()
    }
    _simplify_nulls(result)
    schemas.pop("NullEnum", None)
    for path in result["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                response["description"] = response.get("description") or HTTPStatus(int(status)).phrase
    return result


def _simplify_nulls(value: Json) -> None:
    """Write "or null" as a type, which generators of clients understand, instead of as an enumeration of null."""
    if isinstance(value, list):
        for item in value:
            _simplify_nulls(item)
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "oneOf" and {"$ref": "#/components/schemas/NullEnum"} in item:
                item[:] = [each for each in item if "NullEnum" not in each.get("$ref", "")] + [{"type": "null"}]
            _simplify_nulls(item)


class _Document(NamedTuple):
    """The document in one format."""

    body: bytes
    etag: str


#: By media type. Writing a document takes half a second of a processor, so a process writes each once.
_documents: dict[str, _Document] = {}
_ALONE = Lock()


class SchemaView(SpectacularAPIView):
    """The document, which stays the same for the life of the process. Anybody may read it."""

    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        renderer: Any = request.accepted_renderer
        # One at a time, also because the library keeps `custom_settings` in one place for the whole process.
        with _ALONE:
            if renderer.media_type not in _documents:
                response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
                body = renderer.render(response.data, renderer_context={})
                _documents[renderer.media_type] = _Document(body, f'"{sha256(body).hexdigest()[:32]}"')
        document = _documents[renderer.media_type]
        answer = HttpResponse(document.body, content_type=renderer.media_type, headers={"ETag": document.etag})
        return get_conditional_response(request._request, document.etag, response=answer) or answer
