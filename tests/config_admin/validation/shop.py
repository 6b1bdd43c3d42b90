"""A small shop whose every row is well formed: a test changes one thing and reads what is said."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from config_admin.validation.draft import Finding
from config_admin.validation.save_checks import check_row
from config_admin.validation.world import World
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot, Table

WORLD = World(
    tasks={"orderTask": ("cancel", "notifyCustomer"), "audit": ("audit",)},
    providers=frozenset({(1, 10, 100)}),
    executors=frozenset({"DB", "HTTP_API"}),
    http_connections=frozenset({"orders-api"}),
    stdio_commands=frozenset({"search-server"}),
    server_hosts=frozenset({"mcp.example"}),
    models=frozenset({"small", "large"}),
    embedding_models=frozenset({"small", "vectors"}),
    preferences=lambda: {"model": ["large", "small"], "knowledge_base": ["rules"], "tool_set": ["built-in"]},
    model_configured=True,
)

CANCEL = rows.Intent(intent_code="CANCEL_ORDER", description="Customer wants an order stopped.", priority=20)
STATUS = rows.Intent(intent_code="ORDER_STATUS", description="Customer asks where an order is.", priority=30)
FAQ = rows.Intent(intent_code="FAQ", description="General questions.", priority=40)
OLD = rows.Intent(intent_code="OLD_THINGS", description="No longer done.", enabled=False)

CLASSIFIER = rows.Classifier(
    classifier_id=1,
    intent_code="CANCEL_ORDER",
    state_code="IDLE",
    rule_type="REGEX",
    pattern=r"\b(cancel|stop)\b.*\border\b",
    priority=10,
)
RULE = rows.Rule(
    rule_id=1,
    phase="POST_SCHEMA_EXTRACTION",
    intent_code="CANCEL_ORDER",
    state_code="COLLECT",
    rule_type="JSON_PATH",
    match_pattern="$[?(@.schemaComplete == true)]",
    action="SET_STATE",
    action_value="CONFIRM",
    priority=10,
)
EDGES = tuple(
    rows.StateEdge(edge_id=number, intent_code="CANCEL_ORDER", from_state=start, to_state=end)
    for number, (start, end) in enumerate(
        [("IDLE", "COLLECT"), ("COLLECT", "CONFIRM"), ("CONFIRM", "CANCELLED")], start=1
    )
)
POLICY = rows.Policy(
    policy_id=1,
    rule_type="REGEX",
    pattern=r"\b(card number|cvv)\b",
    response_text="Please never send card details in this chat.",
)
SCHEMA = rows.OutputSchema(
    schema_id=1,
    intent_code="CANCEL_ORDER",
    state_code="ANY",
    json_schema={"type": "object", "properties": {"orderNumber": {"type": "string"}}, "required": ["orderNumber"]},
)
EXTRACTION = rows.PromptTemplate(
    template_id=1,
    intent_code="CANCEL_ORDER",
    state_code="COLLECT",
    response_type="SCHEMA_JSON",
    system_prompt="Read the fields.",
    user_prompt="{{user_input}}",
    interaction_mode="COLLECT",
)
#: Reads the fields in every other state of the form.
EXTRACTION_ANYWHERE = rows.PromptTemplate(
    template_id=7,
    intent_code="CANCEL_ORDER",
    state_code="ANY",
    response_type="SCHEMA_JSON",
    system_prompt="Read the fields.",
    user_prompt="{{user_input}}",
)
CONFIRMATION = rows.PromptTemplate(
    template_id=2,
    intent_code="CANCEL_ORDER",
    state_code="CONFIRM",
    response_type="TEXT",
    system_prompt="You write one short question.",
    user_prompt="Ask whether order {{context.orderNumber}} should be cancelled.",
    temperature=0.2,
    interaction_mode="CONFIRM",
    interaction_contract={"allows": ["affirm", "edit", "reset"], "expects": []},
)
FALLBACK = rows.Response(
    response_id=1, intent_code="UNKNOWN", state_code="UNKNOWN", exact_text="Sorry, I did not understand."
)
COLLECTING = rows.Response(
    response_id=2, intent_code="CANCEL_ORDER", state_code="COLLECT", exact_text="Which order? {{missing_fields}}"
)
CONFIRMING = rows.Response(
    response_id=3,
    intent_code="CANCEL_ORDER",
    state_code="CONFIRM",
    response_type="DERIVED",
    derivation_hint="One sentence.",
)
CANCELLED = rows.Response(response_id=4, intent_code="CANCEL_ORDER", state_code="CANCELLED", exact_text="Done.")
LOOKED_UP = rows.Response(
    response_id=5, intent_code="ORDER_STATUS", state_code="LOOKUP", exact_text="{{context.mcp.finalAnswer}}"
)
ANSWERED = rows.Response(response_id=6, intent_code="FAQ", state_code="ANY", exact_text="{{container_data.faq}}")
CONTAINER = rows.ContainerConfig(
    id=1, intent_code="FAQ", state_code="IDLE", page_id=1, section_id=10, container_id=100, input_param_name="faq"
)
ACTION = rows.PendingAction(
    pending_action_id=1,
    intent_code="CANCEL_ORDER",
    state_code="CONFIRM",
    action_key="CANCEL_ORDER_NOW",
    bean_name="orderTask",
    method_names="cancel, notifyCustomer",
    description="cancel the order",
)
TOOL = rows.Tool(
    tool_id=9,
    tool_code="order.status",
    tool_group="HTTP_API",
    intent_code="ORDER_STATUS",
    state_code="ANY",
    description="Current status of one order. Args: orderId (text).",
)
DB = rows.Tool(
    tool_id=12,
    tool_code="orders.find",
    tool_group="DB",
    intent_code="ORDER_STATUS",
    state_code="ANY",
    description="Orders of a customer.",
)
DIRECT = rows.DirectTool(
    ce_tool_id=1,
    intent_code="ORDER_STATUS",
    state_code="LOOKUP",
    tool_group="HTTP_API",
    tool_code="order.status",
    args_template={"orderId": "{{context.orderNumber}}"},
)
DB_TOOL = rows.DbTool(
    tool_id=12,
    sql_template="SELECT order_no, status FROM orders WHERE order_no = :orderId LIMIT :limit",
    param_schema={
        "type": "object",
        "properties": {"orderId": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["orderId"],
    },
    max_rows=50,
)
HTTP_TOOL = rows.HttpTool(
    tool_id=9,
    connection_name="orders-api",
    url_template="/orders/{{orderId}}",
    query_json={"expand": "events"},
    param_schema={"type": "object", "properties": {"orderId": {"type": "string"}}, "required": ["orderId"]},
    mapping_mode="FIELD_TEMPLATE",
    mapping_json={"fieldPaths": {"status": "$.status", "last": "$.events[0].text"}},
)
PLANNER = rows.Planner(
    planner_id=1,
    intent_code="ORDER_STATUS",
    state_code="ANY",
    system_prompt="Plan tool calls. Use `order.status` once, then answer. JSON only.",
    user_prompt="User: {{user_input}}\nTools: {{mcp_tools}}\nSeen: {{mcp_observations}}",
)
GUARDRAIL = rows.SqlGuardrail(guardrail_id=1, rule_type="BLOCK_FUNCTION", match_value="pg_sleep")
SERVER = rows.McpServer(server_id=1, name="search", transport="STDIO", command="search-server", args_json=["--fast"])
CONFIG = rows.Config(config_id=1, config_type="IntentResolutionStep", config_key="STICKY_INTENT", config_value="true")
VERBOSE = rows.Verbose(
    verbose_id=1,
    intent_code="ORDER_STATUS",
    state_code="ANY",
    step_value="McpToolStep",
    determinant="MCP_TOOL_CALL",
    tool_code="order.status",
    message="Looking up your order …",
)

ROWS: tuple[rows.Row, ...] = (
    CANCEL, STATUS, FAQ, OLD, CLASSIFIER, RULE, *EDGES, POLICY, SCHEMA, EXTRACTION, EXTRACTION_ANYWHERE, CONFIRMATION,
    FALLBACK,
    COLLECTING, CONFIRMING, CANCELLED, LOOKED_UP, ANSWERED, CONTAINER, ACTION, TOOL, DB, DIRECT, DB_TOOL, HTTP_TOOL,
    PLANNER, GUARDRAIL, SERVER, CONFIG, VERBOSE,
)  # fmt: skip


def shop(*also: rows.Row, without: Iterable[rows.Row] = ()) -> Snapshot:
    """The shop with rows added, or put in the place of those with the same key."""
    gone = {(row.table, row.pk) for row in without}
    remaining = {(row.table, row.pk): row for row in (*ROWS, *also) if (row.table, row.pk) not in gone}
    by_table: dict[str, list[rows.Row]] = {}
    for row in remaining.values():
        by_table.setdefault(row.table, []).append(row)
    return Snapshot(1, {name: Table(name, members) for name, members in by_table.items()})


def findings(row: rows.Row, *also: rows.Row, without: Iterable[rows.Row] = (), **world: Any) -> list[Finding]:
    """Texts of a row that is saved into the shop; keywords change the installation."""
    return check_row(row, shop(*also, without=without), replace(WORLD, **world))


def codes(row: rows.Row, *also: rows.Row, without: Iterable[rows.Row] = (), **world: Any) -> list[str]:
    """The codes of what is said."""
    return [finding.code for finding in findings(row, *also, without=without, **world)]


def list_messages(
    row: rows.Row, *also: rows.Row, without: Iterable[rows.Row] = (), **world: Any
) -> list[tuple[str, str]]:
    """Texts, as (code, message)."""
    return [(each.code, each.message) for each in findings(row, *also, without=without, **world)]
