"""The words that rows may use. Each member's label and help are what the admin and the manual show."""

from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import Self


class Word(StrEnum):
    """A closed vocabulary whose members carry a label and a help text: `NAME = "NAME", "label", "help"`."""

    label: str
    help: str

    def __new__(cls, value: str, label: str = "", help: str = "") -> Self:
        """A member of one word with what is said about it."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.label = label or value.replace("_", " ").capitalize()
        member.help = help
        return member

    @classmethod
    def choices(cls) -> list[tuple[str, str]]:
        """(value, label) pairs for a form field."""
        return [(member.value, member.label) for member in cls]

    @classmethod
    def read(cls, value: object) -> Self | None:
        """The member that a text names, trimmed and in any case; null when there is none."""
        return cls._by_value().get(str(value).strip().upper())

    @classmethod
    @cache
    def _by_value(cls) -> dict[str, Self]:
        return {member.value: member for member in cls}


# As every enumeration has it. The usual way to it takes two calls, and a turn goes it thirty times.
Word.value = property(attrgetter("_value_"))  # type: ignore[method-assign,assignment]


class DialogueAct(Word):
    """What the user does with a message, apart from what it is about."""

    AFFIRM = "AFFIRM", "Affirm", "Says yes."
    NEGATE = "NEGATE", "Negate", "Says no."
    ANSWER = "ANSWER", "Answer", "Answers an open question."
    EDIT = "EDIT", "Edit", "Wants something changed."
    RESET = "RESET", "Reset", "Wants to start over."
    QUESTION = "QUESTION", "Question", "Asks something."
    NEW_REQUEST = "NEW_REQUEST", "New request", "Brings up something to be done."
    GREETING = "GREETING", "Greeting", "Says hello."


class PolicyDecision(Word):
    """How a turn is routed, from the act and from what the dialogue waits for (pipeline-1 9)."""

    EXECUTE_PENDING_ACTION = "EXECUTE_PENDING_ACTION", "Run the pending action", "A yes to what was proposed."
    REJECT_PENDING_ACTION = "REJECT_PENDING_ACTION", "Reject the pending action", "A no to what was proposed."
    FILL_PENDING_SLOT = "FILL_PENDING_SLOT", "Fill the pending slot", "The message is the value that was asked for."
    RECLASSIFY_INTENT = "RECLASSIFY_INTENT", "Find the intent anew", "Nothing is waiting for this message."


class RoutingDecision(Word):
    """What a message is to the form at hand (pipeline-1 10)."""

    CONTINUE_STANDARD_FLOW = "CONTINUE_STANDARD_FLOW", "Nothing special", "Intent and fields are looked at as usual."
    HANDLE_AS_ANSWER = "HANDLE_AS_ANSWER", "An answer", "The message answers what was asked."
    RETRY_IN_PLACE = "RETRY_IN_PLACE", "Try again", "The last work is to be repeated where the dialogue stands."
    PROCEED_CONFIRMED = "PROCEED_CONFIRMED", "Confirmed", "The user confirmed a complete form."
    APPLY_CORRECTION = "APPLY_CORRECTION", "Corrected", "Values of the form were changed in place."


class ActionStatus(Word):
    """Where an opened action stands (pipeline-1 11, pipeline-2 2)."""

    OPEN = "OPEN", "Open", "Proposed; a yes runs it."
    IN_PROGRESS = "IN_PROGRESS", "In progress", "Confirmed; its task runs in this turn."
    EXECUTED = "EXECUTED", "Executed", "Its task ended well. Final until the scope is left."
    REJECTED = "REJECTED", "Rejected", "The user said no. Final until the scope is left."
    EXPIRED = "EXPIRED", "Expired", "Nobody confirmed it in time. A later turn opens it anew."
    FAILED = "FAILED", "Failed", "Its task failed. A later turn opens it anew."


class RulePhase(Word):
    """When in a turn a rule is looked at."""

    POST_DIALOGUE_ACT = (
        "POST_DIALOGUE_ACT",
        "After the dialogue act",
        "After the act is classified, before the interaction policy decides. Typical: override the act.",
    )
    POST_CLASSIFIER_INTENT = (
        "POST_CLASSIFIER_INTENT",
        "After a classifier decided",
        "When a classifier row decided the intent. Typical: start states per intent.",
    )
    POST_AGENT_INTENT = (
        "POST_AGENT_INTENT",
        "After the intent agent",
        "When the model's intent was accepted. Typical: start states per intent.",
    )
    PRE_AGENT_MCP = "PRE_AGENT_MCP", "Before the planner", "First thing in the tool step: gate or prepare tool use."
    POST_AGENT_MCP = (
        "POST_AGENT_MCP",
        "After the planner",
        "When at least one planner round ran: move on when there is a final answer.",
    )
    POST_TOOL_EXECUTION = (
        "POST_TOOL_EXECUTION",
        "After a direct tool call",
        "After success, error or scope mismatch: react to inputParams.tool_result.",
    )
    POST_SCHEMA_EXTRACTION = (
        "POST_SCHEMA_EXTRACTION",
        "After data collection",
        "After values were merged and the schema status is known. Typical: from COLLECT to CONFIRM.",
    )
    PRE_RESPONSE_RESOLUTION = (
        "PRE_RESPONSE_RESOLUTION",
        "Before the answer",
        "Everything else; the last chance before the response is chosen.",
    )
    POST_SEMANTIC_INTERPRET = (
        "POST_SEMANTIC_INTERPRET",
        "After semantic interpretation",
        "Reserved for the semantic query module.",
    )


#: Older names that imports accept (tables 2.3).
PHASE_ALIASES = {
    "PIPELINE_RULES": RulePhase.PRE_RESPONSE_RESOLUTION,
    "AGENT_POST_INTENT": RulePhase.POST_AGENT_INTENT,
    "CLASSIFIER_POST_INTENT": RulePhase.POST_CLASSIFIER_INTENT,
    "AGENT_POST_MCP": RulePhase.POST_AGENT_MCP,
    "TOOL_POST_EXECUTION": RulePhase.POST_TOOL_EXECUTION,
    "SEMANTIC_INTERPRET_POST": RulePhase.POST_SEMANTIC_INTERPRET,
    "AGENT_POST_SEMANTIC_INTERPRET": RulePhase.POST_SEMANTIC_INTERPRET,
}


def phase_of(value: object) -> RulePhase | None:
    """The phase that a row's text names, by old or new name; blank is the default one, null an unknown one (7.1)."""
    text = str(value or "").strip().upper()
    return RulePhase.read(text or RulePhase.PRE_RESPONSE_RESOLUTION) or PHASE_ALIASES.get(text)


