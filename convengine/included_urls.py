"""The URLs for another project's `include`: the manual, the API, and the addresses beside the admin's own.

urlpatterns = [path("", include("convengine.included_urls")), path("admin/", admin.site.urls), …]
"""

from typing import Any

from django.urls import include, path
from drf_spectacular.views import SpectacularSwaggerSplitView

from convengine import embedding
from convengine.server.api.base_view import list_addresses
from convengine.server.api.schema import SchemaView
from convengine.server.channels.receive import receive

#: The documented part.
API = [
    path("api/v1/", include(list_addresses("convengine.server"))),
    path("api/v1/", include("audit.urls")),
    path("api/v1/", include("config_admin.api.urls")),
]
#: The library takes these only as settings; with `patterns` they have no effect.
_DOCUMENT = {key: value for key, value in embedding.SPECTACULAR_SETTINGS.items() if not key.startswith("SERVE_")}
_OPEN: dict[str, Any] = {"authentication_classes": [], "permission_classes": [], "schema": None}

urlpatterns = [
    path("", include("convengine.server.probes.urls")),
    path("", include("convengine.server.chat")),
    path("channels/<slug:name>/", receive, name="channel"),
    path("admin/", include("config_admin.urls")),
    path("docs/", include("config_admin.manual.urls")),
    *API,
    path(
        "api/schema/",
        SchemaView.as_view(patterns=API, custom_settings=_DOCUMENT, **_OPEN),
        # Not "schema": so a project names its own.
        name="convengine-schema",
    ),
    path(
        "api/docs/",
        # Its script has an address of its own: the page may run nothing inline.
        SpectacularSwaggerSplitView.as_view(
            url_name="convengine-schema", template_name="convengine/api_reference.html", **_OPEN
        ),
        name="api-docs",
    ),
]
