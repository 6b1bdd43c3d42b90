"""URLs; other apps appear here only as strings."""

from django.contrib import admin
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from convengine.server.admin_site.error_pages import show_front_page
from convengine.server.api.views import NothingView

handler400 = "convengine.server.admin_site.error_pages.show_bad_request"
handler403 = "convengine.server.admin_site.error_pages.show_refusal"
handler404 = "convengine.server.admin_site.error_pages.show_not_found"
handler500 = "convengine.server.admin_site.error_pages.show_failure"

urlpatterns = [
    path("", show_front_page),
    path("admin/", include("config_admin.urls")),
    path("admin/", admin.site.urls),
    path("docs/", include("config_admin.manual.urls")),
    path("api/v1/", include("convengine.server.api.urls")),
    path("api/v1/", include("audit.urls")),
    path("api/v1/", include("config_admin.api.urls")),
    re_path("^api/v1/", NothingView.as_view()),
    path("api/schema/", SpectacularAPIView.as_view(authentication_classes=[], permission_classes=[]), name="schema"),
    path(
        "api/docs/",
        SpectacularSwaggerView.as_view(url_name="schema", authentication_classes=[], permission_classes=[]),
        name="api-docs",
    ),
]
