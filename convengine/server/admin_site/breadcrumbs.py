"""The breadcrumbs of every admin page."""

import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.template import Context
from django.urls import reverse

from convengine.engine.text.compare import shorten_line
from convengine.server.admin_site.record_columns import find_address
from convengine.server.sessions.models import CeConversation

#: How many characters of a conversation's id, and of a name, are shown.
_ID, _NAME = 8, 40


class Crumb(NamedTuple):
    """One breadcrumb; that of the current page has no address."""

    title: str
    url: str = ""
    #: The full text of a shortened title.
    hint: str = ""


def set_breadcrumbs(request: HttpRequest, *crumbs: Crumb) -> None:
    """Set the breadcrumbs between the sidebar entry and the page."""
    request.ce_crumbs = crumbs  # type: ignore[attr-defined]


def set_conversation_breadcrumbs(
    request: HttpRequest, conversation: CeConversation | uuid.UUID, turn_no: int | None = None, page: str = ""
) -> None:
    """Set the breadcrumbs of a page of a conversation or of one of its turns; without a name it is their own page."""
    row = conversation if isinstance(conversation, CeConversation) else _find_conversation(conversation)
    key, name = str(row.pk), row.remote_jid
    crumbs = [Crumb(key[:_ID] if name == key else shorten_line(name, _NAME), _conversation_url(request, key), key)]
    if turn_no is not None:
        may_read = request.user.has_perm("audit.view_ceaudit")
        crumbs.append(Crumb(f"Turn {turn_no}", find_address("audit_ceaudit_turn", key, turn_no) if may_read else ""))
    if page:
        crumbs.append(Crumb(page))
    set_breadcrumbs(request, *crumbs)


def breadcrumbs(context: Context) -> list[Crumb]:
    """The breadcrumbs of a page: Home, its sidebar entry, those between, the page."""
    request = context["request"]
    home = Crumb("Home", reverse("admin:index"))
    if request.path == home.url:
        return [home._replace(url="")]
    places = [section for group in context.get("sidebar_navigation") or () for section in group["items"]]
    section = next((section for section in places if section["active"] and section["items"]), None)
    own_crumbs = getattr(request, "ce_crumbs", None)
    crumbs = [
        home,
        *(_list_section_crumbs(section, request, bool(own_crumbs)) if section else ()),
        *(own_crumbs or _page(context, section)),
    ]
    return [*crumbs[:-1], crumbs[-1]._replace(url="")]


def _list_section_crumbs(section: dict[str, Any], request: HttpRequest, goes_on: bool) -> Iterator[Crumb]:
    """The sidebar entry, and its page above this one, unless both have the same name."""
    alike = next((page for page in section["items"] if page["title"] == section["title"]), section)
    yield Crumb(section["title"], alike["link"])
    page = next(page for page in section["items"] if page["active"])
    if page is not alike and not goes_on:
        yield Crumb(page["title"], page["link"])


def _page(context: Context, section: dict[str, Any] | None) -> Iterator[Crumb]:
    """The row of the page, and its name; nothing for a list."""
    if section and any(page["active"] and page["link"] == context["request"].path for page in section["items"]):
        return
    row = context.get("original") or context.get("object")
    if row and not isinstance(row, str):
        opts = row._meta
        own = Crumb(str(row), find_address(f"{opts.app_label}_{opts.model_name}_change", row.pk))
        yield own
        if own.url == context["request"].path:
            return
    yield Crumb(str(context.get("title") or ""))


def _find_conversation(key: uuid.UUID) -> CeConversation:
    """The name of a conversation; its id if it no longer exists."""
    conversation = CeConversation.objects.filter(pk=key).only("remote_jid").first()
    return conversation or CeConversation(pk=key, remote_jid=str(key))


def _conversation_url(request: HttpRequest, key: str) -> str:
    """Its timeline, or its session for users who may not read timelines."""
    if request.user.has_perm("audit.view_ceaudit"):
        return find_address("audit_ceaudit_timeline", key)
    may_open = request.user.has_perm("ce_sessions.view_ceconversation")
    return find_address("ce_sessions_ceconversation_change", key) if may_open else ""
