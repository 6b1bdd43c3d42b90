"""Gaps in answers: names of a text that had no value in a turn."""

from audit.models import CeTurnIndex
from audit.record.events import EVENT_COLUMNS, read_events
from convengine.engine.turn.stages import TEMPLATE_VALUE_EMPTY
from convengine.server.interfaces.turn_reports import EmptyValue
from convengine.server.sessions.models import CeConversationHistory


def list_empty_values(limit: int) -> list[EmptyValue]:
    """The gaps in the answers of the newest turns with some, newest turn first; at most `limit` turns are read."""
    of_stage = CeTurnIndex.objects.filter(kind=CeTurnIndex.STAGE, value=TEMPLATE_VALUE_EMPTY).order_by("-at")
    turn_ids = list(of_stage.values_list("turn_id", flat=True)[:limit])
    turns = CeConversationHistory._base_manager.filter(turn_id__in=turn_ids).only(*EVENT_COLUMNS)
    gaps = []
    for event in read_events(turns.order_by("-created_at")):
        payload = event.payload_json
        if event.stage == TEMPLATE_VALUE_EMPTY and isinstance(payload.get("names"), list):
            names = tuple(map(str, payload["names"]))
            gaps.append(EmptyValue(str(payload.get("table")), payload.get("row"), names, event.config_version or 0))
    return gaps
