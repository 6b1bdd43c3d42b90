"""The map page: states and moves of an intent, or moves between intents, drawn and as tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import chart_url, find_readable_url, workspace_url
from config_admin.test_cases.coverage import measure_coverage
from config_admin.validation.labels import row_name
from config_admin.validation.stored_columns import control_plane
from config_admin.workplace.intent_overview import UNCOUNTED, describe_row
from config_admin.workplace.map_graph import (
    WORDS,
    MapEdge,
    MapMark,
    Node,
    NodeKind,
    StateMap,
    make_intent_chart,
    make_overview_chart,
    make_state_chart,
)
from config_admin.workplace.renamed import redirect_to_renamed
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.play.coverage import MOVES, STATES
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.interfaces.turn_reports import IntentTraffic, turn_reports


@dataclass(frozen=True)
class TestedMap:
    """A map on which everything that no test plays is marked."""

    __test__ = False
    chart: StateMap
    #: Of each row, state and move that a test can play: whether one does.
    is_played: Mapping[tuple[str, ...], bool]
    #: Tests that ran on this state of the configuration, and all tests.
    ran: int
    total: int

    @property
    def unplayed_states(self) -> int:
        """How many boxes have the mark."""
        return sum(MapMark.UNTESTED in node.marks for node in self.chart.nodes)

    @property
    def unplayed_moves(self) -> int:
        """How many arrows have the mark."""
        return sum(MapMark.UNTESTED in move.marks for move in self.chart.moves)

    def is_unplayed(self, row: Row) -> bool:
        """True for a row that a test could play, and none does."""
        return self.is_played.get(_get_key(row)) is False


def _mark_untested(chart: StateMap, snapshot: Snapshot) -> TestedMap:
    """Mark the states and moves that the newest result of no test on this state reaches."""
    measured = measure_coverage(snapshot)
    is_played = {key: bool(item.scenarios) for key, item in measured.coverage.items.items()}
    intents: dict[str, list[bool]] = {}
    for key, intent in measured.intents.items():
        intents.setdefault(intent, []).append(is_played[key])

    def list_known(node: Node) -> list[bool]:
        if node.kind is NodeKind.INTENT:
            return intents.get(node.intent, [])
        key = (STATES, code(node.intent), code(node.state))
        return [is_played[key]] if key in is_played else []

    def list_known_rows(move: MapEdge) -> list[bool]:
        return [is_played[key] for row in move.rows if (key := _get_key(row)) in is_played]

    for move in chart.moves:
        if (known := list_known_rows(move)) and not any(known):
            move.marks = (*move.marks, MapMark.UNTESTED)

    def is_unplayed(node: Node) -> bool:
        if known := list_known(node):
            return not any(known)
        # A state of rules for every intent is played only over a move that is.
        ways = [MapMark.UNTESTED in move.marks for move in chart.moves if move.end == node.key]
        return node.kind is NodeKind.STATE and bool(ways) and all(ways)

    nodes = tuple(
        replace(node, marks=(*node.marks, MapMark.UNTESTED)) if is_unplayed(node) else node for node in chart.nodes
    )
    return TestedMap(replace(chart, nodes=nodes), is_played, measured.ran, measured.total)


def _get_key(row: Row) -> tuple[str, ...]:
    """The key of a row in the coverage; an edge of the state graph is a move."""
    if isinstance(row, rows.StateEdge):
        return MOVES, code(row.intent_code), code(row.from_state), code(row.to_state)
    return row.table, str(row.pk)


DAYS = 7
_RUN = "config_admin.run_test_case"
#: How many rows a node or an edge lists.
SPELLED = 30
_NAMES = {NodeKind.START: "A message", NodeKind.ANYWHERE: "Any state"}


@page("<path:intent>/map/", of="config_admin.CeIntent", name="map_of")
@page("map/", of="config_admin.CeIntent", entry=SidebarEntry("Intents", "Map", "A map of intents and states."))
def chart(request: HttpRequest, intent: str = "") -> HttpResponse:
    """The page, for users who may see intents and rules."""
    if not may_see_charts(request):
        raise PermissionDenied
    snapshot, intent = get_editor_context(request).snapshot, code(intent)
    if intent and not _exists(snapshot, intent):
        return redirect_to_renamed(request, intent, chart_url)
    shown = _make_map(request, snapshot, intent)
    tested = _mark_untested(shown.chart, snapshot) if _TESTS.is_on(request) else None
    traffic = turn_reports().read_traffic(intent, DAYS) if intent and _TRAFFIC.is_on(request) else None
    context = {
        "title": shown.title,
        "code": intent,
        "workspace_url": workspace_url(intent) if intent else "",
        "every_url": _build_map_url(tested),
        "states_url": _build_map_url(tested, states="1"),
        "tested": tested,
        "switch_url": _TESTS.build_url(request),
        "traffic": traffic,
        "traffic_url": _TRAFFIC.build_url(request) if intent else "",
        "run_url": reverse("admin:config_admin_cetestcase_run") if request.user.has_perm(_RUN) else "",
        "by_state": shown.is_by_state,
        "rest": shown.rest,
        "days": DAYS,
        **_serialize_map(request, shown, snapshot, tested, traffic),
    }
    return TemplateResponse(request, "config_admin/map.html", context)


class _Switch(NamedTuple):
    """What the page shows, too, with the key in its address, for users who have the right."""

    key: str
    right: str

    def is_on(self, request: HttpRequest) -> bool:
        return self.key in request.GET and request.user.has_perm(self.right)

    def build_url(self, request: HttpRequest) -> str:
        """This page with what it does not show now, or without it; blank for users who do not have the right."""
        if not request.user.has_perm(self.right):
            return ""
        query = request.GET.copy()
        if not query.pop(self.key, None):
            query[self.key] = "1"
        return f"{request.path}?{query.urlencode()}"


#: What no test plays, and how many turns went where.
_TESTS = _Switch("tests", "config_admin.view_cetestcase")
_TRAFFIC = _Switch("traffic", "ce_sessions.view_ceconversationhistory")


class _Map(NamedTuple):
    """The map that the address asks for."""

    title: str
    chart: StateMap
    #: The first intent of the next page of all states.
    rest: str = ""
    is_by_state: bool = False


def _make_map(request: HttpRequest, snapshot: Snapshot, intent: str) -> _Map:
    if intent:
        stored = snapshot.row(rows.Intent, intent)
        return _Map(f"Map of {stored.name if stored else intent}", make_intent_chart(snapshot, intent))
    if "states" in request.GET:
        return _Map("Map of all states", *make_state_chart(snapshot, request.GET.get("from", "")), is_by_state=True)
    return _Map("Map of all intents", make_overview_chart(snapshot))


def _serialize_map(
    request: HttpRequest, shown: _Map, snapshot: Snapshot, tested: TestedMap | None, traffic: IntentTraffic | None
) -> dict[str, Any]:
    chart = tested.chart if tested else shown.chart
    counted = {(row.table, str(row.pk)) for move in chart.moves for row in move.rows if row.table not in UNCOUNTED}
    fired = turn_reports().count_row_usage(sorted(counted), timezone.now() - timedelta(days=DAYS))
    nodes = [_serialize_node(request, node, snapshot, tested, is_grouped=shown.is_by_state) for node in chart.nodes]
    if traffic:
        _add_visits(nodes, traffic)
    names = {node["key"]: node["called"] for node in nodes}
    moves = [_serialize_move(request, move, names, fired, tested) for move in chart.moves]
    drawing = {"nodes": nodes, "moves": moves, "words": {mark.value: words for mark, words in WORDS.items()}}
    return {"nodes": nodes, "moves": moves, "drawing": drawing, "marks": _count_marks(chart)}


def _count_marks(chart: StateMap) -> list[tuple[str, int]]:
    """How often each mark occurs, without harmless ones."""
    marks = [mark for node in chart.nodes for mark in node.marks]
    marks += [mark for move in chart.moves for mark in move.marks]
    wanted = (MapMark.UNREACHABLE, MapMark.NO_ANSWER, MapMark.FORBIDDEN)
    return [(WORDS[mark][1], marks.count(mark)) for mark in wanted if mark in marks]


def _add_visits(nodes: Iterable[dict[str, Any]], traffic: IntentTraffic) -> None:
    """Say at each state how many turns entered it, and how many did not go on."""
    visits = {each.state: each for each in traffic.visits}
    for node in nodes:
        if node["kind"] == NodeKind.STATE.value and (visit := visits.get(node["name"])):
            # Where a flow ends, nobody goes on.
            is_final = MapMark.ENDS.value in node["marks"]
            node["traffic"] = f"{visit.entered} in" + ("" if is_final else f", {visit.losses} stopped")
            text = f"In {DAYS} days {visit.entered} turns entered this state"
            node["remarks"].append(f"{text}." if is_final else f"{text}; {visit.losses} conversations did not go on.")


def may_see_charts(request: HttpRequest) -> bool:
    """True for users who may see intents and rules."""
    admins = (admin.site.get_model_admin(model) for model in map(control_plane().__getitem__, ("ce_intent", "ce_rule")))
    return all(admin.has_view_or_change_permission(request) for admin in admins)


def _exists(snapshot: Snapshot, intent: str) -> bool:
    """True for an intent with a row, and for the codes that need none."""
    return intent in (ANY, UNKNOWN) or snapshot.row(rows.Intent, intent) is not None


def _build_map_url(tested: TestedMap | None, intent: str = "", **query: str) -> str:
    """Another map, which shows what no test plays if this one does."""
    if tested:
        query[_TESTS.key] = "1"
    return chart_url(intent) + (f"?{urlencode(query)}" if query else "")


def _serialize_node(
    request: HttpRequest, node: Node, snapshot: Snapshot, tested: TestedMap | None, *, is_grouped: bool
) -> dict[str, Any]:
    has_map = node.kind is NodeKind.INTENT and _exists(snapshot, node.intent)
    url = _build_map_url(tested, node.intent) if has_map else ""
    name = _NAMES.get(node.kind) or node.state or get_intent_name(snapshot, node.intent)
    return {
        "key": node.key,
        "kind": node.kind.value,
        "group": node.intent if is_grouped else "",
        "name": name,
        "called": f"{get_intent_name(snapshot, node.intent)} / {name}"
        if is_grouped and node.kind is not NodeKind.INTENT
        else name,
        "url": url,
        "marks": [mark.value for mark in node.marks],
        "remarks": [WORDS[mark][1] for mark in node.marks],
        "rows": _serialize_rows(request, node.rows, tested),
    }


def _serialize_move(
    request: HttpRequest,
    move: MapEdge,
    names: Mapping[str, str],
    fired: Mapping[tuple[str, str], Any],
    tested: TestedMap | None,
) -> dict[str, Any]:
    counts = [fired[key].turns for row in move.rows if (key := (row.table, str(row.pk))) in fired]
    return {
        "start": move.start,
        "end": move.end,
        "from": names[move.start],
        "to": names[move.end],
        "shared": move.is_shared,
        "turns": sum(counts),
        "marks": [mark.value for mark in move.marks],
        "remarks": [WORDS[mark][1] for mark in move.marks],
        "rows": _serialize_rows(request, move.rows, tested),
    }


def _serialize_rows(request: HttpRequest, members: Iterable[Row], tested: TestedMap | None) -> list[dict[str, str]]:
    """Rows as links; only names for tables that the user may not see."""
    listed = list(members)
    shown = [
        {
            "name": row_name(row.table, row.pk),
            "url": find_readable_url(request, row.table, row.pk),
            "text": describe_row(row)[0],
            "note": WORDS[MapMark.UNTESTED][0] if tested and tested.is_unplayed(row) else "",
        }
        for row in listed[:SPELLED]
    ]
    more = len(listed) - SPELLED
    return [*shown, {"name": f"… and {more} more", "url": "", "text": "", "note": ""}] if more > 0 else shown
