"""Whether somebody is still signed in: forms ask before they are sent, so that no text is lost to the login page."""

from django.http import HttpRequest, JsonResponse
from django.middleware.csrf import get_token
from django.views.decorators.http import require_GET


@require_GET
def token(request: HttpRequest) -> JsonResponse:
    """The secret that forms of this session carry; whoever is not signed in is led to the login page instead."""
    return JsonResponse({"token": get_token(request)})
