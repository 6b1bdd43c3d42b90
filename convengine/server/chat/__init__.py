"""The chat: its script, the page of this server that shows it, and their addresses."""

import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse

from convengine.server.deployment import conf
from convengine.server.deployment.folders import DEMO_FACTS, find_shipped

#: What the users of the demonstration do.
_TASKS: Mapping[str, str] = MappingProxyType(
    {
        "analyst": "Changes intents, answers and rules, and tries them.",
        "qa": "Reads every turn: what happened, and why.",
        "admin": "Manages users, keys and releases as well.",
    }
)


#: Pages name the address that stays, so they get a new script within minutes. That of a version gives always the same.
_FOR_MINUTES, _FOR_GOOD = "public, max-age=300", "public, max-age=31536000, immutable"


class Script(NamedTuple):
    """The script of the chat, and what its address says of its content."""

    version: str
    text: bytes
    compressed: bytes


@cache
def read_script() -> Script:
    text = (find_shipped("static") / "convengine/chat.js").read_bytes()
    return Script(hashlib.sha256(text).hexdigest()[:16], text, gzip.compress(text, mtime=0))


def show_script(request: HttpRequest) -> HttpResponse:
    """Redirects to the script of this release."""
    address = reverse("chat-script-version", args=[read_script().version])
    return HttpResponseRedirect(address, headers={"Cache-Control": _FOR_MINUTES})


def show_script_version(request: HttpRequest, version: str) -> HttpResponse:
    """The script, which browsers keep.

    While servers are replaced, one may be asked for the version of another. It gives its own for the time being.
    """
    script = read_script()
    answer = HttpResponse(script.text, content_type="text/javascript; charset=utf-8")
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        answer = HttpResponse(script.compressed, content_type="text/javascript; charset=utf-8")
        answer["Content-Encoding"] = "gzip"
    answer["Cache-Control"] = _FOR_GOOD if version == script.version else _FOR_MINUTES
    answer["Vary"] = "Accept-Encoding"
    return answer


def show_chat(request: HttpRequest) -> HttpResponse:
    """The chat for visitors; beside it, for users of the admin, why the bot answered as it did.

    Raises Http404 if the deployment serves no visitors.
    """
    if not conf.get("CHAT"):
        raise Http404("This server has no chat for visitors. Set CE_CHAT=true to have one.")
    logins: list[dict[str, str]] = []
    if conf.get("DEMO"):
        # The demonstration hides no passwords.
        facts = json.loads((Path(settings.VAR_DIR) / DEMO_FACTS).read_text())
        logins = [{**user, "task": _TASKS[user["username"]]} for user in facts["users"]]
    context = {"logins": logins, "is_reader": admin.site.has_permission(request)}
    return render(request, "convengine/chat.html", context)


#: Pages of other servers name them.
urlpatterns = [
    path("chat.js", show_script, name="chat-script"),
    path("chat-<slug:version>.js", show_script_version, name="chat-script-version"),
    path("chat/", show_chat, name="chat"),
]
