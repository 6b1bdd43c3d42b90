"""The way from Home to the page that is open: the same line above every page of the admin."""

import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.template import Context
from django.urls import NoReverseMatch, reverse

from convengine.record_columns import shortened
from convengine.sessions.models import CeConversation

#: How much of a conversation's id tells it from others, and how much of a name is shown.
_ID, _NAME = 8, 40


class Crumb(NamedTuple):
    """A page on the way; the one that is open has no address."""

    title: str
    url: str = ""
    #: What the title is the beginning of.
    hint: str = ""


def leads_by(request: HttpRequest, *crumbs: Crumb) -> None:
    """Say what lies behind the place of a page; the page itself comes last."""
    request.ce_crumbs = crumbs  # type: ignore[attr-defined]


def leads_by_conversation(
    request: HttpRequest, conversation: CeConversation | uuid.UUID, turn_no: int | None = None, page: str = ""
) -> None:
    """Say that a page belongs to a conversation, or to one of its turns; without a name it is theirs."""
    row = conversation if isinstance(conversation, CeConversation) else _row(conversation)
    key, name = str(row.pk), row.remote_jid
    crumbs = [Crumb(key[:_ID] if name == key else shortened(name, _NAME), _conversation_url(request, key), key)]
    if turn_no is not None:
        crumbs.append(Crumb(f"Turn {turn_no}", _turn_url(request, key, turn_no)))
    if page:
        crumbs.append(Crumb(page))
    leads_by(request, *crumbs)


def breadcrumbs(context: Context) -> list[Crumb]:
    """The way to the page of a context: Home, its place among those of the sidebar, what lies between, the page."""
    request = context["request"]
    home = Crumb("Home", reverse("admin:index"))
    if request.path == home.url:
        return [home._replace(url="")]
    places = [place for group in context.get("sidebar_navigation") or () for place in group["items"]]
    place = next((place for place in places if place["active"] and place["items"]), None)
    said = getattr(request, "ce_crumbs", None)
    found = [home, *(_place(place, request, bool(said)) if place else ()), *(said or _page(context, place))]
    return [*found[:-1], found[-1]._replace(url="")]


def _place(place: dict[str, Any], request: HttpRequest, goes_on: bool) -> Iterator[Crumb]:
    """The place, and of its pages the one under which this one stands; one that is called alike is the place."""
    alike = next((page for page in place["items"] if page["title"] == place["title"]), place)
    yield Crumb(place["title"], alike["link"])
    page = next(page for page in place["items"] if page["active"])
    if page is not alike and not goes_on:
        yield Crumb(page["title"], page["link"])


def _page(context: Context, place: dict[str, Any] | None) -> Iterator[Crumb]:
    """The row that the page is about, and what the page is called; nothing for the list of a place."""
    if place and any(page["active"] and page["link"] == context["request"].path for page in place["items"]):
        return
    row = context.get("original") or context.get("object")
    if row and not isinstance(row, str):
        opts = row._meta
        yield Crumb(str(row), _url(f"{opts.app_label}_{opts.model_name}_change", row.pk))
        if "adminform" in context:
            return
    yield Crumb(str(context.get("title") or ""))


def _row(key: uuid.UUID) -> CeConversation:
    """What a conversation is called; by its id when it is gone."""
    found = CeConversation.objects.filter(pk=key).only("remote_jid").first()
    return found or CeConversation(pk=key, remote_jid=str(key))


def _conversation_url(request: HttpRequest, key: str) -> str:
    """Its timeline, or for who may not read that its session."""
    if request.user.has_perm("audit.view_ceaudit"):
        return _url("audit_ceaudit_timeline", key)
    may_open = request.user.has_perm("ce_sessions.view_ceconversation")
    return _url("ce_sessions_ceconversation_change", key) if may_open else ""


def _turn_url(request: HttpRequest, key: str, turn_no: int) -> str:
    return _url("audit_ceaudit_turn", key, turn_no) if request.user.has_perm("audit.view_ceaudit") else ""


def _url(name: str, *args: Any) -> str:
    """The address of an admin page; blank where the page's app is not installed."""
    try:
        return reverse(f"admin:{name}", args=args)
    except NoReverseMatch:
        return ""
