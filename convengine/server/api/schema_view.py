"""The view of the OpenAPI document."""

from hashlib import sha256
from threading import Lock
from typing import Any, NamedTuple

from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request


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
