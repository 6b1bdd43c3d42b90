"""The base of all views of the API, which is the same in every Django project."""

from collections.abc import Callable, Sequence
from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.renderers import BaseRenderer
from rest_framework.schemas.inspectors import ViewInspector
from rest_framework.views import APIView

from convengine.server.api import errors
from convengine.server.api.authentication import ApiKeyAuthentication, HasScope, KeyThrottle
from convengine.server.api.parsers import OnlyRenderer, OrjsonParser, OrjsonRenderer
from convengine.server.api.schema import ApiSchema


class ApiView(APIView):
    """Keys, scopes, JSON and errors of this API, whatever the REST settings of the project say."""

    authentication_classes: Sequence[type[BaseAuthentication]] = (ApiKeyAuthentication,)
    permission_classes: Sequence[Any] = (HasScope,)
    parser_classes = [OrjsonParser]
    renderer_classes: Sequence[type[BaseRenderer]] = (OrjsonRenderer,)
    content_negotiation_class = OnlyRenderer
    throttle_classes = [KeyThrottle]
    versioning_class = None
    schema: ViewInspector | None = ApiSchema()

    def get_exception_handler(self) -> Callable[..., Any]:
        """The one form of all failures."""
        return errors.handle
