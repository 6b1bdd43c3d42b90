"""Tools: those that a state always calls, and those that the planner chose."""

from collections.abc import Mapping

from audit.account.making import Maker, Say
from audit.account.sentence import Tone
from convengine.domain.stages import Stage

_LEFT_OUT = frozenset({"SKIPPED_SCOPE_MISMATCH", "SKIPPED_BY_GUARDRAIL"})

MAKERS: Mapping[str, Maker] = {
    Stage.TOOL_ORCHESTRATION_REQUEST: (
        Say("Called the tool {tool_code}[ with {args}][, as {ceToolId:row ce_tool} says]."),
    ),
    Stage.TOOL_ORCHESTRATION_RESULT: (
        Say("Did not call the tool[ {tool_code}]: {status:phrase status}.", {"status": _LEFT_OUT}, Tone.WARNING),
        Say("Did not call the tool {tool_code} again: it had given {result} for the same.", {"reused": True}),
        Say("The tool {tool_code} gave {result}.", tone=Tone.GOOD),
    ),
    Stage.TOOL_ORCHESTRATION_ERROR: (Say("The tool {tool_code} failed: {error}.", tone=Tone.ERROR),),
    # Where there is nothing to plan, that is not worth a sentence.
    Stage.MCP_SKIPPED: (
        Say("Did not ask the planner, because {reason:phrase planner}.", {"reason": "GUARDRAIL"}, Tone.WARNING),
        Say("Did not ask the planner, because {reason:phrase planner}.", {"reason": "LLM_NOT_CONFIGURED"}),
    ),
    Stage.MCP_SKIPPED_PENDING_CLARIFICATION: (),
    Stage.MCP_SKIPPED_SCHEMA_INCOMPLETE: (),
    Stage.MCP_NO_TOOLS_AVAILABLE: (),
    Stage.MCP_PLAN_LLM_INPUT: (),
    Stage.MCP_PLAN_LLM_OUTPUT: (),
    Stage.MCP_PLAN_LLM_ERROR: (Say("The planner's model failed[: {message}][ ({errorCode})].", tone=Tone.ERROR),),
    Stage.MCP_TOOL_CALL: (Say("The planner called the tool {tool_code}[ with {args}]."),),
    Stage.MCP_TOOL_RESULT: (Say("The tool {tool_code} gave {rows}."), Say("The tool {tool_code} gave nothing.")),
    Stage.MCP_TOOL_ERROR: (Say("The tool {tool_code} failed: {error}.", tone=Tone.ERROR),),
    Stage.MCP_FINAL_ANSWER: (Say("The planner came to the answer {answer:said}."),),
    Stage.MCP_DUPLICATE_TOOL_CALL_SUPPRESSED: (
        Say("Did not call {tool_code} again with the same arguments.", tone=Tone.WARNING),
    ),
    Stage.MCP_CONTEXT_CLEARED: (),
    Stage.MCP_TOOL_ROOT_CAUSE: (
        Say("What lies behind that failure of {tool_code}: {root_cause_message}.", tone=Tone.ERROR),
    ),
    Stage.MCP_DB_SQL_EXECUTION: (Say("Ran a statement for {tool_code}[: {sql}][; {row_count} rows came]."),),
    Stage.MCP_SERVER_UNAVAILABLE: (
        Say("The server {serverId} did not answer[: {error}]; its tools were left out.", tone=Tone.ERROR),
    ),
    Stage.MCP_LOOP_ABRUPTED: (
        Say("Stopped the planner without an answer: {reason:phrase planner_end}[ ({limit})].", tone=Tone.WARNING),
    ),
    Stage.MCP_USER_FEEDBACK: (Say("The user gave feedback: {feedback_type}."),),
    Stage.KB_UNAVAILABLE: (Say("The knowledge base {knowledgeBase} was left out[: {reason}].", tone=Tone.WARNING),),
}