class RuleType(Word):
    """How a rule's condition is tested."""

    EXACT = "EXACT", "Exact text", "The trimmed text equals the pattern, ignoring case; ANY always holds."
    REGEX = "REGEX", "Regular expression", "The pattern is found in the text, ignoring case."
    JSON_PATH = "JSON_PATH", "JSON path on the facts", "The path matches the facts of the turn."
    CONTEXT_JSON_PATH = "CONTEXT_JSON_PATH", "JSON path on the context", "The path matches the stored context alone."


class MatchTarget(Word):
    """Which text EXACT and REGEX rules look at."""

    USER_TEXT = "USER_TEXT", "User text", "What the user wrote."
    RESOLVED_INPUT = "RESOLVED_INPUT", "Resolved input", "The rewritten query if there is one, else the user text."
    DIALOGUE_ACT = "DIALOGUE_ACT", "Dialogue act", "The name of the act of this turn."


class RuleAction(Word):
    """What a rule does when its condition holds. Labels and value grammars: `rules.vocabulary`."""

    SET_INTENT = "SET_INTENT", "Set intent"
    SET_STATE = "SET_STATE", "Set state"
    SET_DIALOGUE_ACT = "SET_DIALOGUE_ACT", "Set dialogue act"
    SET_INPUT_PARAM = "SET_INPUT_PARAM", "Set input params"
    SET_JSON = "SET_JSON", "Copy from a path"
    GET_CONTEXT = "GET_CONTEXT", "Copy the context"
    GET_SCHEMA_JSON = "GET_SCHEMA_JSON", "Copy the collected values"
    GET_SESSION = "GET_SESSION", "Copy the session facts"
    SET_TASK = "SET_TASK", "Run a task"
    SET_CONTEXT = "SET_CONTEXT", "Write context fields"
    CLEAR_CONTEXT = "CLEAR_CONTEXT", "Clear context fields"
    REMOVE_INPUT_PARAM = "REMOVE_INPUT_PARAM", "Remove input params"
    SET_RESPONSE_HINT = "SET_RESPONSE_HINT", "Hint for the answer"
    SET_PREFERENCE = "SET_PREFERENCE", "Choose a model or knowledge base"


