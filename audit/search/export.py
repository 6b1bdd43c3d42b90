"""All results of a search as a stream: lines of JSON, or a table for spreadsheets."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework import serializers

from audit.api.serializers import TurnSerializer
from audit.export.cells import format_rows
from audit.export.evidence.collect import EvidenceOrder, collect_search
from audit.record.model_calls import sum_call_costs
from audit.search.query import SearchQuery
from audit.search.results import read_turns
from audit.search.walk import Cursor, count_matches, find_turns
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.conversation import PLAIN_CHANNEL
from convengine.server.admin_site.record_columns import answer_text

NDJSON, CSV, EVIDENCE = "ndjson", "csv", "evidence"
#: The formats, with their types.
CONTENT_TYPES = {NDJSON: "application/x-ndjson", CSV: "text/csv; charset=utf-8"}
#: Turns per page of the walk.
_SIZE = 200
_COLUMNS = (
    *("time", "conversation", "turn", "channel", "participant", "status", "error", "intent", "state", "message"),
    *("answer", "release", "duration_ms", "cost"),
)


#: Turns of an evidence file.
MAX_EVIDENCE = 100


class FoundTurnSerializer(TurnSerializer):
    """One turn, and whose it is."""

    conversationId = serializers.UUIDField(source="conversation_id")
    channel = serializers.CharField(source="conversation.channel")
    participant = serializers.CharField(source="conversation.remote_jid")


def stream_file(search: SearchQuery, name: str) -> StreamingHttpResponse:
    """All results as a download: `name` is CSV, or any other format for lines of JSON."""
    texts = iterate_csv(search) if name == CSV else iterate_lines(search)
    headers = {"Content-Disposition": f'attachment; filename="turns.{name}"', "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(texts, content_type=CONTENT_TYPES[name], headers=headers)


def iterate_pages(search: SearchQuery) -> Iterator[list[Any]]:
    """All matching turns, newest first, page by page."""
    cursor: Cursor | None = None
    while True:
        page = find_turns(search, cursor, _SIZE)
        if page.matches:
            yield read_turns(page.matches)
        if page.older is None:
            return
        cursor = page.older


def collect_evidence(search: SearchQuery, text: str, order: EvidenceOrder) -> dict[str, Any]:
    """The data of an evidence file with the newest MAX_EVIDENCE turns that were found, and how many it leaves out.

    `text` is the search as the file names it.
    """
    turns: list[Any] = []
    for page in iterate_pages(search):
        turns += page
        if len(turns) > MAX_EVIDENCE:
            break
    left_out = ""
    if len(turns) > MAX_EVIDENCE:
        total = count_matches(search)
        further = replace(total, count=max(total.count - MAX_EVIDENCE, 1))
        left_out = f"{further.describe()} turns that the search found, too; the file has the newest {MAX_EVIDENCE}"
    return collect_search(turns[:MAX_EVIDENCE], text, left_out, order)


def iterate_lines(search: SearchQuery) -> Iterator[str]:
    for turns in iterate_pages(search):
        serializer: Any = FoundTurnSerializer
        documents = serializer(turns, many=True, context={"costs": sum_call_costs(turns)}).data
        yield "".join(f"{dumps(document)}\n" for document in documents)


def iterate_csv(search: SearchQuery) -> Iterator[str]:
    """A table with a header. The mark at its start lets spreadsheets read the letters of all languages."""
    yield f"\ufeff{format_rows([_COLUMNS])}"
    for turns in iterate_pages(search):
        costs = sum_call_costs(turns)
        yield format_rows(_list_cells(turn, costs) for turn in turns)


def _list_cells(turn: Any, costs: Any) -> list[Any]:
    """The cells of a turn, in the order of the columns. `costs` has the cost of each turn with a price."""
    conversation, cost = turn.conversation, costs.get(turn.turn_id)
    return [
        *(turn.created_at.isoformat(), turn.conversation_id, turn.turn_no, conversation.channel),
        "" if conversation.channel == PLAIN_CHANNEL else conversation.remote_jid,
        *(turn.status, turn.error_code, turn.intent_code, turn.state_code, turn.user_input),
        *(answer_text(turn.assistant_output), turn.config_version, turn.duration_ms),
        "" if cost is None else f"{cost.normalize():f}",
    ]
