"""The vocabularies of rows. The admin and the manual show each member's label and help."""

from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import Self

from convengine.engine.text.compare import code


class Vocabulary(StrEnum):
    """A closed vocabulary whose members have a label and a help text: `NAME = "NAME", "label", "help"`."""

    label: str
    help: str

    def __new__(cls, value: str, label: str = "", help: str = "") -> Self:
        """Make a member with its label and help."""
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
        """The member that a text names, trimmed and ignoring case. Returns None if there is none."""
        return cls._index_members().get(str(value).strip().upper())

    @classmethod
    @cache
    def _index_members(cls) -> dict[str, Self]:
        return {member.value: member for member in cls}


# The enum's own way takes two calls, and a turn reads values thirty times.
Vocabulary.value = property(attrgetter("_value_"))  # type: ignore[method-assign,assignment]


class DialogueAct(Vocabulary):
    """What the user does with a message, apart from its subject."""

    AFFIRM = "AFFIRM", "Affirm", "Says yes."
    NEGATE = "NEGATE", "Negate", "Says no."
    ANSWER = "ANSWER", "Answer", "Answers an open question."
    EDIT = "EDIT", "Edit", "Wants something changed."
    RESET = "RESET", "Reset", "Wants to start over."
    QUESTION = "QUESTION", "Question", "Asks something."
    NEW_REQUEST = "NEW_REQUEST", "New request", "Brings up something to be done."
    GREETING = "GREETING", "Greeting", "Says hello."


class PolicyDecision(Vocabulary):
    """How the interaction policy routes a turn, from the dialogue act and from what the dialogue waits for."""

    EXECUTE_PENDING_ACTION = "EXECUTE_PENDING_ACTION", "Run the pending action", "A yes to what was proposed."
    REJECT_PENDING_ACTION = "REJECT_PENDING_ACTION", "Reject the pending action", "A no to what was proposed."
    FILL_PENDING_SLOT = "FILL_PENDING_SLOT", "Fill the pending slot", "The message is the value that was asked for."
    RECLASSIFY_INTENT = "RECLASSIFY_INTENT", "Recognise the intent", "No question or action is open."


class RoutingDecision(Vocabulary):
    """What a message is to the current form."""

    CONTINUE_STANDARD_FLOW = "CONTINUE_STANDARD_FLOW", "Nothing special", "Intent and fields are processed as usual."
    HANDLE_AS_ANSWER = "HANDLE_AS_ANSWER", "An answer", "The message answers what was asked."
    RETRY_IN_PLACE = "RETRY_IN_PLACE", "Try again", "The last step is repeated in the same state."
    PROCEED_CONFIRMED = "PROCEED_CONFIRMED", "Confirmed", "The user confirmed a complete form."
    APPLY_CORRECTION = "APPLY_CORRECTION", "Corrected", "Values of the form were changed."


class ActionStatus(Vocabulary):
    """The status of an opened action."""

    OPEN = "OPEN", "Open", "Proposed. A yes runs it."
    IN_PROGRESS = "IN_PROGRESS", "In progress", "Confirmed. Its task runs in this turn."
    EXECUTED = "EXECUTED", "Executed", "Its task succeeded. Final until the conversation leaves the scope."
    REJECTED = "REJECTED", "Rejected", "The user said no. Final until the conversation leaves the scope."
    EXPIRED = "EXPIRED", "Expired", "It was not confirmed in time. A later turn can open it again."
    FAILED = "FAILED", "Failed", "Its task failed. A later turn can open it again."


