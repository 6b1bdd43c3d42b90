"""Addresses of a missing intent: an older code leads to the renamed intent; others say what became of it."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseRedirect

from config_admin.releases.renamed_intents import find_deletion, find_renamed_intent


def redirect_to_renamed(request: HttpRequest, intent: str, get_url: Callable[[str], str]) -> HttpResponseRedirect:
    """The page of the intent that had this code, with a message. Raises Http404 if none had it."""
    renamed = find_renamed_intent(intent)
    if renamed is None:
        release = find_deletion(intent)
        advice = f" It was deleted in release {release}; undo that release to get it back." if release else ""
        raise Http404(f"The intent {intent} does not exist.{advice}")
    messages.info(request, f"{intent} was renamed to {renamed.code} in release {renamed.config_version}.")
    return HttpResponseRedirect(get_url(renamed.code))
