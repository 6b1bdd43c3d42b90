"""Read sessions for callers: limited lists."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q, Subquery

from convengine.engine.errors import RequestInvalid
from convengine.engine.pipeline.stages import ENGINE_UNKNOWN_FAILURE
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.text.compare import shorten
from convengine.engine.threads.settings import EXPLAINABILITY_TURNS
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import loads
from convengine.engine.turn.payload import to_spoken_text
from convengine.json_value import Json
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_reader import turn_reader
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeSessionUnit
from convengine.server.turns.stored_recording import read_recording

PAGE, MOST = 50, 200
_PREVIEW = 200


def list_sessions(
    filters: dict[str, str], cursor: str | None, limit: int, openers: Sequence[str] | None = None
) -> tuple[list[CeConversation], str | None]:
    """Sessions newest first, and the cursor of the next page. Raises RequestInvalid for an invalid cursor.

    `openers`: only sessions that these keys began.
    """
    readable = CeConversation.objects.filter(**({} if openers is None else {"opened_by__in": openers}))
    rows = readable.filter(**filters).order_by("-created_at", "-conversation_id")
    if cursor:
        last = readable.filter(pk=_parse_cursor(cursor), workspace_id=filters["workspace_id"])
        # The row's own stored time, because its text compares differently.
        at = Subquery(last.values("created_at"))
        rows = rows.filter(Q(created_at__lt=at) | Q(created_at=at, conversation_id__lt=_parse_cursor(cursor)))
    page = list(rows[: limit + 1])
    if cursor and not page and not last.exists():
        # Its session was removed, or belongs to another workspace: this is not the end of the list.
        raise RequestInvalid(
            fields={"cursor": [f"{cursor!r} belongs to a session that does not exist; begin without a cursor."]}
        )
    more = page[limit - 1] if len(page) > limit else None
    return page[:limit], str(more.pk) if more else None


def _parse_cursor(cursor: str) -> uuid.UUID:
    """The last session of the page before."""
    try:
        return uuid.UUID(cursor)
    except ValueError:
        raise RequestInvalid(
            fields={"cursor": [f"{cursor!r} is not a cursor; take one from `next` of a page."]}
        ) from None


def list_messages(row: CeConversation) -> list[CeConversationHistory]:
    """The newest turns without their recordings, newest first."""
    return list(CeConversationHistory.objects.filter(conversation=row).order_by("-turn_no")[:PAGE])


def list_units(row: CeConversation, newest: int | None = None) -> list[CeSessionUnit]:
    """The committed units, oldest first; with a number, only the newest."""
    units = CeSessionUnit.objects.filter(conversation=row).order_by("-unit_id")
    return list(reversed(units if newest is None else units[:newest]))


@dataclass(frozen=True)
class TracedTurn:
    turn: CeConversationHistory
    request: dict[str, Json]
    preferences: Mapping[str, Json]
    trace: Json

    @property
    def error(self) -> dict[str, Json] | None:
        turn = self.turn
        return {"code": turn.error_code, "message": turn.error_message} if turn.error_code else None

    @property
    def response_preview(self) -> str:
        """The first characters of the answer."""
        return shorten(to_spoken_text(self.turn.assistant_output), _PREVIEW)


def explain_turns(row: CeConversation, most: int | None = None) -> list[TracedTurn]:
    """The explainability log: the last `Session/EXPLAINABILITY_TURNS` turns, including failed ones, newest first.

    `most`: no more than these.
    """
    kept_turns = live_settings.read(configuration().latest, EXPLAINABILITY_TURNS).value
    turns = list(
        CeConversationHistory.objects.filter(conversation=row)
        .defer(None)
        .defer("events", "seal")
        .order_by("-turn_no")[: min(kept_turns, most or kept_turns)]
    )
    graphs = turn_reader().build_graphs(row.pk, [turn.turn_no for turn in turns])
    explained = []
    for turn in turns:
        request, preferences = _describe_request(turn)
        described = {"message": turn.user_input, **request}
        explained.append(TracedTurn(turn, described, preferences, graphs.get(turn.turn_no, {})))
    return explained


def _describe_request(turn: CeConversationHistory) -> tuple[dict[str, Json], Json]:
    """The request of the turn, from its recording; of a dead turn, from its events."""
    if not turn.recording:
        return {**_describe_dead_request(turn), "source": turn.source}, {}
    try:
        recorded = read_recording(turn.recording)
    except ValueError:
        return {"source": turn.source}, {}
    request = recorded.request
    described: dict[str, Json] = {
        "input_param_names": sorted(request.input_params),
        "channel": request.channel,
        "resolved": request.resolved,
        "source": turn.source,
    }
    return described, {**recorded.loaded.conversation.preferences, **request.preferences}


def _describe_dead_request(turn: CeConversationHistory) -> dict[str, Json]:
    try:
        payloads = {entry["stage"]: entry["payload"] for entry in loads(turn.events or "[]")}
    except (LookupError, TypeError, ValueError):
        return {}
    names, failure = payloads.get(USER_INPUT, {}).get("inputParamKeys"), payloads.get(ENGINE_UNKNOWN_FAILURE, {})
    known = {"input_param_names": names, "worker": failure.get("worker")}
    return {name: value for name, value in known.items() if value is not None}


def list_links(address: str, wanted: Sequence[str]) -> dict[str, str]:
    """Addresses of the rest of each list."""
    known = {"units": f"{address}/units", "explainability": f"{address}/explainability"}
    return {name: known[name] for name in wanted if name in known}