class ClassifierType(Word):
    """How a classifier row is tested."""

    REGEX = "REGEX", "Regular expression", "Found anywhere in the text."
    CONTAINS = "CONTAINS", "Contains", "The text contains these characters."
    STARTS_WITH = "STARTS_WITH", "Starts with", "The text begins with these characters."
    EXACT = "EXACT", "Exact text", "The whole text is this."
    SEMANTIC = (
        "SEMANTIC",
        "Means the same",
        "The text means what one of these examples means, one example a line. Tried when no other row fits.",
    )


class PolicyType(Word):
    """How a policy row is tested."""

    REGEX = "REGEX", "Regular expression", "Found anywhere in the text."
    EXACT = "EXACT", "Exact text", "The whole text is this."
    CONTAINS = "CONTAINS", "Contains", "The text contains these characters."
    STARTS_WITH = "STARTS_WITH", "Starts with", "The text begins with these characters."
    LLM = "LLM", "Model", "A model judges the text by this criterion in words."


class OutputFormat(Word):
    """The format of an answer."""

    TEXT = "TEXT", "Text", "Words for the user."
    JSON = "JSON", "JSON", "A document for the caller, who shows it."


class ResponseType(Word):
    """Who writes an answer."""

    EXACT = "EXACT", "As written", "The text of the row, with names filled in."
    DERIVED = "DERIVED", "Written by the model", "The model writes it from a prompt template."


class PromptUse(Word):
    """What a prompt template is used for."""

    SCHEMA_JSON = "SCHEMA_JSON", "Extract fields", "Asks a model for the fields of a form in the message."
    TEXT = "TEXT", "Write a text answer", "Asks a model for the words of an answer."
    JSON = "JSON", "Write a JSON answer", "Asks a model for a document as the answer."


class InteractionMode(Word):
    """What the user may do in a state."""

    NORMAL = "NORMAL", "Normal", "Nothing in particular is expected."
    IDLE = "IDLE", "Idle", "Nothing is going on yet."
    COLLECT = "COLLECT", "Collect data", "Missing fields are asked for; reset and structured input are allowed."
    CONFIRM = "CONFIRM", "Confirm", "The user may say yes, edit, or reset."
    PROCESSING = "PROCESSING", "Processing", "The user may retry."
    FINAL = "FINAL", "Final", "The task is done; the session may be complete."
    ERROR = "ERROR", "Error", "The user may retry or reset."
    DISAMBIGUATE = "DISAMBIGUATE", "Disambiguate", "The user is asked which of several things is meant."
    FOLLOW_UP = "FOLLOW_UP", "Follow up", "The user may ask on about what was answered."
    PENDING_ACTION = "PENDING_ACTION", "Pending action", "An action waits for a yes or a no."
    REVIEW = "REVIEW", "Review", "The user may edit or reset; the session may be complete."


class SchemaType(Word):
    """The language of an output schema."""

    SCHEMA_JSON = "SCHEMA_JSON", "JSON Schema", "Fields with types, formats and choices, by the standard of that name."


