"""Addresses with an intent's older code lead to the same page of the renamed intent."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect

from config_admin.restore.renamed_intents import find_renamed_intent


def redirect_to_renamed(
    request: HttpRequest, intent: str, get_url: Callable[[str], str]
) -> HttpResponseRedirect | None:
    """The page of the intent that had this code, with a message; null if none had it."""
    renamed = find_renamed_intent(intent)
    if renamed is None:
        return None
    messages.info(request, f"{intent} was renamed to {renamed.code} in release {renamed.config_version}.")
    return HttpResponseRedirect(get_url(renamed.code))
