"""Addresses of the pages of past turns, beside those of the events."""

from functools import partial
from typing import Any

from django.urls import path
from django.views.decorators.http import require_GET

from audit.pages import addresses, compare, replaying, row, saving, timeline, turn

_OF_A_TURN = "<uuid:conversation_id>/turn/<turn:turn_no>/"
_PAGES = (
    ("<uuid:conversation_id>/timeline/", timeline.show, addresses.TIMELINE),
    ("compare/", compare.show, addresses.COMPARE),
    (_OF_A_TURN, turn.show, addresses.TURN),
    (f"{_OF_A_TURN}row/", row.show, addresses.ROW),
    (f"{_OF_A_TURN}between/", row.between, addresses.BETWEEN),
    (f"{_OF_A_TURN}replay/", replaying.turn, addresses.REPLAY),
    ("<uuid:conversation_id>/replay/", replaying.conversation, addresses.REPLAYS),
    ("<uuid:conversation_id>/scenario/", saving.save, addresses.SCENARIO),
)


def turn_pages(model_admin: Any) -> list[Any]:
    """Their patterns, behind the admin's own check of who may come in."""
    view = model_admin.admin_site.admin_view
    return [path(route, view(require_GET(partial(page, model_admin))), name=name) for route, page, name in _PAGES]
