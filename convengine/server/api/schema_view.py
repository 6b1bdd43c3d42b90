"""The view of the OpenAPI document."""

from threading import Lock
from typing import Any

from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request
from rest_framework.response import Response

_ALONE = Lock()


class SchemaView(SpectacularAPIView):
    """Writes one document at a time: the library keeps `custom_settings` in one place for the whole process."""

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        with _ALONE:
            response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        return response