class ToolGroup(Word):
    """What kind of executor runs a tool."""

    DB = "DB", "Database query", "One statement that reads."
    HTTP_API = "HTTP_API", "HTTP call", "One call over a connection of the deployment."
    WORKFLOW_ACTION = "WORKFLOW_ACTION", "Workflow action", "A task that the deployment registered in code."
    DOCUMENT_RETRIEVAL = "DOCUMENT_RETRIEVAL", "Document search", "Finds texts of the collections."
    CALCULATOR_TRANSFORM = "CALCULATOR_TRANSFORM", "Calculation", "An expression over numbers and texts."
    NOTIFICATION = "NOTIFICATION", "Notification", "An e-mail or a call of a webhook."
    FILES = "FILES", "Files", "Lists and reads files of one folder."
    MCP_SERVER = "MCP_SERVER", "External MCP server", "A tool that a server offers by the Model Context Protocol."


#: Other spellings of tool groups (tables 4.3); blank means DB.
TOOL_GROUP_ALIASES = {
    "": ToolGroup.DB,
    "MCP_DB": ToolGroup.DB,
    "DATABASE": ToolGroup.DB,
    "SQL": ToolGroup.DB,
    "HTTP": ToolGroup.HTTP_API,
    "API": ToolGroup.HTTP_API,
    "ACTION": ToolGroup.WORKFLOW_ACTION,
    "WORKFLOW": ToolGroup.WORKFLOW_ACTION,
    "DOC": ToolGroup.DOCUMENT_RETRIEVAL,
    "DOCUMENT": ToolGroup.DOCUMENT_RETRIEVAL,
    "RAG": ToolGroup.DOCUMENT_RETRIEVAL,
    "CALC": ToolGroup.CALCULATOR_TRANSFORM,
    "CALCULATOR": ToolGroup.CALCULATOR_TRANSFORM,
    "TRANSFORM": ToolGroup.CALCULATOR_TRANSFORM,
    "NOTIFY": ToolGroup.NOTIFICATION,
    "FILE": ToolGroup.FILES,
}


class SqlDialect(Word):
    """The language of a DB tool's statement."""

    POSTGRES = "POSTGRES", "PostgreSQL", "The statement is written for PostgreSQL."
    SQLITE = "SQLITE", "SQLite", "The statement is written for SQLite."
    ORACLE = "ORACLE", "Oracle", "The statement is written for Oracle; it needs a handler in code."


class GuardrailType(Word):
    """What an SQL guardrail row allows or blocks."""

    ALLOW_FUNCTION = "ALLOW_FUNCTION", "Allow a function", "Statements may call this function too."
    BLOCK_FUNCTION = (
        "BLOCK_FUNCTION",
        "Block a function",
        "No statement may call this function. Blocking wins over allowing.",
    )
    BLOCK_KEYWORD = "BLOCK_KEYWORD", "Block a keyword", "No statement may have this word."


class HttpMethod(Word):
    """The method of an HTTP tool."""

    GET = "GET", "GET", "Reads."
    POST = "POST", "POST", "Sends something new; not tried again by itself."
    PUT = "PUT", "PUT", "Puts something in its place."
    PATCH = "PATCH", "PATCH", "Changes a part; not tried again by itself."
    DELETE = "DELETE", "DELETE", "Takes something away."
    HEAD = "HEAD", "HEAD", "Asks for the headers alone."


class MappingMode(Word):
    """How an HTTP tool's answer becomes its result."""

    RAW_JSON = "RAW_JSON", "The JSON as it is", "The whole answer."
    JSON_PATH = "JSON_PATH", "One JSON path", "What one path finds in the answer."
    FIELD_TEMPLATE = (
        "FIELD_TEMPLATE",
        "A path for each field",
        "An object whose fields are found by paths; null where a path leads nowhere.",
    )
    MAPPER_CLASS = "MAPPER_CLASS", "A registered mapper", "Code of the deployment makes the result."
    TEXT = "TEXT", "The text as it is", "The answer is no JSON."