class RulePhase(Vocabulary):
    """When a turn tests a rule."""

    POST_DIALOGUE_ACT = (
        "POST_DIALOGUE_ACT",
        "After the dialogue act",
        "After the dialogue act is classified and before the turn is routed. Typical use: override the act.",
    )
    POST_CLASSIFIER_INTENT = (
        "POST_CLASSIFIER_INTENT",
        "After a phrase matched",
        "When a phrase decided the intent. Typical use: start states per intent.",
    )
    POST_AGENT_INTENT = (
        "POST_AGENT_INTENT",
        "After the intent agent",
        "When the model's intent was accepted. Typical use: start states per intent.",
    )
    PRE_AGENT_MCP = (
        "PRE_AGENT_MCP",
        "Before the planner",
        ("At the start of the planner step. Typical use: allow or prepare tool calls."),
    )
    POST_AGENT_MCP = (
        "POST_AGENT_MCP",
        "After the planner",
        "After at least one planner round. Typical use: continue when there is a final answer.",
    )
    POST_TOOL_EXECUTION = (
        "POST_TOOL_EXECUTION",
        "After a direct tool call",
        "After a call succeeded, failed or did not apply. Typical use: react to tool_result.",
    )
    POST_SCHEMA_EXTRACTION = (
        "POST_SCHEMA_EXTRACTION",
        "After data collection",
        "After new field values were stored. Typical use: move from COLLECT to CONFIRM.",
    )
    PRE_RESPONSE_RESOLUTION = (
        "PRE_RESPONSE_RESOLUTION",
        "Before the answer",
        "Just before the answer is chosen. Suitable for all other rules.",
    )
    POST_SEMANTIC_INTERPRET = (
        "POST_SEMANTIC_INTERPRET",
        "After semantic interpretation",
        "Reserved for the semantic query module.",
    )


#: Names of other versions that imports accept.
PHASE_ALIASES = {
    "PRE_AGENT_TOOL": RulePhase.PRE_AGENT_MCP,
    "POST_AGENT_TOOL": RulePhase.POST_AGENT_MCP,
    "PIPELINE_RULES": RulePhase.PRE_RESPONSE_RESOLUTION,
    "AGENT_POST_INTENT": RulePhase.POST_AGENT_INTENT,
    "CLASSIFIER_POST_INTENT": RulePhase.POST_CLASSIFIER_INTENT,
    "AGENT_POST_MCP": RulePhase.POST_AGENT_MCP,
    "TOOL_POST_EXECUTION": RulePhase.POST_TOOL_EXECUTION,
    "SEMANTIC_INTERPRET_POST": RulePhase.POST_SEMANTIC_INTERPRET,
    "AGENT_POST_SEMANTIC_INTERPRET": RulePhase.POST_SEMANTIC_INTERPRET,
}


def read_phase(value: object) -> RulePhase | None:
    """The phase of a row's text, by present or older name; blank is the default, null an unknown one."""
    text = str(value or "").strip().upper()
    return RulePhase.read(text or RulePhase.PRE_RESPONSE_RESOLUTION) or PHASE_ALIASES.get(text)


class RuleType(Vocabulary):
    """How a rule's condition is tested."""

    CONDITION = "CONDITION", "Fields and values", "Rows of field, operator and value, in groups."
    EXACT = "EXACT", "Exact text", "The text equals the pattern, ignoring case. ANY always matches."
    REGEX = "REGEX", "Regular expression", "The pattern matches somewhere in the text, ignoring case."
    JSON_PATH = "JSON_PATH", "JSON path on the facts", "The path matches the facts of the turn."
    CONTEXT_JSON_PATH = "CONTEXT_JSON_PATH", "JSON path on the context", "The path matches the stored context."


class MatchTarget(Vocabulary):
    """Which text EXACT and REGEX rules look at."""

    USER_TEXT = "USER_TEXT", "Message", "What the user wrote."
    RESOLVED_INPUT = (
        "RESOLVED_INPUT",
        "Rewritten message",
        ("The rewritten message if there is one, else the message of the user."),
    )
    DIALOGUE_ACT = "DIALOGUE_ACT", "Dialogue act", "The dialogue act of this turn."


