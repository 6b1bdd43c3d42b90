"""URLs; other apps appear here only as strings."""

from django.contrib import admin
from django.urls import include, path, re_path

from convengine.server.admin_site.error_pages import show_favicon, show_front_page, show_security_contacts
from convengine.server.api.views import NothingView
from convengine.server.deployment import conf

handler400 = "convengine.server.admin_site.error_pages.show_bad_request"
handler403 = "convengine.server.admin_site.error_pages.show_refusal"
handler404 = "convengine.server.admin_site.error_pages.show_not_found"
handler500 = "convengine.server.admin_site.error_pages.show_failure"

admin.autodiscover()

#: The sign-in page of an installation with an identity provider or second factors, before the admin's own.
_SIGN_IN = [path("admin/", include("convengine.server.sign_in.urls"))] if conf.get("SIGN_IN") else []

urlpatterns = [
    *_SIGN_IN,
    path("", show_front_page),
    path("favicon.ico", show_favicon),
    path(".well-known/security.txt", show_security_contacts),
    path("", include("convengine.included_urls")),
    path("admin/", admin.site.urls),
    re_path("^api/v1/", NothingView.as_view()),
]