class McpTransport(Word):
    """How an external MCP server is reached."""

    STDIO = "STDIO", "Local process (stdio)", "A command that this installation allows is started."
    HTTP = "HTTP", "Streamable HTTP", "A server at an address."
    SSE = "SSE", "Server-sent events", "A server at an address, in the older way."


class StepMatch(Word):
    """How a verbose row's step is read."""

    EXACT = "EXACT", "Step name, or ANY", "The name of a step as it is written, or any step."
    REGEX = "REGEX", "Regular expression on the step name", "The pattern is found in the name of the step."
    JSON_PATH = "JSON_PATH", "JSON path on the event's metadata", "The path finds something in what the event says."


class ConversationStatus(Word):
    """The engine's own status of a conversation."""

    RUNNING = "RUNNING", "Running", "Takes messages."
    BLOCKED = "BLOCKED", "Blocked by a policy", "A policy ended it; what it still takes is a setting."


class Lifecycle(Word):
    """Where a session stands (sessions 2)."""

    RUNNING = "RUNNING", "Running", "A turn is being worked on, or the next may come."
    AWAITING_USER = "AWAITING_USER", "Awaiting the user", "A question waits for its answer."
    INTERRUPTED = "INTERRUPTED", "Interrupted", "A newer message or the caller stopped a turn."
    PENDING_COMPLETE = "PENDING_COMPLETE", "Pending completion", "The end was proposed and waits for a yes."
    COMPLETE = "COMPLETE", "Complete", "What it was about is done."
    ABORTED = "ABORTED", "Aborted", "It was given up, or took too long."


class MessageIntent(Word):
    """What a message means to its session (sessions 3)."""

    RESPONSE = "RESPONSE", "Answers the open question", "The session waited for this."
    MODIFICATION = "MODIFICATION", "Changes what is being done", "The task stays, with another value."
    CONFIRMATION = "CONFIRMATION", "Accepts the proposed end", "The session is complete."
    NEW_TASK = "NEW_TASK", "Begins something else", "A new session may begin, as settings say."
    ABANDON = "ABANDON", "Gives the task up", "The session is aborted."
    UNCLEAR = "UNCLEAR", "Unclear: goes on, or begins something else", "What the engine finds decides."
    CONTINUATION = "CONTINUATION", "Goes on", "The next message of what is being done."


class TurnStatus(Word):
    """How a turn ended."""

    OK = "OK", "OK", "It was answered and stored."
    BLOCKED = "BLOCKED", "Blocked by a policy", "A policy answered in place of the rest."
    FAILED = "FAILED", "Failed", "It left nothing but its record."
    INTERRUPTED = "INTERRUPTED", "Interrupted", "A newer message stopped it; nothing of it was stored."


class JobStatus(Word):
    """How a run of a background job ended."""

    RUNNING = "RUNNING", "Running", "It is at work."
    OK = "OK", "OK", "It did what there was to do."
    FAILED = "FAILED", "Failed", "It ended with an error, and is tried again when it is due."
    LOST = "LOST", "Its process died", "Nobody heard of it any more; another process took its place."


class ResetReason(StrEnum):
    """Why a conversation was reset (pipeline-1 4, 8.4, 15)."""

    PARAM_RESET = "INPUT_PARAM:reset"
    PARAM_RESTART = "INPUT_PARAM:restart"
    PARAM_CONVERSATION_RESET = "INPUT_PARAM:conversation_reset"
    USER_TEXT_COMMAND = "USER_TEXT_COMMAND"
    DIALOGUE_ACT_RESET = "DIALOGUE_ACT_RESET"
    INTENT_RESOLVED_RESET = "INTENT_RESOLVED_RESET"


class DecisionKind(StrEnum):
    """What a DECISION event is about (R31)."""

    POLICY = "POLICY"
    CLASSIFIER = "CLASSIFIER"
    SCHEMA = "SCHEMA"
    TEMPLATE = "TEMPLATE"
    RESPONSE = "RESPONSE"
    CONTAINER = "CONTAINER"
    PENDING_ACTION = "PENDING_ACTION"
    TOOL = "TOOL"
    RULE = "RULE"
