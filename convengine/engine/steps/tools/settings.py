"""Settings of direct tool calls, the planner and its loop."""

from convengine.engine.turn.live_settings import boolean, declare, integer, json_value, one_of, prompt, text

ORCHESTRATION_FAMILY = "ToolOrchestrationStep"
LOOP_FAMILY = "McpToolStep"
PLANNER_FAMILY = "McpPlanner"

ORCHESTRATION_ENABLED = declare(
    ORCHESTRATION_FAMILY,
    "ENABLED",
    boolean(),
    True,
    "Run tool requests of callers and direct tool calls.",
    label="Run direct tool calls",
)
ALLOW_GROUP_ONLY = declare(
    ORCHESTRATION_FAMILY,
    "ALLOW_GROUP_ONLY",
    boolean(),
    False,
    "Accept requests with a group but without a tool. Their scope cannot be checked.",
    mark="LR",
    label="Accept requests without a tool",
)
RESULT_MAX_BYTES = declare(
    ORCHESTRATION_FAMILY,
    "RESULT_MAX_BYTES",
    integer(1024),
    65_536,
    "Maximum size of a result in the context and audit. Of larger results, only a preview is stored.",
    label="Maximum size of a result (bytes)",
)

ON_TOOL_ERROR = declare(
    LOOP_FAMILY,
    "ON_TOOL_ERROR",
    one_of("STOP", "OBSERVE"),
    "STOP",
    "If a tool fails: end with the fallback text, or show the error to the planner.",
    label="If a tool fails",
)
ON_PLANNER_ERROR = declare(
    LOOP_FAMILY,
    "ON_PLANNER_ERROR",
    one_of("FALLBACK", "FAIL"),
    "FALLBACK",
    "If the model of the planner fails: use the fallback text, or fail the turn.",
    label="If the planner fails",
)
TURN_BUDGET_MS = declare(
    LOOP_FAMILY,
    "TURN_BUDGET_MS",
    integer(1),
    20_000,
    ("Timeout for all rounds of the planner together (milliseconds)."),
    label="Maximum time per turn (ms)",
)
OBSERVATION_MAX_BYTES = declare(
    LOOP_FAMILY,
    "OBSERVATION_MAX_BYTES",
    integer(1024),
    32_768,
    "The greatest size of one tool result in the context.",
    label="Maximum size of a tool result (bytes)",
)
OBSERVATIONS_MAX_BYTES = declare(
    LOOP_FAMILY,
    "OBSERVATIONS_MAX_BYTES",
    integer(1024),
    131_072,
    "The greatest size of all tool results in the context; the oldest give way.",
    label="Maximum size of all tool results (bytes)",
)
MCP_TOOL_MAX_LOOPS = declare(
    LOOP_FAMILY,
    "MCP_TOOL_MAX_LOOPS",
    integer(1, 50),
    5,
    "Maximum number of planner rounds in one turn.",
    label="Maximum rounds per turn",
)
MCP_TOOL_CALL_DELAY_MS = declare(
    LOOP_FAMILY,
    "MCP_TOOL_CALL_DELAY_MS",
    integer(0, 60_000),
    0,
    "A wait before each tool call, in milliseconds.",
    label="Wait before a tool call (ms)",
)
MCP_TOOL_CALL_DELAY_AFTER_CALLS = declare(
    LOOP_FAMILY,
    "MCP_TOOL_CALL_DELAY_AFTER_CALLS",
    integer(0, 50),
    4,
    "From the call after this many on, the additional wait applies.",
    label="Calls before the additional wait",
)
MCP_TOOL_CALL_DELAY_AFTER_MS = declare(
    LOOP_FAMILY,
    "MCP_TOOL_CALL_DELAY_AFTER_MS",
    integer(0, 60_000),
    2000,
    "The additional wait, in milliseconds.",
    label="Additional wait (ms)",
)
MCP_FALLBACK_UNSAFE_STEP = declare(
    LOOP_FAMILY,
    "MCP_FALLBACK_UNSAFE_STEP",
    text(),
    "I could not work out a safe next step for that.",
    "The final answer when the planner asks for something that cannot be done.",
    label="Text for an impossible request",
)
MCP_FALLBACK_TOOL_ERROR = declare(
    LOOP_FAMILY,
    "MCP_FALLBACK_TOOL_ERROR",
    text(),
    "I could not get that information just now. Please try again later.",
    "The final answer when a tool fails.",
    label="Text for a failed tool",
)
MCP_FALLBACK_PLAN = declare(
    LOOP_FAMILY,
    "MCP_FALLBACK_PLAN",
    text(),
    "I could not decide how to find that out. Could you put it another way?",
    "The final answer when the planner's reply cannot be used.",
    label="Text for an unusable plan",
)
MCP_FALLBACK_GUARDRAIL = declare(
    LOOP_FAMILY,
    "MCP_FALLBACK_GUARDRAIL",
    text(),
    "That step is not allowed here.",
    "The final answer when the next tool is not allowed after the last.",
    label="Text for a tool that may not follow",
)
MCP_FALLBACK_POLICY = declare(
    LOOP_FAMILY,
    "MCP_FALLBACK_POLICY",
    text(),
    "I am not allowed to do that.",
    "The final answer when the planner marks an operation as restricted.",
    label="Text for a restricted operation",
)
TOOL_GUARDRAIL_ENABLED = declare(
    LOOP_FAMILY,
    "GUARDRAIL_ENABLED",
    boolean(),
    False,
    "Check after planning whether the next tool may follow the last one.",
    mark="LR",
    label="Check the order of tools",
)
GUARDRAIL_FAIL_CLOSED = declare(
    LOOP_FAMILY,
    "GUARDRAIL_FAIL_CLOSED",
    boolean(),
    False,
    "If the last tool has no entry: block (true) or allow (false).",
    mark="LR",
    label="Block tools without an entry",
)
ALLOWED_NEXT = declare(
    LOOP_FAMILY,
    "ALLOWED_NEXT",
    json_value(),
    {},
    'Which tools may follow which, as an object of lists, such as {"__START__": ["find_order"], "find_order": ["*"]}; '
    "__START__ stands for the first call, * for any tool.",
    mark="LR",
    label="Allowed next tools",
)

