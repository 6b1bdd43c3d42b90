"""Configuration rows as frozen values; fields are named like the columns.

One dataclass per table. Audit columns (`created_at`, `updated_at`, `updated_by`) stay with the ORM, unless an order
needs one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.json_value import Json


@dataclass(frozen=True, kw_only=True)
class Row:
    """A configuration row. `pk` is the value of the primary key column."""

    table: ClassVar[str]
    key: ClassVar[str]
    enabled: bool = True

    @property
    def pk(self) -> Any:
        return getattr(self, self.key)


@dataclass(frozen=True, kw_only=True)
class SpokenRow(Row):
    """A row with texts that users read, which may have translations (`convengine.engine.turn.translations`)."""

    translations: Json = None


@dataclass(frozen=True, kw_only=True)
class Intent(SpokenRow):
    """A business intent."""

    table = "ce_intent"
    key = "intent_code"
    intent_code: str
    description: str = ""
    display_name: str | None = None
    llm_hint: str | None = None
    priority: int = 100
    #: Asked while a form or a question is open, it is answered there, and the open question follows.
    returns: bool = False

    @property
    def name(self) -> str:
        """The name to show: `display_name`, else the code in words."""
        return (self.display_name or "").strip() or self.intent_code.replace("_", " ").title()


@dataclass(frozen=True, kw_only=True)
class Classifier(Row):
    """A phrase that leads to an intent; its intent and state are the result, not a filter."""

    table = "ce_intent_classifier"
    key = "classifier_id"
    classifier_id: int
    intent_code: str
    state_code: str = UNKNOWN
    rule_type: str = ""
    pattern: str | None = None
    priority: int = 100
    description: str | None = None

    @property
    def is_phrase(self) -> bool:
        """True for a row whose pattern is an example sentence."""
        return (self.rule_type or "").strip().upper() == "PHRASE"

    @property
    def is_pattern(self) -> bool:
        """True for a row that tests the characters of a text."""
        return not self.is_phrase


@dataclass(frozen=True, kw_only=True)
class Rule(SpokenRow):
    """When a condition holds in a phase, do one thing."""

    table = "ce_rule"
    key = "rule_id"
    rule_id: int
    phase: str = "PRE_RESPONSE_RESOLUTION"
    intent_code: str
    state_code: str
    rule_type: str
    match_pattern: str | None
    action: str
    action_value: str | None = None
    priority: int = 100
    match_target: str = "USER_TEXT"
    stop_processing: bool = False
    null_leaf_matches: bool = True
    override: bool = False
    description: str | None = None


@dataclass(frozen=True, kw_only=True)
class StateEdge(Row):
    """An allowed move from one state to another."""

    table = "ce_state_graph"
    key = "edge_id"
    edge_id: int
    intent_code: str = ANY
    from_state: str
    to_state: str
    priority: int = 100
    description: str | None = None


@dataclass(frozen=True, kw_only=True)
class Policy(SpokenRow):
    """A policy: what is never processed."""

    table = "ce_policy"
    key = "policy_id"
    policy_id: int
    rule_type: str
    pattern: str | None
    response_text: str | None
    priority: int = 10
    description: str | None = None


@dataclass(frozen=True, kw_only=True)
class OutputSchema(SpokenRow):
    """The fields to collect for an intent and state."""

    table = "ce_output_schema"
    key = "schema_id"
    schema_id: int
    intent_code: str
    state_code: str
    schema_type: str = "SCHEMA_JSON"
    json_schema: Json = None
    description: str | None = None
    priority: int = 100


@dataclass(frozen=True, kw_only=True)
class PromptTemplate(Row):
    """Prompt texts, and what the user may do in that state."""

    table = "ce_prompt_template"
    key = "template_id"
    template_id: int
    intent_code: str
    state_code: str
    response_type: str
    system_prompt: str = ""
    user_prompt: str = ""
    temperature: float = 0.0
    interaction_mode: str | None = None
    interaction_contract: Json = None
    #: ISO 8601 in UTC, so that texts compare like times.
    created_at: str = ""


@dataclass(frozen=True, kw_only=True)
class Response(SpokenRow):
    """The texts for users, by state."""

    table = "ce_response"
    key = "response_id"
    response_id: int
    intent_code: str
    state_code: str
    output_format: str = "TEXT"
    response_type: str = "EXACT"
    exact_text: str | None = None
    derivation_hint: str | None = None
    json_schema: Json = None
    priority: int = 100
    description: str | None = None


@dataclass(frozen=True, kw_only=True)
class AnswerDocument(Row):
    """A text whose sections answer questions."""

    table = "ce_answer_document"
    key = "document_id"
    document_id: int
    title: str
    #: Markdown: headings, paragraphs, lists and rows of tables.
    content: str = ""
    #: The address that cards lead to.
    link: str | None = None
    #: By the path of headings: `off`, `weight`, `askedAs`.
    sections: Json = None
    #: Only for users whose `userGroup` is this one.
    user_group: str | None = None


@dataclass(frozen=True, kw_only=True)
class ContainerConfig(Row):
    """Data to fetch for an intent and state."""

    table = "ce_container_config"
    key = "id"
    id: int
    intent_code: str
    state_code: str
    page_id: int
    section_id: int
    container_id: int
    input_param_name: str
    priority: int = 1


@dataclass(frozen=True, kw_only=True)
class PendingAction(Row):
    """Something that needs a "yes" before it runs."""

    table = "ce_pending_action"
    key = "pending_action_id"
    pending_action_id: int
    intent_code: str
    state_code: str
    action_key: str
    bean_name: str
    method_names: str
    priority: int = 100
    description: str | None = None


@dataclass(frozen=True, kw_only=True)
class DirectTool(Row):
    """A tool that an intent and state call without a planner."""

    table = "ce_tool"
    key = "ce_tool_id"
    ce_tool_id: int
    intent_code: str
    state_code: str
    tool_group: str
    tool_code: str | None = None
    args_template: Mapping[str, Json] = field(default_factory=dict)
    run_once: bool = True
    priority: int = 100
    description: str | None = None


@dataclass(frozen=True, kw_only=True)
class Tool(Row):
    """A tool and where it may be used."""

    table = "ce_mcp_tool"
    key = "tool_id"
    tool_id: int
    tool_code: str
    tool_group: str
    intent_code: str
    state_code: str
    description: str | None = None
    read_only: bool = True
    input_schema: Json = None


@dataclass(frozen=True, kw_only=True)
class DbTool(Row):
    """The SQL behind a DB tool."""

    table = "ce_mcp_db_tool"
    key = "tool_id"
    tool_id: int
    dialect: str = "POSTGRES"
    sql_template: str
    param_schema: Json
    allowed_identifiers: Json = None
    allowed_tables: Json = None
    safe_mode: bool = True
    max_rows: int = 200


@dataclass(frozen=True, kw_only=True)
class Planner(Row):
    """Planner prompts of an intent and state."""

    table = "ce_mcp_planner"
    key = "planner_id"
    planner_id: int
    intent_code: str
    state_code: str
    system_prompt: str
    user_prompt: str


@dataclass(frozen=True, kw_only=True)
class SqlGuardrail(Row):
    """A function or keyword that SQL tools may or may not use."""

    table = "ce_mcp_sql_guardrail"
    key = "guardrail_id"
    guardrail_id: int
    rule_type: str
    match_value: str
    description: str | None = None


@dataclass(frozen=True, kw_only=True)
class HttpTool(Row):
    """An HTTP call behind a tool."""

    table = "ce_mcp_http_tool"
    key = "tool_id"
    tool_id: int
    connection_name: str
    method: str = "GET"
    url_template: str
    headers_json: Mapping[str, Json] = field(default_factory=dict)
    query_json: Mapping[str, Json] = field(default_factory=dict)
    body_template: str | None = None
    param_schema: Json = field(default_factory=lambda: {"type": "object"})
    policy_json: Mapping[str, Json] = field(default_factory=dict)
    mapping_mode: str = "RAW_JSON"
    mapping_json: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class McpServer(Row):
    """An external MCP server whose tools are discovered."""

    table = "ce_mcp_server"
    key = "server_id"
    server_id: int
    name: str
    transport: str
    command: str | None = None
    args_json: Json = None
    env_json: Json = None
    url: str | None = None
    headers_json: Json = None
    intent_code: str = ANY
    state_code: str = ANY
    allowed_tools_json: Json = None
    timeout_ms: int = 10000


@dataclass(frozen=True, kw_only=True)
class Config(SpokenRow):
    """One setting."""

    table = "ce_config"
    key = "config_id"
    config_id: int
    config_type: str
    config_key: str
    config_value: str


@dataclass(frozen=True, kw_only=True)
class Verbose(SpokenRow):
    """A progress or error text for an event of a turn."""

    table = "ce_verbose"
    key = "verbose_id"
    verbose_id: int
    intent_code: str
    state_code: str
    step_match: str = "EXACT"
    step_value: str
    determinant: str
    rule_id: int | None = None
    tool_code: str | None = None
    message: str | None = None
    error_message: str | None = None
    priority: int = 100


#: Every configuration table, in the order of an import.
ROW_TYPES: tuple[type[Row], ...] = (
    Intent,
    Classifier,
    Rule,
    StateEdge,
    Policy,
    OutputSchema,
    PromptTemplate,
    Response,
    AnswerDocument,
    ContainerConfig,
    PendingAction,
    Tool,
    DirectTool,
    DbTool,
    HttpTool,
    Planner,
    SqlGuardrail,
    McpServer,
    Config,
    Verbose,
)
ROW_TYPE_OF: Mapping[str, type[Row]] = {row_type.table: row_type for row_type in ROW_TYPES}


def columns(row_type: type[Row]) -> tuple[str, ...]:
    """The column names of a row value."""
    return tuple(f.name for f in fields(row_type))


#: The tables whose rows decide turns, and their names.
DECIDERS: Mapping[str, str] = {
    Rule.table: "Rule",
    Response.table: "Response",
    AnswerDocument.table: "Answer document",
    Classifier.table: "Classifier",
    Policy.table: "Policy",
    OutputSchema.table: "Form",
    PromptTemplate.table: "Prompt template",
    Planner.table: "Planner prompt",
    ContainerConfig.table: "Data source",
    PendingAction.table: "Pending action",
    DirectTool.table: "Direct tool call",
    Tool.table: "Tool",
}
