"""Whether a user is still signed in: forms ask before they are sent, so that no text is lost to the login page."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET


@require_GET
@ensure_csrf_cookie
def signed_in(request: HttpRequest) -> HttpResponse:
    """An empty answer with the CSRF token; users who are not signed in get the login page."""
    return HttpResponse(status=204)
