"""The workspace of an intent: everything that belongs to it on one page, with recent use of each row."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import formats, timezone

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import chart_url, row_url, workspace_url
from config_admin.editing.workspace_return import WORKSPACE, popup_url
from config_admin.validation.labels import row_name
from config_admin.validation.stored_columns import control_plane
from config_admin.workplace.intent_overview import (
    OWN,
    SHARED,
    UNCOUNTED,
    OverviewSection,
    RowGroup,
    describe_row,
    list_sections,
    list_states,
    list_unanswered_states,
)
from config_admin.workplace.map_page import may_see_charts
from config_admin.workplace.renamed import redirect_to_renamed
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.interfaces.turn_reports import RowUsage, turn_reports

DAYS = 7
#: Sections that every workspace shows even without rows, with their text.
_NOTHING_YET = {
    rows.Classifier.table: "No phrases yet. Add one first.",
    rows.OutputSchema.table: "No form yet.",
    rows.Rule.table: "No rules of this intent yet.",
    rows.Response.table: "No answers yet.",
}
#: Their rows belong to one intent.
_OF_ONE_INTENT = {rows.Classifier.table, rows.OutputSchema.table}
#: Reserved intents with their name and meaning.
_RESERVED = {
    ANY: ("Every intent", "Rows for every intent. They are evaluated after the rows of the current intent."),
    UNKNOWN: ("Unknown intent", "Rows that apply while the intent is unknown."),
}


class Line(NamedTuple):
    """One row of the page."""

    name: str
    url: str
    text: str
    note: str
    state: str
    #: True for a row of every intent.
    is_shared: bool
    #: Why the row takes no part, or blank.
    off: str
    priority: int | None
    #: Its recent use; None if that is not counted.
    fired: str | None
    is_idle: bool
    #: The row's edit page for a frame; blank for users who may not change it.
    here_url: str
    #: The row's id on the page.
    key: str


class Lines(NamedTuple):
    """A group with its lines, the number of hidden ones, and the link to add one."""

    group: RowGroup
    lines: list[Line]
    more: int
    more_url: str
    add_url: str
    add_here_url: str


class ShownSection(NamedTuple):
    section: OverviewSection
    key: str
    groups: list[Lines]
    #: Links to add a first row, as (address, label).
    empty: list[tuple[str, str]]
    #: The text of an empty section that is always shown, or blank.
    nothing: str


def workspace(request: HttpRequest, intent: str) -> HttpResponse:
    """The page of one intent; `?state=` limits it to what can apply in that state."""
    if not admin.site.get_model_admin(control_plane()["ce_intent"]).has_view_or_change_permission(request):
        raise PermissionDenied
    snapshot, intent = get_editor_context(request).snapshot, code(intent)
    stored = snapshot.row(rows.Intent, intent)
    if stored is None and intent not in _RESERVED:
        return redirect_to_renamed(request, intent, workspace_url)
    name, about = (stored.name, "") if stored else _RESERVED[intent]
    states = list_states(snapshot, intent)
    state = code(request.GET.get("state"))
    shown_sections = list_sections(snapshot, intent, state)
    counts = _count_firings(shown_sections)
    parts = [part for section in shown_sections if (part := _make_part(request, snapshot, section, intent, counts))]
    context = {
        "title": name,
        "intent": stored,
        "code": intent,
        "name": name,
        "about": about,
        "edit_url": _build_edit_url(request, stored, intent),
        "map_url": chart_url(intent) if may_see_charts(request) else "",
        "topic_links": _list_topic_links(request, stored),
        "everywhere_url": "" if intent == ANY else workspace_url(ANY),
        "state": state,
        "states": [("", "All states"), *((each, each) for each in states)],
        "unanswered": _list_answers_to_add(request, intent, list_unanswered_states(snapshot, intent, states)),
        "parts": [part for part in parts if part.groups or part.nothing],
        "unused": [part for part in parts if not part.groups and not part.nothing],
        "days": DAYS,
    }
    return TemplateResponse(request, "config_admin/workspace.html", context)


def _list_topic_links(request: HttpRequest, stored: rows.Intent | None) -> list[tuple[str, str]]:
    """What this user may do with the whole intent, as (address, label)."""
    if stored is None or code(stored.intent_code) == UNKNOWN:
        return []
    has = request.user.has_perm
    labels = {
        "rename": ("Rename", has("config_admin.change_ceintent")),
        "duplicate": ("Duplicate", has("config_admin.add_ceintent")),
        "switch": ("Switch off" if stored.enabled else "Switch on", has("config_admin.change_ceintent")),
        "export": ("Export", True),
        "delete_all": ("Delete", has("config_admin.delete_ceintent")),
    }
    return [
        (reverse(f"admin:config_admin_ceintent_{page}", args=[stored.intent_code]), label)
        for page, (label, may) in labels.items()
        if may
    ]


def _count_firings(sections: list[OverviewSection]) -> Mapping[tuple[str, str], RowUsage]:
    shown = [row for section in sections for group in section.groups for row in group.shown]
    counted = [(row.table, str(row.pk)) for row in shown if row.table not in UNCOUNTED]
    return turn_reports().count_row_usage(counted, timezone.now() - timedelta(days=DAYS))


def _build_edit_url(request: HttpRequest, stored: rows.Intent | None, intent: str) -> str:
    model_admin = admin.site.get_model_admin(control_plane()["ce_intent"])
    if stored is None or not model_admin.has_change_permission(request):
        return ""
    return f"{row_url(stored.table, intent)}?{urlencode({WORKSPACE: intent})}"


def _list_answers_to_add(request: HttpRequest, intent: str, states: list[str]) -> list[tuple[str, str]]:
    group = RowGroup(rows.Response, (), ())
    return [(_build_add_url(request, group, intent, state_code=state), state) for state in states]


def _make_part(
    request: HttpRequest,
    snapshot: Snapshot,
    section: OverviewSection,
    intent: str,
    counts: Mapping[tuple[str, str], RowUsage],
) -> ShownSection | None:
    """A section as the page shows it. None for users who may not see its table.

    A reserved intent has no section of rows that belong to one intent, unless it has such rows.
    """
    table = section.groups[0].row_type.table
    if not admin.site.get_model_admin(control_plane()[table]).has_view_or_change_permission(request):
        return None
    if intent in _RESERVED and table in _OF_ONE_INTENT and not section.count:
        return None
    groups = [_make_lines(request, snapshot, group, intent, counts) for group in section.groups]
    empty = [(group.add_url, group.group.title) for group in groups if not group.lines and group.add_url]
    return ShownSection(section, table, [group for group in groups if group.lines], empty, _NOTHING_YET.get(table, ""))


def _make_lines(
    request: HttpRequest, snapshot: Snapshot, group: RowGroup, intent: str, counts: Mapping[tuple[str, str], RowUsage]
) -> Lines:
    """The rows of a group, and where all are listed: those of every intent if only these are too many."""
    model = control_plane()[group.row_type.table]
    query = urlencode({WORKSPACE: intent})
    may_edit = admin.site.get_model_admin(model).has_change_permission(request)
    lines = [_build_line(snapshot, row, intent, query, counts, may_edit=may_edit) for row in group.shown]
    more = len(group.own) + len(group.shared) - len(lines)
    of = intent if len(group.own) > OWN or len(group.shared) <= SHARED else ANY
    wanted = {"intent_code": of, **({"phase__exact": group.initial["phase"]} if "phase" in group.initial else {})}
    every = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    add_url = _build_add_url(request, group, intent)
    return Lines(group, lines, more, f"{every}?{urlencode(wanted)}", add_url, popup_url(add_url) if add_url else "")


def _build_add_url(request: HttpRequest, group: RowGroup, intent: str, **initial: str) -> str:
    model = control_plane()[group.row_type.table]
    if not admin.site.get_model_admin(model).has_add_permission(request):
        return ""
    values = {"intent_code": intent, **group.initial, **initial, WORKSPACE: intent}
    return f"{reverse(f'admin:{model._meta.app_label}_{model._meta.model_name}_add')}?{urlencode(values)}"


def _build_line(
    snapshot: Snapshot, row: Any, intent: str, query: str, counts: Mapping[tuple[str, str], RowUsage], *, may_edit: bool
) -> Line:
    text, note = describe_row(row)
    url = f"{row_url(row.table, row.pk)}?{query}"
    firings = counts.get((row.table, str(row.pk)))
    fired = None
    if firings and firings.turns:
        fired = f"{firings.turns}×" if firings.turns < 1000 else "1000 times or more"
    elif firings:
        last = firings.last and formats.date_format(timezone.localtime(firings.last), "DATE_FORMAT")
        fired = f"last on {last}" if last else "never used"
    return Line(
        row_name(row.table, row.pk),
        url,
        text,
        note,
        "" if isinstance(row, rows.StateEdge) else code(row.state_code),
        code(row.intent_code) != intent,
        _describe_inactivity(snapshot, row),
        getattr(row, "priority", None),
        fired,
        firings is not None and not firings.turns,
        popup_url(url) if may_edit else "",
        f"{row.table}-{row.pk}",
    )


def _describe_inactivity(snapshot: Snapshot, row: Row) -> str:
    """Why a row takes no part; blank if it does."""
    if row.pk in snapshot.tables[row.table].unreadable:
        return "unusable"
    if not row.enabled:
        return "off"
    return "" if snapshot.is_active(getattr(row, "intent_code", ANY)) else "intent disabled"