PLANNER_SYSTEM_PROMPT = declare(
    PLANNER_FAMILY,
    "SYSTEM_PROMPT",
    prompt(),
    "You plan tool calls, one at a time, until the user's message can be answered.\n"
    "Tools:\n{{ mcp_tools }}\n"
    "Reply with JSON only:\n"
    '{"action": "CALL_TOOL" or "ANSWER", "tool_code": code or null, "args": object, "answer": text or null, '
    '"operation_tag": text or null}\n'
    "Rules:\n"
    "- Call only tools of the list, with the arguments that they describe, and never the same call twice.\n"
    "- Answer from what the tools returned; invent nothing.\n"
    "- When what is asked must not be done, set operation_tag to POLICY_RESTRICTED_OPERATION.",
    "System prompt of the planner if no planner prompt applies.",
)
PLANNER_USER_PROMPT = declare(
    PLANNER_FAMILY,
    "USER_PROMPT",
    prompt(),
    "Today: {{ current_date }}\nKnown facts: {{ known_facts }}\nTool results so far: {{ mcp_observations }}\n\n"
    "{% if context_summary and older_turns %}Summary so far:\n{{ context_summary }}\n\n{% endif %}"
    "{% if conversation_history %}Conversation so far, oldest first:\n{{ conversation_history }}\n\n{% endif %}"
    "Message:\n{{ resolved_user_input }}",
    "User prompt of the planner if no planner prompt applies.",
)
MCP_PLANNER_MAX_OBS_CHARS = declare(
    PLANNER_FAMILY,
    "MCP_PLANNER_MAX_OBS_CHARS",
    integer(1000),
    6000,
    "The greatest length of the tool results in the planner's prompt.",
    label="Maximum length of tool results",
)
MCP_PLANNER_MAX_OBSERVATIONS_COUNT = declare(
    PLANNER_FAMILY,
    "MCP_PLANNER_MAX_OBSERVATIONS_COUNT",
    integer(1, 50),
    None,
    "How many of the newest tool results the planner's prompt keeps. Not set: as many as there may be rounds.",
    label="Maximum number of tool results",
)
