"""The page that removes the sample week of the demonstration."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from audit.erasure.sample import remove_sample
from convengine.server.admin_site.pages import page
from convengine.server.sessions.models import SAMPLE, CeConversation


@page("sample/", of="audit.CeAudit", right="audit.erase_person", methods=("GET", "POST"))
def sample_page(request: HttpRequest) -> HttpResponse:
    """Say what is removed, and remove it."""
    if request.method == "POST":
        count = remove_sample(request.user.get_username())
        messages.success(request, f"{count} sample conversations were removed, with their counts.")
        return HttpResponseRedirect(reverse("admin:index"))
    count = CeConversation.objects.filter(channel=SAMPLE).count()
    return TemplateResponse(request, "audit/sample.html", {"title": "Sample week", "count": count})