class RuleAction(Vocabulary):
    """What a rule does when its condition holds. Each has a module of its name in `rules.actions`."""

    SET_INTENT = "SET_INTENT", "Set intent"
    SET_STATE = "SET_STATE", "Set state"
    SET_DIALOGUE_ACT = "SET_DIALOGUE_ACT", "Set dialogue act"
    SET_INPUT_PARAM = "SET_INPUT_PARAM", "Set parameters"
    SET_JSON = "SET_JSON", "Copy from a path"
    GET_CONTEXT = "GET_CONTEXT", "Copy the context"
    GET_SCHEMA_JSON = "GET_SCHEMA_JSON", "Copy the collected values"
    GET_SESSION = "GET_SESSION", "Copy the session facts"
    SET_TASK = "SET_TASK", "Run a task"
    SET_CONTEXT = "SET_CONTEXT", "Write context fields"
    CLEAR_CONTEXT = "CLEAR_CONTEXT", "Clear context fields"
    REFUSE_VALUE = "REFUSE_VALUE", "Refuse a value"
    REMOVE_INPUT_PARAM = "REMOVE_INPUT_PARAM", "Remove parameters"
    SET_RESPONSE_HINT = "SET_RESPONSE_HINT", "Hint for the answer"
    SET_PREFERENCE = "SET_PREFERENCE", "Choose a model or knowledge base"


class ClassifierType(Vocabulary):
    """How a classifier row is tested."""

    PHRASE = (
        "PHRASE",
        "Phrase",
        "The message means the same as this example. All examples train the classifier. Used if no pattern matches.",
    )
    REGEX = "REGEX", "Regular expression", "The pattern matches somewhere in the text."
    CONTAINS = "CONTAINS", "Contains", "The text contains these characters."
    STARTS_WITH = "STARTS_WITH", "Starts with", "The text starts with these characters."
    EXACT = "EXACT", "Exact text", "The whole text equals this."


class PolicyType(Vocabulary):
    """How a policy row is tested."""

    REGEX = "REGEX", "Regular expression", "The pattern matches somewhere in the text."
    EXACT = "EXACT", "Exact text", "The whole text equals this."
    CONTAINS = "CONTAINS", "Contains", "The text contains these characters."
    STARTS_WITH = "STARTS_WITH", "Starts with", "The text starts with these characters."
    LLM = "LLM", "Model", "A model checks the text against this criterion."


class OutputFormat(Vocabulary):
    """The format of an answer."""

    TEXT = "TEXT", "Text", "Text for the user."
    JSON = "JSON", "JSON", "A JSON document for the caller."


class ResponseType(Vocabulary):
    """Who writes an answer."""

    EXACT = "EXACT", "As written", "The text of the answer with its placeholders filled in."
    DERIVED = "DERIVED", "Written by the model", "A model writes it with a prompt template."


class PromptUse(Vocabulary):
    """What a prompt template is used for."""

    SCHEMA_JSON = "SCHEMA_JSON", "Extract fields", "Extracts the fields of a form from the message."
    TEXT = "TEXT", "Write a text answer", "Writes an answer as text."
    JSON = "JSON", "Write a JSON answer", "Writes an answer as JSON."


class InteractionMode(Vocabulary):
    """What the user may do in a state."""

    NORMAL = "NORMAL", "Normal", "No special input is expected."
    IDLE = "IDLE", "Idle", "No task has started."
    COLLECT = "COLLECT", "Collect data", ("The user fills in missing fields. Reset and structured input are allowed.")
    CONFIRM = "CONFIRM", "Confirm", "The user may say yes, edit, or reset."
    PROCESSING = "PROCESSING", "Processing", "The user may retry."
    FINAL = "FINAL", "Final", "The task is complete. The session may end."
    ERROR = "ERROR", "Error", "The user may retry or reset."
    DISAMBIGUATE = "DISAMBIGUATE", "Disambiguate", "The user chooses between several options."
    FOLLOW_UP = "FOLLOW_UP", "Follow up", "The user may ask more about the last answer."
    PENDING_ACTION = "PENDING_ACTION", "Pending action", "An action waits for a yes or a no."
    REVIEW = "REVIEW", "Review", "The user may edit or reset. The session may end."


