"""URL patterns of the pages of past turns."""

from functools import partial
from typing import Any

from django.urls import path
from django.views.decorators.http import require_GET

from audit.timeline import addresses, compare, replay_pages, row, timeline, turn
from convengine.server.database.replica import reads_record

_OF_A_TURN = "<uuid:conversation_id>/turn/<turn:turn_no>/"
_PAGES = (
    ("<uuid:conversation_id>/timeline/", timeline.show_timeline, addresses.TIMELINE),
    ("compare/", compare.show_comparison, addresses.COMPARE),
    (_OF_A_TURN, turn.show_turn, addresses.TURN),
    (f"{_OF_A_TURN}row/", row.show_row, addresses.ROW),
    (f"{_OF_A_TURN}between/", row.show_releases_between, addresses.BETWEEN),
    (f"{_OF_A_TURN}replay/", replay_pages.show_turn_replay, addresses.REPLAY),
    ("<uuid:conversation_id>/replay/", replay_pages.show_conversation_replay, addresses.REPLAYS),
    ("<uuid:conversation_id>/scenario/", timeline.download_scenario, addresses.SCENARIO),
)


def turn_urls(model_admin: Any) -> list[Any]:
    """Their patterns, with the admin's permission check."""
    view = model_admin.admin_site.admin_view
    return [
        path(route, view(require_GET(reads_record(partial(page, model_admin)))), name=name)
        for route, page, name in _PAGES
    ]
