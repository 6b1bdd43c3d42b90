"""Warnings on the card of a turn (api-and-audit 13): what a reader should look at first."""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from audit.models import CeAudit
from audit.stage_names import base_name
from convengine.domain.enums import TurnStatus
from convengine.domain.stages import Stage
from convengine.sessions.models import CeConversationHistory

#: Stages that are a warning, with what it says.
WARNINGS: Mapping[Stage, str] = {
    Stage.STEP_ERROR: "A step failed",
    Stage.GUARDRAIL_DENY: "The guardrail denied something",
    Stage.STATE_GRAPH_VIOLATION: "A move that the state graph does not allow",
    Stage.RESPONSE_MAPPING_NOT_FOUND: "No response row fits",
    Stage.PENDING_ACTION_FAILED: "An action failed",
    Stage.TOOL_ORCHESTRATION_ERROR: "A tool failed",
    Stage.MCP_TOOL_ERROR: "A tool failed",
}
INCOMPLETE, UNCLOSED = "AUDIT_INCOMPLETE", "UNCLOSED_STEP"
_NOT_STORED = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
_FRAME = (Stage.STEP_ENTER.value, Stage.STEP_EXIT.value, Stage.STEP_ERROR.value)
#: A turn that tells its timing came to its end, and most beginnings and ends of its steps are no rows.
_CAME_TO_AN_END = Stage.PIPELINE_TIMING.value


@dataclass(frozen=True)
class Warned:
    """One warning of a turn."""

    code: str
    text: str


def stage_counts(conversation_id: uuid.UUID, turn_nos: Iterable[int]) -> Mapping[int, Counter[str]]:
    """How often the stages that matter here stand in some turns; one query by the index of turns."""
    wanted = Q(stage__in=[stage.value for stage in WARNINGS]) | Q(stage__in=(*_FRAME, _CAME_TO_AN_END))
    found = CeAudit.objects.filter(wanted, conversation_id=conversation_id, turn_no__in=set(turn_nos))
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for turn_no, stage, count in found.order_by().values_list("turn_no", "stage").annotate(count=Count("audit_id")):
        counts[turn_no][base_name(stage)] += count
    return counts


def warnings(record: CeConversationHistory, counts: Mapping[str, int]) -> Iterator[Warned]:
    """The warnings of a turn, by its record and how often its stages stand in the trail."""
    for stage, text in WARNINGS.items():
        if counts.get(stage):
            yield Warned(stage.value, text)
    if record.audit_incomplete:
        yield Warned(INCOMPLETE, "An event of the turn could not be written")
    enter, *ends = (counts.get(stage, 0) for stage in _FRAME)
    closed = sum(ends)
    # Of a turn that ended well the ends of its steps may have been filtered out altogether.
    if enter > closed and (closed or record.status in _NOT_STORED) and not counts.get(_CAME_TO_AN_END):
        yield Warned(UNCLOSED, "A step began and never ended")
