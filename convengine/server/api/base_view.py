"""The base of all views of the API, which is the same in every Django project."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from django.urls import URLPattern, path, re_path
from rest_framework.authentication import BaseAuthentication
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.schemas.inspectors import ViewInspector
from rest_framework.views import APIView

from convengine.engine.errors import RequestInvalid
from convengine.server.admin_site.pages import import_declarations
from convengine.server.api import errors
from convengine.server.api.authentication import ApiKeyAuthentication, HasScope, KeyThrottle
from convengine.server.api.clean_input import clean_query, refuse_unstorable_parameters
from convengine.server.api.parsers import OnlyRenderer, OrjsonParser, OrjsonRenderer
from convengine.server.api.schema import ApiSchema

_NO_DRAFT = (
    "This address takes no draft. Import into a draft with `draft` in the body of POST config/import. Try one with "
    "`configuration`, such as draft:7, where a call has it."
)
#: The calls with an address, as they are declared.
_CALLS: list[type["ApiView"]] = []


class ApiView(APIView):
    """Keys, scopes, JSON and errors of this API, whatever the REST settings of the project say."""

    #: Below `/api/v1/`: a route, or a regular expression that begins with `^`.
    address = ""
    #: Whether browsers may call it with a conversation token.
    serves_tokens = False

    #: Whether texts that cannot be stored are cleaned, and not refused: people wrote them, who get an answer whatever
    #: they write.
    cleans_texts = False

    authentication_classes: Sequence[type[BaseAuthentication]] = (ApiKeyAuthentication,)
    permission_classes: Sequence[Any] = (HasScope,)
    parser_classes = [OrjsonParser]
    renderer_classes: Sequence[type[BaseRenderer]] = (OrjsonRenderer,)
    content_negotiation_class = OnlyRenderer
    throttle_classes = [KeyThrottle]
    versioning_class = None
    schema: ViewInspector | None = ApiSchema()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "address" in vars(cls):
            _CALLS.append(cls)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises RequestInvalid for parameters that cannot be used, and what the checks of a caller raise."""
        super().initial(request, *args, **kwargs)
        if "draft" in request.query_params:
            # A call that ignored it would change or show what is live.
            raise RequestInvalid(fields={"draft": [_NO_DRAFT]})
        if self.cleans_texts:
            clean_query(request._request)
        refuse_unstorable_parameters(request._request, kwargs)

    def get_exception_handler(self) -> Callable[..., Any]:
        """The one form of all failures."""
        return errors.handle


def list_addresses(package: str) -> list[URLPattern]:
    """The addresses of the calls that the package declares, named as their classes without `View`."""
    import_declarations(package)
    calls = [call for call in _CALLS if call.__module__.startswith(f"{package}.")]
    # `config/drafts` is no `config/<str:table>`: words come before values.
    ordered = sorted(calls, key=lambda call: re.sub("<.*?>|[(].*[)]", "\uffff", call.address.removeprefix("^")))
    return [
        (re_path if call.address.startswith("^") else path)(
            call.address, call.as_view(), name=call.__name__.removesuffix("View").lower()
        )
        for call in ordered
    ]
