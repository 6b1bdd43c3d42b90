"""How the API key stands in the OpenAPI document. Found by drf-spectacular when the class is defined."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from convengine.domain.params import KEY_SHAPE

#: Requests that refuse fields that they do not know, and where parameter names stand in them.
_CLOSED = (
    *("TurnRequestRequest", "ResolveRequest", "MessageRequest", "ExternalTurnRequest", "CloseRequest"),
    *("FeedbackRequest", "ReplayRequest", "ExpectationRequest"),
)
_PARAMS = (("TurnRequestRequest", "inputParams"), ("MessageRequest", "input_params"))


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """`Authorization: Api-Key …`."""

    target_class = "convengine.api.authentication.ApiKeyAuthentication"
    match_subclasses = True
    name = "ApiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """A key in a header."""
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Api-Key <key>`; keys are made in the admin.",
        }


def close_turn_request(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Say of the turn request what the serializer does and cannot declare: unknown fields and odd keys are refused."""
    schemas = result["components"]["schemas"]
    for name in _CLOSED:
        schemas[name]["additionalProperties"] = False
    for name, field in _PARAMS:
        schemas[name]["properties"][field]["propertyNames"] = {"pattern": KEY_SHAPE.pattern}
    schemas["FeedbackRequest"]["properties"]["messageId"]["maxLength"] = 128
    return result