class SchemaType(Vocabulary):
    """The language of an output schema."""

    SCHEMA_JSON = "SCHEMA_JSON", "JSON Schema", "Fields with types, formats and choices as JSON Schema."


class ToolGroup(Vocabulary):
    """What kind of executor runs a tool."""

    DB = "DB", "Database query", "One SQL statement that reads."
    HTTP_API = "HTTP_API", "HTTP call", "One HTTP request over a configured connection."
    WORKFLOW_ACTION = "WORKFLOW_ACTION", "Workflow action", "A task registered in code."
    DOCUMENT_RETRIEVAL = "DOCUMENT_RETRIEVAL", "Document search", "Searches document collections."
    CALCULATOR_TRANSFORM = "CALCULATOR_TRANSFORM", "Calculation", "Evaluates an expression with numbers and texts."
    NOTIFICATION = "NOTIFICATION", "Notification", "Sends an e-mail or calls a webhook."
    FILES = "FILES", "Files", "Lists and reads files of one folder."
    MCP_SERVER = "MCP_SERVER", "External MCP server", "A tool of a server with the Model Context Protocol."


#: Other spellings of tool groups; blank means DB.
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


def resolve_group(name: str | None) -> str:
    """The canonical name of a group: trimmed, upper case, aliases resolved; blank is DB, others stay."""
    word = code(name)
    return str(TOOL_GROUP_ALIASES.get(word, word))


class SqlDialect(Vocabulary):
    """The language of a DB tool's statement."""

    POSTGRES = "POSTGRES", "PostgreSQL", "The statement is written for PostgreSQL."
    SQLITE = "SQLITE", "SQLite", "The statement is written for SQLite."
    ORACLE = "ORACLE", "Oracle", "The statement is written for Oracle; it needs a handler in code."


class GuardrailType(Vocabulary):
    """What an SQL guardrail row allows or blocks."""

    ALLOW_FUNCTION = "ALLOW_FUNCTION", "Allow a function", "Statements may call this function."
    BLOCK_FUNCTION = (
        "BLOCK_FUNCTION",
        "Block a function",
        "No statement may call this function. Blocking has priority over allowing.",
    )
    BLOCK_KEYWORD = "BLOCK_KEYWORD", "Block a keyword", "No statement may contain this keyword."


class HttpMethod(Vocabulary):
    """The method of an HTTP tool."""

    GET = "GET", "GET", "Reads."
    POST = "POST", "POST", "Creates something. Not repeated automatically."
    PUT = "PUT", "PUT", "Replaces something."
    PATCH = "PATCH", "PATCH", "Changes a part. Not repeated automatically."
    DELETE = "DELETE", "DELETE", "Deletes something."
    HEAD = "HEAD", "HEAD", "Reads only the headers."


class MappingMode(Vocabulary):
    """How an HTTP tool's answer becomes its result."""

    RAW_JSON = "RAW_JSON", "The JSON as it is", "The whole answer."
    JSON_PATH = "JSON_PATH", "One JSON path", "The value of one path in the answer."
    FIELD_TEMPLATE = (
        "FIELD_TEMPLATE",
        "A path for each field",
        "An object with one path for each field. Null if a path matches nothing.",
    )
    MAPPER_CLASS = "MAPPER_CLASS", "A registered mapper", "Registered code creates the result."
    TEXT = "TEXT", "The text as it is", "The answer as plain text."


class McpTransport(Vocabulary):
    """How an external MCP server is reached."""

    STDIO = "STDIO", "Local process (stdio)", "Starts an allowed command."
    HTTP = "HTTP", "Streamable HTTP", "A server at an address."
    SSE = "SSE", "Server-sent events", "A server at an address (older protocol)."


