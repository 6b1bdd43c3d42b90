"""The script of the chat under an address that stays, and the page with the chat."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.templatetags.static import static

from convengine.server.deployment import conf
from convengine.server.deployment.folders import DEMO_FACTS

#: What the users of the demonstration do.
_TASKS: Mapping[str, str] = MappingProxyType(
    {
        "analyst": "Changes intents, answers and rules, and tries them.",
        "qa": "Reads every turn: what happened, and why.",
        "admin": "Manages users, keys and releases as well.",
    }
)


def show_script(request: HttpRequest) -> HttpResponse:
    """Redirects to the script of this release, which browsers keep."""
    return HttpResponseRedirect(static("convengine/chat.js"))


def show_chat(request: HttpRequest) -> HttpResponse:
    """The chat for visitors; beside it, for users of the admin, why the bot answered so.

    Raises Http404 if the deployment serves no visitors.
    """
    if not conf.get("CHAT"):
        raise Http404("This server has no chat for visitors. Set CE_CHAT=true to have one.")
    context = {"logins": _list_logins(), "is_reader": admin.site.has_permission(request)}
    return render(request, "convengine/chat.html", context)


def _list_logins() -> list[dict[str, str]]:
    """The users of the demonstration, which hides no passwords; none elsewhere."""
    if not conf.get("DEMO"):
        return []
    facts = json.loads((Path(settings.VAR_DIR) / DEMO_FACTS).read_text())
    return [{**user, "task": _TASKS[user["username"]]} for user in facts["users"]]
