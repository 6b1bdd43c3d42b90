"""Whether the user of an open page is still signed in: a script asks before it sends a form."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET


@require_GET
@ensure_csrf_cookie
def check_sign_in(request: HttpRequest) -> HttpResponse:
    """An empty answer with the CSRF token; users who are not signed in get the login page."""
    return HttpResponse(status=204)