class StepMatch(Vocabulary):
    """How the step of a progress text is read."""

    EXACT = "EXACT", "Step name, or ANY", "The exact name of a step, or ANY."
    REGEX = "REGEX", "Regular expression on the step name", "The pattern matches the name of the step."
    JSON_PATH = "JSON_PATH", "JSON path on the event's metadata", "The path matches the data of the event."


class ConversationStatus(Vocabulary):
    """The engine's own status of a conversation."""

    RUNNING = "RUNNING", "Running", "Accepts messages."
    BLOCKED = (
        "BLOCKED",
        "Blocked by a policy",
        ("A policy blocked it. A setting decides which messages it still accepts."),
    )


class Lifecycle(Vocabulary):
    """The lifecycle of a session."""

    RUNNING = "RUNNING", "Running", "A turn is running, or the next message can come."
    AWAITING_USER = "AWAITING_USER", "Awaiting the user", "An open question waits for an answer."
    INTERRUPTED = "INTERRUPTED", "Interrupted", "A newer message or the caller stopped a turn."
    PENDING_COMPLETE = "PENDING_COMPLETE", "Pending completion", "The end was proposed and waits for confirmation."
    COMPLETE = "COMPLETE", "Complete", "The task is complete."
    ABORTED = "ABORTED", "Aborted", "The user gave up, or the session timed out."


class MessageIntent(Vocabulary):
    """What a message means to its session."""

    RESPONSE = "RESPONSE", "Answers the open question", "The session was waiting for this answer."
    MODIFICATION = "MODIFICATION", "Changes what is being done", "The task stays the same with another value."
    CONFIRMATION = "CONFIRMATION", "Accepts the proposed end", "The session is complete."
    NEW_TASK = "NEW_TASK", "Starts something new", "A new session may start, depending on settings."
    ABANDON = "ABANDON", "Gives up", "The session is aborted."
    UNCLEAR = "UNCLEAR", "Unclear", ("It is unclear whether the user continues or starts something new.")
    CONTINUATION = "CONTINUATION", "Continues", "The next message of the current task."


class TurnStatus(Vocabulary):
    """How a turn ended."""

    OK = "OK", "OK", "The turn was answered and stored."
    BLOCKED = "BLOCKED", "Blocked by a policy", "A policy gave the answer."
    FAILED = "FAILED", "Failed", "The turn failed. Only its record was stored."
    INTERRUPTED = "INTERRUPTED", "Interrupted", "A newer message stopped the turn. Only its record was stored."


class JobStatus(Vocabulary):
    """How a run of a background job ended."""

    RUNNING = "RUNNING", "Running", "The job is running."
    OK = "OK", "OK", "The job succeeded."
    FAILED = "FAILED", "Failed", "The job failed. It is repeated at the next scheduled time."
    LOST = "LOST", "Process lost", "The process stopped responding. Another process took over."


class ResetReason(StrEnum):
    """Why a conversation was reset."""

    PARAM_RESET = "INPUT_PARAM:reset"
    PARAM_RESTART = "INPUT_PARAM:restart"
    PARAM_CONVERSATION_RESET = "INPUT_PARAM:conversation_reset"
    USER_TEXT_COMMAND = "USER_TEXT_COMMAND"
    DIALOGUE_ACT_RESET = "DIALOGUE_ACT_RESET"
    INTENT_RESOLVED_RESET = "INTENT_RESOLVED_RESET"


class DecisionKind(StrEnum):
    """The subject of a DECISION event."""

    POLICY = "POLICY"
    CLASSIFIER = "CLASSIFIER"
    SCHEMA = "SCHEMA"
    TEMPLATE = "TEMPLATE"
    RESPONSE = "RESPONSE"
    CONTAINER = "CONTAINER"
    PENDING_ACTION = "PENDING_ACTION"
    TOOL = "TOOL"
    RULE = "RULE"
