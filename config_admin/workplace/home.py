"""The first page of the admin: what needs attention, recent changes and recent conversations."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from django.contrib import admin
from django.http import HttpRequest

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from config_admin.editing.context import get_editor_context
from config_admin.editing.links import row_title, row_url
from config_admin.health.page import health_url
from config_admin.health.stored_findings import CeHealthFinding, summarise_findings
from config_admin.releases.content import control_plane
from config_admin.releases.models import CeRelease, Origin
from config_admin.validation import relations
from config_admin.workplace.favourites import find_saved_rows
from convengine.engine.rules.explain import list_faults
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.scope import UNKNOWN, intent_key
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.sessions.models import CeConversation, CeConversationHistory

NEWEST = 8
#: How many of the newest turns are searched for failed ones, so that the cost of the page is constant.
LATEST_TURNS = 200
CONCERNS = 12
NEWEST_FINDINGS = 5


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The content of the page; each part only for users who may see what it links to."""
    may = request.user.has_perm
    if may("config_admin.view_cerule"):
        # First, because writes outside of the application get their release here.
        snapshot = get_editor_context(request).snapshot
        concerns = list(islice(find_concerns(snapshot), CONCERNS + 1))
        context["desk"] = find_saved_rows(request.user, snapshot, NEWEST)
        context |= {
            "in_force": snapshot.config_version,
            "concerns": concerns[:CONCERNS],
            "more": len(concerns) > CONCERNS,
            "health": (summary := summarise_findings(NEWEST_FINDINGS)),
            "newest_findings": [(finding, *_link_row(request, snapshot, finding)) for finding in summary.newest],
            "health_url": health_url(),
        }
    if may("config_admin.add_ceintent"):
        context["is_newcomer"] = not CeRelease.objects.filter(author=request.user.get_username()).exists()
    if may("config_admin.view_cerelease"):
        by_people = CeRelease.objects.exclude(origin=Origin.MIGRATION).defer("manifest")
        context["releases"] = list(by_people.order_by("-config_version")[:NEWEST])
    if may("ce_sessions.view_ceconversation"):
        context["conversations"] = list(CeConversation.objects.order_by("-updated_at", "-conversation_id")[:NEWEST])
    if may("ce_sessions.view_ceconversationhistory"):
        context |= {"latest_turns": LATEST_TURNS, "failed": _list_failed_turns()}
    return context


def _link_row(request: HttpRequest, snapshot: Snapshot, finding: CeHealthFinding) -> tuple[str, str]:
    """The name and the address of a finding's row; blank for none, and for a page that the user may not see."""
    model: Any = control_plane().get(finding.table_name)
    row = snapshot.tables[finding.table_name].by_pk.get(model._meta.pk.to_python(finding.row_pk)) if model else None
    if row is None:
        return "", ""
    rows_admin = admin.site.get_model_admin(model)
    url = row_url(row.table, row.pk) if rows_admin.has_view_or_change_permission(request) else ""
    return row_title(row), url


def _list_failed_turns() -> list[CeConversationHistory]:
    newest = CeConversationHistory.objects.order_by("-history_id").only("status", "turn_no", "error_code", "created_at")
    return [turn for turn in newest[:LATEST_TURNS] if turn.status == "FAILED"][:NEWEST]


class Concern(NamedTuple):
    """Something that needs attention: its subject, its link, and the problem."""

    name: str
    url: str
    text: str


def find_concerns(snapshot: Snapshot) -> Iterator[Concern]:
    """The worst first: no answer at all, unused rows and settings, rows of intents that do not exist."""
    if not snapshot.in_scope(rows.Response, UNKNOWN, UNKNOWN):
        text = "No answer is enabled for messages that are not recognised (intent UNKNOWN, state UNKNOWN)."
        yield Concern("Responses", "", text)
    for row, fault in list_faults(snapshot):
        text = f"It is invalid, so no turn uses it: {fault.reason}. {fault.remedy or ''}".strip()
        yield Concern(row_title(row), row_url(row.table, row.pk), text)
    yield from _list_setting_concerns(snapshot)
    yield from _list_intent_concerns(snapshot)


def _list_setting_concerns(snapshot: Snapshot) -> Iterator[Concern]:
    for setting in live_settings.CATALOGUE.values():
        reading = live_settings.read(snapshot, setting)
        if reading.problem:
            url = row_url(reading.row.table, reading.row.pk) if reading.row else ""
            yield Concern(
                f"Setting “{setting.label}”", url, f"Its value {reading.problem} The default is used instead."
            )


def _list_intent_concerns(snapshot: Snapshot) -> Iterator[Concern]:
    for intent, count in sorted(_count_rows_of_missing_intents(snapshot).items()):
        counted = "1 enabled row is" if count == 1 else f"{count} enabled rows are"
        yield Concern(f"Intent {intent}", "", f"{counted} not used, because the intent does not exist.")


def _count_rows_of_missing_intents(snapshot: Snapshot) -> dict[str, int]:
    """By code. An intent that is off was switched off on purpose."""
    counts: dict[str, int] = {}
    known = snapshot.table(rows.Intent).by_pk
    for row_type in _list_scoped_types():
        for intent, members in snapshot.index(row_type, intent_key, relations.rank).items():
            if not snapshot.is_active(intent) and intent not in known:
                counts[intent] = counts.get(intent, 0) + len(members)
    return counts


def _list_scoped_types() -> Iterable[type[rows.Row]]:
    return (kind for kind in rows.ROW_TYPES if kind is not rows.Intent and "intent_code" in rows.columns(kind))
