"""The API key in the OpenAPI document. drf-spectacular finds the class by its definition."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from convengine.engine.turn.params import KEY_SHAPE

#: Requests that refuse unknown fields, and where their parameter names are.
_CLOSED = (
    *("TurnRequestRequest", "ResolveRequest", "MessageRequest", "ExternalTurnRequest", "CloseRequest"),
    *("FeedbackRequest", "ReplayRequest", "ExpectationRequest"),
)
_PARAMS = (("TurnRequestRequest", "inputParams"), ("MessageRequest", "input_params"))


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Api-Key …`."""

    target_class = "convengine.server.api.authentication.ApiKeyAuthentication"
    match_subclasses = True
    name = "ApiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Api-Key <key>`; keys are made in the admin.",
        }


def close_turn_request(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Declare for the turn request what the serializer cannot: unknown fields and invalid keys are refused."""
    schemas = result["components"]["schemas"]
    for name in _CLOSED:
        schemas[name]["additionalProperties"] = False
    for name, field in _PARAMS:
        schemas[name]["properties"][field]["propertyNames"] = {"pattern": KEY_SHAPE.pattern}
    schemas["FeedbackRequest"]["properties"]["messageId"]["maxLength"] = 128
    return result
