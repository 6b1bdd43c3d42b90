"""Warnings on the card of a turn: what a reader should look at first (api-and-audit 13)."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from audit.models import CeAudit
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.stages import base_name
from convengine.engine.steps.actions.stages import GUARDRAIL_DENY, PENDING_ACTION_FAILED
from convengine.engine.steps.responses.stages import RESPONSE_MAPPING_NOT_FOUND
from convengine.engine.steps.state_graph.stages import STATE_GRAPH_VIOLATION
from convengine.engine.steps.tools.stages import MCP_TOOL_ERROR, TOOL_ORCHESTRATION_ERROR
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.stage import Stage
from convengine.server.sessions.models import CeConversationHistory

#: Stages with a warning, and its text.
WARNINGS: Mapping[Stage, str] = {
    STEP_ERROR: "A step failed",
    GUARDRAIL_DENY: "The guardrail denied a request",
    STATE_GRAPH_VIOLATION: "The state graph does not allow a move of this turn",
    RESPONSE_MAPPING_NOT_FOUND: "No answer fits",
    PENDING_ACTION_FAILED: "An action failed",
    TOOL_ORCHESTRATION_ERROR: "A tool failed",
    MCP_TOOL_ERROR: "A tool failed",
}
INCOMPLETE, UNCLOSED = "AUDIT_INCOMPLETE", "UNCLOSED_STEP"
_NOT_STORED = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
_FRAME = (STEP_ENTER, STEP_EXIT, STEP_ERROR)
#: A turn with its timing came to its end, and most starts and ends of its steps are no rows.
_TIMING_STAGE = PIPELINE_TIMING


@dataclass(frozen=True)
class TurnWarning:
    """One warning of a turn."""

    code: str
    text: str


def count_stages(conversation_id: uuid.UUID, turn_nos: Iterable[int]) -> Mapping[int, Counter[str]]:
    """How often these stages occur in some turns; one query by the index of turns."""
    wanted = Q(stage__in=[str(stage) for stage in WARNINGS]) | Q(stage__in=(*_FRAME, _TIMING_STAGE))
    events = CeAudit.objects.filter(wanted, conversation_id=conversation_id, turn_no__in=set(turn_nos))
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for turn_no, stage, count in events.order_by().values_list("turn_no", "stage").annotate(count=Count("audit_id")):
        counts[turn_no][base_name(stage)] += count
    return counts


def list_warnings(record: CeConversationHistory, counts: Mapping[str, int]) -> Iterator[TurnWarning]:
    """The warnings of a turn, from its record and its stage counts."""
    for stage, text in WARNINGS.items():
        if counts.get(stage):
            yield TurnWarning(str(stage), text)
    if record.audit_incomplete:
        yield TurnWarning(INCOMPLETE, "An event of the turn could not be stored")
    enter, *ends = (counts.get(stage, 0) for stage in _FRAME)
    closed = sum(ends)
    # The ends of steps of a normal turn may have been filtered out completely.
    if enter > closed and (closed or record.status in _NOT_STORED) and not counts.get(_TIMING_STAGE):
        yield TurnWarning(UNCLOSED, "A step started but did not finish")
