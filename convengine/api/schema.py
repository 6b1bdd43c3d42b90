"""How the API key stands in the OpenAPI document. Found by drf-spectacular when the class is defined."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from convengine.domain.params import KEY_SHAPE


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
    turn = result["components"]["schemas"]["TurnRequestRequest"]
    turn["additionalProperties"] = False
    turn["properties"]["inputParams"]["propertyNames"] = {"pattern": KEY_SHAPE.pattern}
    return result
