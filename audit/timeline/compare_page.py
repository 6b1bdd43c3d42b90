"""The pages that compare: two turns, turns with their replays, a row as it was with the present one, and releases."""

import re
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit import addresses
from audit.access_log.write import log_access
from audit.addresses import OF_A_TURN
from audit.models import CeAccessLog, CeTurnIndex
from audit.narration import narrate_turn
from audit.narration.wording import name_rows
from audit.replay.comparison import compare_events
from audit.replay.replay import MAX_TURNS, replay_turn
from audit.timeline.explained_turn import find_release
from audit.timeline.read_turn import TurnReading, read_record, read_turn
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import VIEW, page
from convengine.server.admin_site.record_columns import answer_text, badge_class, find_row_name, release_link
from convengine.server.database.unreadable import read_rows
from convengine.server.interfaces.release_history import release_history
from convengine.server.sessions.models import CeConversationHistory


@page(f"{OF_A_TURN}row/", of="audit.CeAudit", right=VIEW, name="row", methods=["GET"], from_replica=True)
def show_row(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
    """The row of `?table=` and `?row=`. Deleted rows are shown too."""
    rows = release_history()
    table, pk = request.GET.get("table", ""), request.GET.get("row", "")
    record = read_record(conversation_id, turn_no)
    try:
        right = rows.right_to_read(table)
    except KeyError:
        raise Http404("The configuration has no such table.") from None
    require_right(request, right)
    log_access(request, CeAccessLog.Kind.AS_IT_WAS, conversation_id, turn_no)
    comparison = rows.then_and_now(table, pk, record.config_version)
    if comparison is None:
        raise Http404("This row does not exist.")
    roles = CeTurnIndex.objects.filter(turn_id=record.turn_id, kind=table, value=pk)
    context = _row_page_context(model_admin, request, record, f"{comparison.name} as it was") | {
        "title": f"{comparison.name} in turn {turn_no}",
        "row": comparison,
        "about": find_row_name(table, pk),
        "roles": [role.replace("_", " ").lower() for role in roles.order_by("id").values_list("role", flat=True)[:1]],
    }
    return TemplateResponse(request, "audit/row.html", context)


@page(f"{OF_A_TURN}between/", of="audit.CeAudit", right=VIEW, name="between", methods=["GET"], from_replica=True)
def show_releases_between(
    model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int
) -> HttpResponse:
    """The releases between the turn of `?since=` and this one, with their changes."""
    record = read_record(conversation_id, turn_no)
    require_right(request, "config_admin.view_cerelease")
    since = addresses.read_number(request.GET.get("since", ""))
    if since is None:
        raise Http404("Name the first turn to compare: ?since=1.")
    earlier = read_record(conversation_id, since)
    log_access(request, CeAccessLog.Kind.AS_IT_WAS, conversation_id, turn_no)
    first, last = sorted((earlier, record), key=lambda turn: turn.turn_no)
    behind = addresses.read_number(request.GET.get("behind", ""))
    low, high = sorted((first.config_version, last.config_version))
    releases, more = release_history().between(low, high, behind)
    context = _row_page_context(model_admin, request, last, f"Changed since turn {first.turn_no}") | {
        "title": f"Between turn {first.turn_no} and turn {last.turn_no}",
        "first": first,
        "releases": releases,
        "back": first.config_version > last.config_version,
        "older_url": f"?since={since}&behind={more}" if more else "",
        "newest_url": f"?since={since}" if behind else "",
    }
    return TemplateResponse(request, "audit/between.html", context)


def _row_page_context(
    model_admin: Any, request: HttpRequest, record: CeConversationHistory, page: str
) -> dict[str, Any]:
    return {
        **addresses.page_context(model_admin, request, page, record.conversation_id, record.turn_no),
        "record": record,
        "turn_url": addresses.turn_url(record.conversation_id, record.turn_no),
    }


#: A turn: the conversation's ID, a point, and the number.
_PICK = re.compile(r"^([0-9a-fA-F-]{32,36})\.(\d{1,9})$")


class ComparedSide(NamedTuple):
    conversation_id: uuid.UUID
    turn_no: int

    def __str__(self) -> str:
        return f"{self.conversation_id}.{self.turn_no}"


@page("compare/", of="audit.CeAudit", right=VIEW, methods=["GET"], from_replica=True)
def show_comparison(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """Two turns from `pick`; without two of them, a form."""
    given = [text.strip() for text in request.GET.getlist("pick") if text.strip()]
    picked = [parsed for text in given if (parsed := _parse_selection(text))]
    wrong = _find_fault(given, picked)
    conversations = {selection.conversation_id for selection in picked}
    common = conversations.pop() if len(conversations) == 1 and not wrong else None
    context: dict[str, Any] = {
        **addresses.page_context(model_admin, request, "Compare", common),
        "title": "Compare",
        "given": [*given, "", ""][:2],
        "wrong": wrong,
        "all": request.GET.get("all") == "1",
    }
    if not wrong and picked:
        for selection in dict.fromkeys(picked):
            log_access(request, CeAccessLog.Kind.COMPARE, *selection)
        context |= _compare_turns(*picked)
    return TemplateResponse(request, "audit/compare.html", context)


def _parse_selection(text: str) -> ComparedSide | None:
    match = _PICK.match(text)
    try:
        return ComparedSide(uuid.UUID(match[1]), int(match[2])) if match else None
    except ValueError:
        return None


def _find_fault(given: Sequence[str], picked: Sequence[ComparedSide]) -> str:
    """Why there is nothing to compare, or blank."""
    if not given:
        return ""
    if len(picked) < len(given):
        return "Not a turn. Enter a conversation ID, a full stop and the number of the turn."
    if len(picked) != 2:
        return f"Select two turns; {len(picked)} {'is' if len(picked) == 1 else 'are'} selected."
    missing = [str(each) for each in picked if not CeConversationHistory.objects.filter(**each._asdict()).exists()]
    return f"{missing[0]} does not exist or was removed." if missing else ""


def _compare_turns(left: ComparedSide, right: ComparedSide) -> dict[str, Any]:
    readings = [read_turn(*selection) for selection in (left, right)]
    steps = compare_events(readings[0].events, readings[1].events)
    is_same = left.conversation_id == right.conversation_id
    return {
        "sides": [_summarise_turn(reading) for reading in readings],
        "steps": steps,
        "differing": sum(step.differs for step in steps),
        "here_url": addresses.compare_url(str(left), str(right)),
        "other_way_url": addresses.compare_url(str(right), str(left)),
        "between_url": addresses.between_url(*right, left.turn_no) if is_same else "",
    }


def _summarise_turn(reading: TurnReading) -> dict[str, Any]:
    record, release = reading.record, find_release(reading.events)
    return {
        "record": record,
        "look": badge_class(record.status),
        "answer": answer_text(record.assistant_output),
        "release": release_link(record.config_version),
        "url": addresses.turn_url(record.conversation_id, record.turn_no),
        "account": ["".join(name_rows(each.parts, release)) for each in narrate_turn(reading.events, release)],
    }


@page(f"{OF_A_TURN}replay/", of="audit.CeAudit", right=VIEW, name="replay", methods=["GET"], from_replica=True)
def show_turn_replay(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
    record = next(iter(read_rows(_select_turns(conversation_id).filter(turn_no=turn_no)[:1])), None)
    if record is None:
        raise Http404(f"This conversation has no turn {turn_no}.")
    log_access(request, CeAccessLog.Kind.REPLAY, conversation_id, turn_no)
    outcome = replay_turn(record)
    differ = outcome.turn is not None and outcome.answers[0] != outcome.answers[1]
    context = {
        **addresses.page_context(model_admin, request, "Replay", conversation_id, turn_no),
        "title": f"Replay of turn {turn_no}",
        "record": record,
        "outcome": outcome,
        "answers": [answer_text(each) or str(each or "no answer") for each in outcome.answers] if differ else [],
        "look": badge_class(record.status),
        "all": request.GET.get("all") == "1",
        "turn_url": addresses.turn_url(conversation_id, turn_no),
        "conversation_id": conversation_id,
    }
    return TemplateResponse(request, "audit/replay.html", context)


@page(
    "<uuid:conversation_id>/replay/", of="audit.CeAudit", right=VIEW, name="replays", methods=["GET"], from_replica=True
)
def show_conversation_replay(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Turns of a conversation, each replayed; in pages."""
    log_access(request, CeAccessLog.Kind.REPLAY, conversation_id)
    start = addresses.read_number(request.GET.get("behind", "")) or 0
    records = read_rows(_select_turns(conversation_id).filter(turn_no__gt=start).order_by("turn_no")[: MAX_TURNS + 1])
    outcomes = [replay_turn(record) for record in records[:MAX_TURNS]]
    context = {
        **addresses.page_context(model_admin, request, "Replay", conversation_id),
        "title": "Replay of the conversation",
        "outcomes": outcomes,
        "equal": sum(outcome.is_equal for outcome in outcomes),
        "more": records[MAX_TURNS - 1].turn_no if len(records) > MAX_TURNS else None,
        "timeline_url": addresses.timeline_url(conversation_id),
        "conversation_id": conversation_id,
    }
    return TemplateResponse(request, "audit/replays.html", context)


def _select_turns(conversation_id: uuid.UUID) -> Any:
    return CeConversationHistory.objects.filter(conversation_id=conversation_id).defer(None)
