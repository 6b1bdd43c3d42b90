"""Warnings on the card of a turn: what a reader should look at first."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from audit.models import CeTurnIndex
from audit.record.queries import read_turns
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.stages import base_name
from convengine.engine.steps.actions.stages import GUARDRAIL_DENY, PENDING_ACTION_FAILED
from convengine.engine.steps.responses.stages import RESPONSE_MAPPING_NOT_FOUND
from convengine.engine.steps.state_graph.step import STATE_GRAPH_VIOLATION
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
#: Of a turn with this end only its record was stored.
NOT_STORED = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)
_FRAME = (STEP_ENTER, STEP_EXIT, STEP_ERROR)
#: A turn with its timing came to its end.
_TIMING_STAGE = PIPELINE_TIMING


@dataclass(frozen=True)
class TurnWarning:
    """One warning of a turn."""

    code: str
    text: str


def count_stages(turns: Sequence[CeConversationHistory]) -> Mapping[int, Counter[str]]:
    """How often stages with a warning occur in some turns; two queries. Turns that were not stored are read whole."""
    by_turn = {turn.turn_id: turn.turn_no for turn in turns if turn.turn_id}
    rare = CeTurnIndex.objects.filter(
        turn_id__in=list(by_turn), kind=CeTurnIndex.STAGE, value__in=[str(stage) for stage in WARNINGS]
    )
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for turn_id, stage in rare.values_list("turn_id", "value"):
        counts[by_turn[turn_id] or 0][stage] += 1
    failed = [turn.turn_no for turn in turns if turn.status in NOT_STORED and turn.turn_no is not None]
    if failed:
        for event in read_turns(turns[0].conversation_id, failed):
            counts[event.turn_no or 0][base_name(event.stage)] += 1
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
    if enter > closed and (closed or record.status in NOT_STORED) and not counts.get(_TIMING_STAGE):
        yield TurnWarning(UNCLOSED, "A step started but did not finish")
